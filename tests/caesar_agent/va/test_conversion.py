from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesar_agent.documents import Event, Task
from caesar_agent.documents.fields import MAX_INTEGER
from caesar_agent.errors import DocumentError
from caesar_agent.va import (
    ProgressPayload,
    TaskUnit,
    progress_message,
    task_fields,
    task_of,
    unit_of,
)
from caesar_agent.va.conversion import TASK_UNIT
from pytest_caesar import strategies
from tests.caesar_agent.va import reference

GIVEN: dict[str, Any] = {
    "id": "t_0001",
    "created_at": "2026-08-09T10:00:00.000Z",
    "agent": "fixer",
    "workspace": "/w",
    "report_path": "/t/report.json",
    "events_path": "/t/events.jsonl",
}


def unit(**fields: Any) -> TaskUnit:
    plain = {"id": "T-1", "objective": "Fix it", "acceptanceCriteria": ["tests pass"]}
    return TaskUnit.from_value({**plain, **fields})


def test_a_task_unit_becomes_a_task_with_its_constraints_and_criteria() -> None:
    task = task_of(unit(constraints=["no new dependency"], timeout=1500), **GIVEN)

    assert task.objective == "Fix it"
    assert task.constraints == ("no new dependency",)
    assert task.acceptance_criteria == ("tests pass",)
    assert task.deadline_ms == 1500
    assert (task.mode, task.isolation) == ("write", "worktree")


@pytest.mark.parametrize("fields", [{}, {"timeout": 0}])
def test_no_timeout_is_the_default_deadline(fields: dict[str, int]) -> None:
    assert task_fields(unit(**fields)).deadline_ms is None
    assert task_of(unit(**fields), **GIVEN).deadline_ms == 600_000
    assert task_of(unit(**fields), **GIVEN, default_deadline_ms=5).deadline_ms == 5


@pytest.mark.parametrize(
    ("fields", "place"), [({"objective": ""}, "objective"), ({"timeout": 2**53}, "deadline_ms")]
)
def test_what_a_unit_may_say_and_a_task_may_not_is_refused(
    fields: dict[str, Any], place: str
) -> None:
    with pytest.raises(DocumentError, match=f"invalid task at {place}"):
        task_of(unit(**fields), **GIVEN)


def test_the_context_tells_files_notes_pitfalls_inputs_and_outputs() -> None:
    told = task_fields(
        unit(
            context={
                "codebaseRoot": "/somewhere",
                "files": ["src/a.py"],
                "history": ["We use pytest."],
                "pitfalls": [
                    {"id": "p1", "failureType": "gate", "attempted": "a cast", "hypothesis": "mypy said no", "missingContext": "the stubs"},
                ],
            },
            inputs={"port": 8080},
            outputContract={"keys": ["url", "url"]},
        )
    ).context  # fmt: skip

    assert told == (
        "### Relevant files\n\n- src/a.py\n\n"
        "### Notes from before\n\nWe use pytest.\n\n"
        "### Pitfalls of earlier attempts\n\n"
        "- p1 (gate): tried a cast; probably failed because mypy said no; missing was the stubs\n\n"
        '### Inputs\n\n```json\n{\n  "port": 8080\n}\n```\n\n'
        "### Outputs\n\nThese keys are expected in the object `outputs` of the report:\n\n- url"
    )


def test_nothing_to_tell_is_no_context() -> None:
    assert task_fields(unit()).context == ""


@given(reference.documents("va-task-unit"))
def test_a_task_unit_comes_back_whole_from_its_task(value: Any) -> None:
    made = TaskUnit.from_value(value)
    if not made.objective or (made.timeout or 0) > MAX_INTEGER:
        return
    task = task_of(made, **GIVEN)
    assert unit_of(Task.parse(task.to_json())) == made


@given(strategies.tasks())
def test_every_task_has_a_task_unit(task: Task) -> None:
    made = unit_of(task)

    assert reference.validator("va-task-unit").is_valid(made.dump())
    assert made.id == task.id
    assert made.objective == task.objective
    assert made.acceptance_criteria == (task.acceptance_criteria or (task.objective,))
    assert made.timeout == task.deadline_ms


def test_a_field_of_the_same_name_that_is_no_task_unit_is_left_alone() -> None:
    task = task_of(unit(), **GIVEN).model_copy(update={TASK_UNIT: 3})

    assert unit_of(task).id == "t_0001"


@given(strategies.events())
def test_every_event_between_start_and_end_is_a_valid_progress_message(event: Event) -> None:
    message = progress_message(event, correlation_id="c", task_id="T-1", agent_id="fixer")

    assert (message is None) == (event.type in {"started", "finished"})
    if message is not None:
        assert reference.validator("va-message").is_valid(message.dump())
        assert message.type == "progress"
        assert isinstance(message.payload, ProgressPayload)
        assert message.payload.phase == event.type


def event(kind: str, **fields: Any) -> Event:
    plain = {
        "protocol": Event.version,
        "seq": 3,
        "at": "2026-08-09T12:00:00.5+02:00",
        "task_id": "t",
    }
    return Event.from_value({**plain, "type": kind, **fields})


@pytest.mark.parametrize(
    ("kind", "fields", "summary", "level"),
    [
        ("thinking", {"text": "hm"}, "hm", "debug"),
        ("message", {"text": "hello"}, "hello", "info"),
        ("progress", {"message": "half", "pct": 50}, "half", "info"),
        ("tool_use", {"tool": "bash", "input_summary": "ls"}, "bash started ls", "info"),
        ("tool_use", {"tool": "bash", "status": "failed"}, "bash failed", "warn"),
        ("file_changed", {"path": "a", "action": "created"}, "a created", "info"),
        ("question", {"id": "q", "question": "Why?"}, "Why?", "warn"),
        ("answer", {"id": "q", "answer": "So."}, "So.", "info"),
        ("error", {"message": "no", "fatal": True}, "no", "error"),
        ("metrics", {"cpu": 3}, "metrics", "debug"),
    ],
)
def test_an_event_is_told_in_a_sentence(
    kind: str, fields: dict[str, Any], summary: str, level: str
) -> None:
    message = progress_message(event(kind, **fields), correlation_id="c", task_id="T-1")

    assert message is not None
    payload = message.payload
    assert isinstance(payload, ProgressPayload)
    assert payload.summary == summary
    assert payload.logs is not None
    assert [(log.timestamp, log.level, log.message) for log in payload.logs] == [
        ("2026-08-09T10:00:00.500Z", level, summary)
    ]
    assert payload.completion_estimate == (0.5 if kind == "progress" else None)
    assert payload.data is not None
    assert payload.data["seq"] == 3
    assert payload.data.items() >= fields.items()


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("0001-01-01T00:00:00+02:00", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59-02:00", "9999-12-31T23:59:59.000Z"),
        ("2026-08-09 10:00Z", "2026-08-09T10:00:00.000Z"),
    ],
)
def test_a_time_that_an_agent_wrote_is_always_one_that_messages_can_have(
    at: str, told: str
) -> None:
    message = progress_message(event("message", text="x", at=at), correlation_id="c", task_id="T")

    assert message is not None
    assert message.timestamp == told


@given(st.sampled_from(["thinking", "message"]), st.text(st.characters(codec=None), max_size=20))
def test_any_text_can_be_told(kind: str, text: str) -> None:
    assert progress_message(event(kind, text=text), correlation_id="c", task_id="T") is not None
