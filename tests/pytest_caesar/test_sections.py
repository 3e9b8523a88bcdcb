"""What is shown of a run is bounded, and cannot act on a terminal."""

from __future__ import annotations

import pytest

from pytest_caesar.fake_agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.run import Run
from pytest_caesar.sections import brief_section, run_section

HOSTILE = "\x1b]0;title\x07\u202e\u2028\r\x00"


@pytest.fixture
def hostile(caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents) -> Run:
    """Return a run of an agent that writes much, and nothing well."""
    fake = caesar_fake_agent
    return caesar_orchestrator.delegate(
        f"Do {HOSTILE.replace(chr(0), '')} it",
        agent=fake(
            fake.print(f"{HOSTILE}{'x' * 5000}\n".encode() + b"\xff\n", times=300),
            *(fake.event("message", text=f"{HOSTILE}{number}" * 50) for number in range(40)),
            *(fake.write(f"{number}\x1b[2J.txt") for number in range(60)),
            fake.report("failed", f"{HOSTILE} and so on " * 400, changes=[f"\x07{'y' * 900}"]),
        ),
    )


def test_it_is_bounded_and_printable(hostile: Run) -> None:
    title, text = run_section(hostile)
    assert title == "caesar run t_0001: failed (source: file)"
    assert len(text) < 20_000
    assert [line for line in text.splitlines() if not line.isprintable()] == []
    assert "  … and 41 more" in text
    assert "events (the last 12 of 42):" in text
    assert "the end of raw.log:" in text


def test_the_end_of_the_log_is_the_end(hostile: Run) -> None:
    _, text = run_section(hostile)
    assert r"  | \xff" in text.splitlines()


def test_a_line_or_two_is_enough_for_the_others(hostile: Run) -> None:
    title, text = brief_section(hostile)
    assert title.startswith("caesar run t_0001")
    assert text.count("\n") == 1
    assert str(hostile.task_dir) in text


def test_an_agent_that_says_nothing_has_a_section_too(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    _, text = run_section(caesar_orchestrator.delegate("Work", agent=fake(fake.report())))
    assert "changes:        none declared, none observed" in text
    assert "raw.log:        empty" in text
