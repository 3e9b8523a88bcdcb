"""Results of a session in a few lines."""

from __future__ import annotations

from typing import Any

from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.reporting.summary import header_line, nothing_collected, summary_lines


def record(status: str, source: str, process: str = "succeeded") -> dict[str, Any]:
    return {"status": status, "source": source, "process": process}


def test_no_run_is_no_line() -> None:
    assert summary_lines([]) == []


def test_runs_are_counted_by_status_and_source() -> None:
    records = [
        record("failed", "synthesized", "timed_out"),
        record("success", "file"),
        record("success", "channel"),
        record("success", "file"),
        record("failed", "file", "failed"),
        record("failed", "synthesized", "timed_out"),
    ]
    assert summary_lines(records) == [
        "6 runs: 3 success (1 channel, 2 file), 3 failed (1 file, 2 synthesized)",
        "processes that did not succeed: 1 failed, 2 timed out",
    ]


def test_one_run_is_no_runs() -> None:
    assert summary_lines([record("blocked", "file")]) == ["1 run: 1 blocked (1 file)"]


def test_the_header_names_agents_and_how_they_were_found() -> None:
    one = ProcessAgent(id="one\x1b", origin="path", argv=("one",))
    two = FunctionAgent(id="two", target="two:main")
    assert header_line([one]) == r"caesar agent: one\x1b (path)"
    assert header_line([one, two]) == r"caesar agents: one\x1b (path), two (function)"


def test_what_to_do_without_a_test_repeats_the_agents() -> None:
    agents = ["./agent.sh", "python -m agent"]
    assert not any("conformance" in line for line in nothing_collected(agents, conformance=False))
    lines = nothing_collected(agents, conformance=True)
    assert lines[-1] == (
        '    pytest --caesar-agent=./agent.sh --caesar-agent="python -m agent" --caesar-conformance'
    )


def test_runs_that_agents_asked_for_are_counted_beside_the_others() -> None:
    below = [record("success", "file"), record("failed", "synthesized", "cancelled")]
    assert summary_lines([{**record("success", "file"), "below": below}]) == [
        "1 run: 1 success (1 file)",
        "handed on by agents, 2 runs: 1 success (1 file), 1 failed (1 synthesized)",
        "processes that did not succeed: 1 cancelled",
    ]
