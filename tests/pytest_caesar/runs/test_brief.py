"""The brief: a task, told in words."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesar_agent.documents import Report, Task
from caesar_agent.errors import DocumentError
from pytest_caesar.agents.command import MAX_ARGUMENT_BYTES
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.sources import recover
from pytest_caesar.runs.brief import (
    NO_NETWORK,
    READ_ONLY,
    Expected,
    render_brief,
    short_brief,
)

WAYS = get_args(Expected)


def task(**more: Any) -> Task:
    return Task.from_value(
        {
            "protocol": "caesar.task/v1",
            "id": "t_0042",
            "created_at": "2026-01-01T00:00:00.000Z",
            "agent": "helper",
            "objective": "Fix the parser",
            "mode": "write",
            "isolation": "worktree",
            "workspace": "/ws/tree",
            "deadline_ms": 1000,
            "report_path": "/tasks/t_0042/report.json",
            "events_path": "/tasks/t_0042/events.jsonl",
            **more,
        }
    )


FULL = task(
    context="It began in 2.1.",
    constraints=["Keep the API"],
    acceptance_criteria=["the tests pass", "no new warning"],
    mode="read-only",
    network=False,
)


def sections(brief: str) -> dict[str, str]:
    parts = brief.split("\n## ")
    return {name: body for name, _, body in (part.partition("\n\n") for part in parts[1:])}


def test_everything_of_the_task_is_told_in_its_section() -> None:
    brief = render_brief(FULL)
    told = sections(brief)

    assert "t_0042" in brief.split("\n## ")[0]
    assert list(told) == ["Objective", "Context", "Constraints", "Acceptance criteria", "Reporting"]
    assert told["Objective"].strip() == "Fix the parser"
    assert told["Context"].strip() == "It began in 2.1."
    assert told["Acceptance criteria"].strip() == "- the tests pass\n- no new warning"


def test_constraints_begin_with_read_only_and_end_with_the_workspace() -> None:
    assert sections(render_brief(FULL))["Constraints"].strip().split("\n") == [
        f"- {READ_ONLY}",
        "- Keep the API",
        f"- {NO_NETWORK}",
        "- Stay inside the workspace: /ws/tree",
    ]


def test_what_the_task_does_not_say_is_not_told() -> None:
    brief = render_brief(task())

    assert list(sections(brief)) == ["Objective", "Constraints", "Reporting"]
    assert READ_ONLY not in brief
    assert NO_NETWORK not in brief


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("file", "write your report as JSON to this file: /tasks/t_0042/report.json"),
        ("channel", "calling the tool submit_report"),
        ("schema", "Your last message must be your report and nothing else"),
        ("extracted", "whose info string is: json caesar:report"),
    ],
)
def test_how_to_report_depends_on_the_source(expected: Expected, words: str) -> None:
    reporting = sections(render_brief(task(), expected=expected))["Reporting"]

    assert words in reporting
    assert "caesar.report/v1" in reporting


def test_the_report_may_go_to_another_file() -> None:
    brief = render_brief(task(), report_path="/elsewhere.json")

    assert "/elsewhere.json" in brief
    assert "/tasks/t_0042/report.json" not in brief


@pytest.mark.parametrize("expected", WAYS)
def test_the_example_does_not_validate_as_a_report(expected: Expected) -> None:
    brief = render_brief(task(), expected=expected)
    example = brief[brief.index("{") : brief.rindex("}") + 1]

    with pytest.raises(DocumentError):
        Report.parse(example)


texts = st.text(min_size=1).filter(str.strip)


@given(objective=texts, context=st.text(), constraint=texts, expected=st.sampled_from(WAYS))
def test_whoever_repeats_a_brief_has_not_reported(
    objective: str, context: str, constraint: str, expected: Expected
) -> None:
    brief = render_brief(
        task(objective=objective, context=context, constraints=[constraint]), expected=expected
    )
    printed = brief.encode("utf-8", "surrogatepass")

    for known in (brief, None):
        verdict = recover(Evidence(task_id="t_0042", raw_log=printed, brief=known))
        assert verdict.source == "synthesized"
        assert verdict.report.status != "success"


def test_a_short_brief_says_where_the_task_is() -> None:
    brief = short_brief(task(context="x" * 500_000))

    assert len(brief.encode()) < MAX_ARGUMENT_BYTES
    for words in ("t_0042", "CAESAR_TASK_FILE", "/ws/tree", "/tasks/t_0042/report.json"):
        assert words in brief


def test_a_short_brief_is_no_report_either() -> None:
    printed = short_brief(task()).encode()

    assert recover(Evidence(task_id="t_0042", raw_log=printed)).source == "synthesized"
