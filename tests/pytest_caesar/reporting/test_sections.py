"""What is shown of a run is bounded, and cannot act on a terminal."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.reporting.sections import brief_section, run_section
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository

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


def test_a_forgotten_report_is_named_with_the_place_where_it_belongs(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    _, text = run_section(caesar_orchestrator.delegate("Work", agent=fake(fake.print("done\n"))))
    assert "report:         none: there is no file at $CAESAR_REPORT_PATH\n" in text


def test_a_report_in_the_workspace_is_named_as_what_was_not_read(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    agent = fake(fake.write("out/report.json", "{}"))
    _, text = run_section(caesar_orchestrator.delegate("Work", agent=agent))
    assert (
        "there is no file at $CAESAR_REPORT_PATH; out/report.json in the workspace is not where it "
        "is looked for"
    ) in " ".join(text.split())


def test_where_a_report_was_found_or_something_else_went_wrong_its_place_is_not_told(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    for agent in (
        fake(fake.report()),
        fake(fake.report("done")),
        fake(fake.print("no luck\n"), fake.exit(3)),
    ):
        run = caesar_orchestrator.delegate("Work", agent=agent)
        Path(run.task.report_path).unlink(
            missing_ok=True
        )  # what became of it later does not matter
        _, text = run_section(run)
        assert "$CAESAR_REPORT_PATH" not in text


def test_many_paths_stand_there_once(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    steps = [fake.write(f"file-{number}.txt") for number in range(5)]
    agent = fake(*steps, fake.report(changes=["nowhere.txt"]))
    _, text = run_section(caesar_orchestrator.delegate("Work", agent=agent))
    lines = text.splitlines()
    assert "  undeclared-change: 5 paths, marked above" in lines
    assert text.count("file-3.txt") == 1
    assert text.count("nowhere.txt") == 2, "a single finding keeps its words"
    assert lines.index("changes (verified by git):") < lines.index("diagnostics:")


def test_a_deadline_that_passed_is_told_with_one_number(
    caesar_repo: Repository, caesar_fake_agent: FakeAgents
) -> None:
    calls = itertools.count()
    orchestrator = Orchestrator(
        caesar_fake_agent(caesar_fake_agent.hang()),
        project=caesar_repo.path,
        # What is left of a test shrinks between the writing of the task and the start.
        settings=OrchestratorSettings(seconds_left=lambda: 2.6128 - next(calls) / 64),
    )
    _, text = run_section(orchestrator.delegate("Work"))
    told = re.findall(r"deadline\s+of\s+(\S+\s+m?s)\b", text)
    assert len(told) == 2, "the process and its event"
    assert len(set(told)) == 1
    assert re.fullmatch(r"0\.\d\d? s", told[0])
