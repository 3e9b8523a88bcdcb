"""What speaks against a report is told beside it."""

from __future__ import annotations

from typing import Any

import pytest

from caesar_agent.documents import Change, Report
from pytest_caesar.recovery.contradictions import contradictions

ENDED = {
    "source": "file",
    "mode": "write",
    "changes": (),
    "outcome_status": "succeeded",
    "exit_code": 0,
}
CHANGED = (Change(path="a.txt", action="modified"),)


def found(status: str = "success", fields: dict[str, Any] | None = None, **more: Any) -> list[str]:
    value = {"protocol": "caesar.report/v1", "status": status, "summary": "s", **(fields or {})}
    told = contradictions(Report.from_value(value), **{**ENDED, **more})
    return [diagnostic.code for diagnostic in told]


@pytest.mark.parametrize("status", ["success", "failed"])
def test_nothing_speaks_against_a_plain_report(status: str) -> None:
    assert found(status) == []


def test_blocked_needs_a_question() -> None:
    asked = {"questions": [{"id": "q", "question": "Which?"}]}

    assert found("blocked") == ["blocked-without-question"]
    assert found("blocked", asked) == []


def test_partial_needs_next_steps() -> None:
    assert found("partial") == ["partial-without-next-steps"]
    assert found("partial", {"next_steps": ["Document it."]}) == []


def test_success_needs_exit_code_0() -> None:
    assert found(outcome_status="failed", exit_code=1) == ["success-but-exit-code"]
    assert found("failed", outcome_status="failed", exit_code=1) == []


def test_success_is_doubted_after_a_signal_a_deadline_or_a_cancellation() -> None:
    assert found(outcome_status="failed", exit_code=None) == ["success-but-killed"]
    assert found(outcome_status="timed_out", exit_code=None) == ["success-but-timed-out"]
    assert found(outcome_status="cancelled", exit_code=None) == ["success-but-cancelled"]


def test_an_agent_that_was_ended_after_its_report_is_not_doubted() -> None:
    assert found(exit_code=None, killed_after_report=True) == []


def test_a_read_only_task_must_not_change_anything() -> None:
    assert found(mode="read-only", changes=CHANGED) == ["read-only-violation"]
    assert found(mode="read-only", changes=()) == []
    assert found(mode="read-only", changes=None) == []
    assert found(mode="write", changes=CHANGED) == []


def test_a_synthesized_report_is_only_held_to_the_mode() -> None:
    assert found("blocked", source="synthesized") == []
    assert found(source="synthesized", mode="read-only", changes=CHANGED) == ["read-only-violation"]


def test_a_message_names_a_few_paths_and_escapes_them() -> None:
    changes = tuple(Change(path=f"{n}\x1b.txt", action="created") for n in range(7))
    report = Report.from_value(
        {"protocol": "caesar.report/v1", "status": "success", "summary": "s"}
    )

    told = contradictions(report, **{**ENDED, "mode": "read-only", "changes": changes})  # type: ignore[arg-type]

    assert told[0].message == (
        "the task is read-only and the agent changed 0\\x1b.txt, 1\\x1b.txt, 2\\x1b.txt, "
        "3\\x1b.txt, 4\\x1b.txt and 2 more"
    )


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ([("make", 2)], 1),
        ([("make", 2), ("make", 0)], 0),
        ([("make", 0), ("make", 2)], 1),
        ([("make  lint", 1), ("make lint", 0)], 0),
        ([("make", 2), ("make all", 0)], 1),
        ([("make", None), ("make", 0)], 0),
    ],
)
def test_success_beside_a_command_that_failed_last_contradicts_itself(
    runs: list[tuple[str, int | None]], told: int
) -> None:
    fields = {"commands_run": [{"command": command, "exit_code": code} for command, code in runs]}
    assert found(fields=fields) == (["success-but-command-failed"] * told)
    assert "success-but-command-failed" not in found("failed", fields)
