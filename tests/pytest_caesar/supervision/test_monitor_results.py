from __future__ import annotations

from typing import Any

import pytest

from pytest_caesar.supervision.monitor_results import Ending, outcome_of, signal_name
from pytest_caesar.supervision.outcome import Outcome


def told(ending: Ending, **facts: Any) -> Outcome:
    return outcome_of(
        ending,
        **{
            "asked": "", "delivered": False, "duration_ms": 5, "strangers": [],
            "diagnostics": [], **facts,
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "number", "why", "asked", "delivered", "status"),
    [
        (0, None, "", "", False, "succeeded"),
        (0, None, "", "", True, "succeeded"),
        (1, None, "", "", True, "failed"),
        (None, 11, "", "", True, "failed"),
        (None, 15, "deadline", "", False, "timed_out"),
        (0, None, "deadline", "", False, "timed_out"),
        (None, 15, "deadline", "", True, "succeeded"),
        (None, 15, "asked", "lingering", True, "succeeded"),
        (None, 15, "asked", "cancelled", False, "cancelled"),
        (0, None, "asked", "cancelled", True, "cancelled"),
        (None, 15, "orphaned", "", False, "cancelled"),
        # It ended by itself before the cancellation reached it.
        (0, None, "", "cancelled", True, "succeeded"),
    ],
)
def test_what_a_status_follows_from(
    code: int | None, number: int | None, why: str, asked: str, delivered: object, status: str
) -> None:
    outcome = told(Ending(code, number, why), asked=asked, delivered=bool(delivered))
    assert outcome.status == status
    assert outcome.timed_out == (why == "deadline")
    assert outcome.killed_after_report == (status == "succeeded" and why != "")


def test_what_cannot_be_ended_is_told() -> None:
    outcome = told(Ending(0, None, "", (), ((7, b"nfs \x1b[1m"),)))
    assert [(finding.code, finding.message) for finding in outcome.diagnostics] == [
        (
            "process-unkillable",
            (
                "process 7 (nfs \\x1b[1m) did not end within 5 s of SIGKILL; "
                "what is observed now may still change"
            ),
        )
    ]


def test_what_was_left_is_told_by_how_it_was_found() -> None:
    outcome = told(Ending(0, None, "", ((7, b"sleep", True), (8, b"", False))))
    assert [finding.message for finding in outcome.diagnostics] == [
        "the agent left process 7 behind (sleep), found in its process group; it was ended",
        "the agent left process 8 behind (name unknown), found among its descendants; it was ended",
    ]


@pytest.mark.parametrize(
    ("number", "name"),
    [(None, None), (9, "SIGKILL"), (15, "SIGTERM"), (32, "signal 32")],
)
def test_every_signal_has_a_name(number: int | None, name: str | None) -> None:
    assert signal_name(number) == name
