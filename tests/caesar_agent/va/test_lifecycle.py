from __future__ import annotations

import itertools
import json
import pickle
from datetime import datetime, timedelta, timezone
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesar_agent.va import (
    TRANSITIONS,
    IllegalTransitionError,
    TaskExecution,
    TaskLifecycle,
    TaskState,
)
from caesar_agent.va.lifecycle import check_transition
from tests.caesar_agent.va.reference import given_schema

NOON = datetime(2026, 8, 9, 12, tzinfo=timezone.utc)
STATES = get_args(TaskState)

PATHS: dict[TaskState, tuple[TaskState, ...]] = {
    "pending": (),
    "running": ("running",),
    "completed": ("running", "completed"),
    "failed": ("running", "failed"),
    "blocked": ("running", "blocked"),
    "cancelled": ("cancelled",),
}


def in_state(state: TaskState) -> TaskExecution:
    execution = TaskExecution.begin("T-1", correlation_id="c-1", agent_id="fixer")
    for step in PATHS[state]:
        execution = execution.advance(step, at=NOON)
    assert execution.current_state == state
    return execution


def test_the_transitions_are_those_of_the_schema() -> None:
    listed = given_schema("va-lifecycle")["$defs"]["ValidTransitions"]["properties"]

    assert {state: list(following) for state, following in TRANSITIONS.items()} == {
        state: value["const"] for state, value in listed.items()
    }


@pytest.mark.parametrize(("from_state", "to_state"), list(itertools.product(STATES, STATES)))
def test_listed_transitions_are_made_and_no_others(
    from_state: TaskState, to_state: TaskState
) -> None:
    execution = in_state(from_state)

    if to_state in TRANSITIONS[from_state]:
        following = execution.advance(to_state, at=NOON)
        assert following.current_state == to_state
        assert (following.transitions[-1].from_state, following.transitions[-1].to_state) == (
            from_state,
            to_state,
        )
        assert following.remarks() == ()
    else:
        with pytest.raises(IllegalTransitionError) as caught:
            execution.advance(to_state, at=NOON)
        assert caught.value.from_state == from_state
        assert caught.value.to_state == to_state
        assert caught.value.allowed == TRANSITIONS[from_state]


@pytest.mark.parametrize(
    ("from_state", "to_state", "text"),
    [
        ("pending", "completed", "task 'T-1' cannot go from pending to completed: allowed from there: running, cancelled"),
        ("completed", "running", "task 'T-1' cannot go from completed to running: completed is final"),
        ("failed", "completed", "task 'T-1' cannot go from failed to completed: allowed from there: running"),
    ],
)  # fmt: skip
def test_a_refusal_says_from_to_and_what_is_allowed(
    from_state: TaskState, to_state: TaskState, text: str
) -> None:
    with pytest.raises(IllegalTransitionError) as caught:
        check_transition("T-1", from_state, to_state)

    assert str(caught.value) == text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


def test_an_execution_keeps_its_history_in_order() -> None:
    execution = TaskExecution.begin("T-1", correlation_id="c-1", agent_id="fixer")
    execution = execution.advance("running", at=NOON, actor="orchestrator")
    execution = execution.advance("blocked", at=NOON + timedelta(seconds=5), reason="needs a key")
    execution = execution.advance("running", at=NOON + timedelta(seconds=9), actor="human")
    execution = execution.advance("completed", at=NOON + timedelta(seconds=20))

    assert execution.dump() == {
        "taskId": "T-1",
        "correlationId": "c-1",
        "agentId": "fixer",
        "currentState": "completed",
        "attempt": 1,
        "transitions": [
            {"from": "pending", "to": "running", "timestamp": "2026-08-09T12:00:00.000Z", "actor": "orchestrator"},
            {"from": "running", "to": "blocked", "timestamp": "2026-08-09T12:00:05.000Z", "reason": "needs a key"},
            {"from": "blocked", "to": "running", "timestamp": "2026-08-09T12:00:09.000Z", "actor": "human"},
            {"from": "running", "to": "completed", "timestamp": "2026-08-09T12:00:20.000Z"},
        ],
        "startedAt": "2026-08-09T12:00:00.000Z",
        "completedAt": "2026-08-09T12:00:20.000Z",
    }  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_only_what_has_ended_says_when_it_did(state: TaskState) -> None:
    execution = in_state(state)

    assert (execution.completed_at is not None) == (state in {"completed", "failed", "cancelled"})
    assert (execution.started_at is not None) == (state not in {"pending", "cancelled"})


def test_a_retry_is_another_execution_with_the_next_attempt_and_an_id_of_its_own() -> None:
    failed = in_state("failed")

    again = failed.advance("running", at=NOON)

    assert failed.current_state == "failed"
    assert (failed.attempt, again.attempt) == (1, 2)
    assert again.correlation_id not in {"", failed.correlation_id}
    assert again.task_id == "T-1"
    assert again.agent_id == "fixer"
    assert len(again.transitions) == 1
    assert again.started_at == "2026-08-09T12:00:00.000Z"
    assert again.completed_at is None


def test_a_retry_never_takes_the_id_of_an_earlier_attempt() -> None:
    with pytest.raises(ValueError, match="'c-1' is the failed attempt's"):
        in_state("failed").advance("running", correlation_id="c-1")

    lifecycle = TaskLifecycle.begin("T-1", correlation_id="c-1")
    for state in ("running", "failed"):
        lifecycle = lifecycle.advance(state)
    lifecycle = lifecycle.advance("running", correlation_id="c-2").advance("failed")
    with pytest.raises(ValueError, match="'c-1' is an earlier attempt's"):
        lifecycle.advance("running", correlation_id="c-1")


def test_an_execution_that_goes_on_keeps_its_correlation_id() -> None:
    with pytest.raises(ValueError, match="only a retry has a new one"):
        in_state("pending").advance("running", correlation_id="c-2")


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="offset"):
        in_state("pending").advance("running", at=datetime(2026, 8, 9))  # noqa: DTZ001 - the point


@given(st.lists(st.sampled_from(STATES), max_size=30))
def test_a_lifecycle_keeps_every_attempt_whatever_is_asked(steps: list[TaskState]) -> None:
    lifecycle = TaskLifecycle.begin("T-1")
    retries = 0
    for step in steps:
        retries += (lifecycle.state, step) == ("failed", "running")
        try:
            lifecycle = lifecycle.advance(step, at=NOON)
        except IllegalTransitionError:
            assert step not in TRANSITIONS[lifecycle.state]

    attempts = [execution.attempt for execution in lifecycle.executions]
    assert attempts == list(range(1, retries + 2))
    assert len({execution.correlation_id for execution in lifecycle.executions}) == retries + 1
    for execution in lifecycle.executions:
        assert execution.remarks() == ()
        assert TaskExecution.parse(execution.to_json()) == execution
    for earlier in lifecycle.executions[:-1]:
        assert earlier.current_state == "failed"


def step(from_state: str, to_state: str, at: str = "10:00:00Z") -> dict[str, str]:
    return {"from": from_state, "to": to_state, "timestamp": f"2026-08-09T{at}"}


@pytest.mark.parametrize(
    ("state", "steps", "remarks"),
    [
        ("pending", [], []),
        ("running", [step("failed", "running")], []),
        ("running", [], ["currentState is running, and no step leads to it"]),
        (
            "running",
            [step("running", "failed"), step("failed", "running")],
            ["transitions[1] is a retry, which is an execution of its own"],
        ),
        (
            "failed",
            [step("pending", "running", "10:00:00Z"), step("running", "failed", "10:30:00+01:00")],
            ["transitions[1] is older than the step before it"],
        ),
    ],
)
def test_a_history_is_one_attempt_in_order(
    state: str, steps: list[dict[str, str]], remarks: list[str]
) -> None:
    value = {"taskId": "t", "correlationId": "c", "currentState": state, "transitions": steps}

    found = TaskExecution.from_value(value).remarks()

    assert [(item.code, item.message) for item in found] == [
        ("va-history", remark) for remark in remarks
    ]


def test_a_history_that_was_read_and_does_not_hold_is_remarked_on() -> None:
    value = in_state("completed").dump()
    value["transitions"].append({**value["transitions"][0], "from": "cancelled", "to": "running"})

    found = TaskExecution.parse_flagged(json.dumps(value)).diagnostics

    assert [item.code for item in found] == ["va-history"] * 3
    assert [item.message for item in found] == [
        "transitions[2] goes from cancelled to running",
        "transitions[2] starts at cancelled, not at completed",
        "currentState is completed, and the last step led to running",
    ]
