"""What is said when nobody reported."""

from __future__ import annotations

from typing import Any

import pytest

from caesar_agent.documents import Change
from tests.pytest_caesar.recovery.reports import recovered

CHANGED = (Change(path="a.txt", action="modified"),)


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ({"exit_code": 0, "changes": CHANGED}, "partial"),
        ({"exit_code": 0, "changes": None}, "partial"),
        ({"exit_code": 0, "changes": ()}, "failed"),
        ({"exit_code": 0, "changes": (), "mode": "read-only"}, "partial"),
        ({"exit_code": 3, "changes": CHANGED}, "failed"),
        ({"exit_code": None, "signal": "SIGSEGV", "changes": CHANGED}, "failed"),
        ({"exit_code": None, "timed_out": True, "changes": CHANGED}, "failed"),
        ({"exit_code": 0, "timed_out": True, "changes": CHANGED}, "failed"),
        ({"exit_code": 0, "cancelled": True, "changes": CHANGED}, "failed"),
        ({"exit_code": None}, "failed"),
        ({"exit_code": None, "signal": "SIGTERM", "killed_after_report": True}, "partial"),
    ],
)
def test_the_status_follows_from_the_end_and_the_changes(
    ending: dict[str, Any], status: str
) -> None:
    verdict = recovered("working\n", **ending)

    assert (verdict.source, verdict.report.status) == ("synthesized", status)


def test_a_partial_one_says_what_remains() -> None:
    assert recovered(changes=CHANGED).report.next_steps != ()


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ({"exit_code": 3}, "The process ended with exit code 3."),
        ({"exit_code": None, "signal": "SIGKILL"}, "The process was ended by SIGKILL."),
        (
            {"exit_code": None, "signal": "SIGKILL", "timed_out": True},
            "The deadline passed and the process was ended with SIGKILL.",
        ),
        ({"cancelled": True}, "The task was cancelled before the process ended."),
        ({"exit_code": None}, "How the process ended is not known."),
    ],
)
def test_the_summary_says_how_the_process_ended(ending: dict[str, Any], words: str) -> None:
    assert words in recovered("x", **ending).report.summary


def test_the_summary_says_that_it_is_synthesized_and_from_what() -> None:
    assert recovered("last words\n", changes=CHANGED).report.summary == (
        "Synthesized: the agent gave no usable report. Made from the end of its log, how its "
        "process ended and what changed. The process ended with exit code 0. 1 path changed."
    )
    assert "it printed nothing" in recovered("").report.summary


def test_details_quote_the_last_lines() -> None:
    log = "".join(f"line {number}\n\n" for number in range(20))

    assert recovered(log).report.details == (
        "Last lines of the log:\nline 15\nline 16\nline 17\nline 18\nline 19"
    )


def test_what_is_quoted_is_bounded_and_escaped() -> None:
    log = "\x1b[31mred\x1b[0m \x07bell \u202egnirts\n" + "x" * 100_000 + "\n" * 50

    details = recovered(log).report.details

    assert len(details) < 1000
    assert "\x1b" not in details
    assert "\u202e" not in details
    assert "\x07" not in details


@pytest.mark.parametrize(
    "line",
    [
        "OPENAI_API_KEY=sk-abcdefghijklmnop",
        "Authorization: Bearer abc.def.ghi123",
        "password: hunter2hunter2",
        'using "token": "0123456789abcdef"',
        "key ghp_0123456789abcdefghij here",
    ],
)
def test_what_looks_like_a_secret_is_masked(line: str) -> None:
    details = recovered(line + "\n").report.details

    assert "***" in details
    for secret in ("abcdefghijklmnop", "ghi123", "hunter2", "0123456789"):
        assert secret not in details


def test_a_synthesized_report_names_the_task() -> None:
    assert recovered().report.task_id == "t_0007"
