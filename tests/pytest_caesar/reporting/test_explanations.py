"""Explanations say why a source is not the expected one, and fit what pytest shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.recovery.evidence import Recovered
from pytest_caesar.reporting.explanations.comparison import MAX_CHARACTERS, explain
from pytest_caesar.reporting.explanations.entries import MAX_LINES
from pytest_caesar.reporting.source_advice import ORDER, why_not, why_not_kept

REPORT = '{"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}'


@pytest.mark.parametrize(
    ("printed", "wanted", "reason"),
    [
        ("", "extracted", "the agent printed nothing"),
        ("reading\n", "extracted", "no report stands in raw.log"),
        ("", "schema", "only a known CLI with structured output hands in its report by schema"),
        ("", "file", "nothing was written to $CAESAR_REPORT_PATH"),
        ("", "synthesized", ""),
        ("", "paper", ""),
    ],
)
def test_why_a_synthesized_report_is_not_from_elsewhere(
    caesar_orchestrator: Orchestrator,
    caesar_fake_agent: FakeAgents,
    printed: str,
    wanted: str,
    reason: str,
) -> None:
    fake = caesar_fake_agent
    run = caesar_orchestrator.delegate("Work", agent=fake(fake.print(printed), fake.exit(3)))
    assert why_not(run, wanted) == reason


def test_a_worse_source_can_be_looked_at_by_taking_the_better_one_away(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    run = caesar_orchestrator.delegate(
        "Work", agent=fake(fake.report("partial", "Half.", to="stdout"), fake.report())
    )
    assert why_not(run, "extracted") == (
        "the report from file counts first; without it: run.without('file').source"
    )
    assert run.without("file").source == "extracted"
    assert [why_not(run, source) != "" for source in ORDER] == [True, True, False, True, True]


@pytest.mark.parametrize(
    ("given", "wanted", "reason"),
    [
        ({}, "file", "to caesar_recover a report from file is given as report_file="),
        ({"report_file": "{"}, "file", ""),  # what is wrong with it is a finding
        ({"submission": "{"}, "channel", ""),
        ({"final_message": "{", "schema_expected": True}, "schema", ""),
        ({}, "extracted", "no report stands in the log"),
        ({}, "synthesized", ""),
        (
            {"report_file": REPORT},
            "extracted",
            "the report from file counts first; it was given as report_file=",
        ),
        ({}, "paper", ""),
    ],
)
def test_why_what_is_kept_of_a_run_gives_no_report_from_elsewhere(
    caesar_recover: Callable[..., Recovered], given: dict[str, Any], wanted: str, reason: str
) -> None:
    assert why_not_kept(caesar_recover("Done.", **given), wanted) == reason


def test_first_and_last_line_stay_whole_however_much_there_is_to_say(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    run = caesar_orchestrator.delegate(
        "Work",
        agent=fake(
            fake.report_bytes("{" + "y" * 900),
            fake.print('{"protocol": "caesar.report/v1"}\n' + "x" * 900),
            fake.exit(3),
        ),
    )
    lines = explain("==", run.status, "success", runs=[run])
    assert lines is not None
    assert len(lines) <= MAX_LINES
    assert sum(map(len, lines)) <= MAX_CHARACTERS
    assert lines[0].startswith("failed: report.json: not JSON: expecting property name")
    assert lines[-1] == f"task directory: {run.task_dir}"


def test_a_part_of_a_word_stays_in_the_order_it_was_written(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    run = caesar_orchestrator.delegate("Work", agent=fake(fake.report("blocked")))
    lines = explain("in", "succ", run.status, runs=[run])
    assert lines is not None
    assert lines[0] == "blocked, says its report: Done."
    assert explain("==", run.status, 3, runs=[run]) is None
    assert explain("in", run.status, (), runs=[run]) is None


def test_texts_that_name_the_entries_are_not_told_as_missing(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    agent = fake(fake.write("b"), fake.report(commands_run=[{"command": "make", "exit_code": 1}]))
    run = caesar_orchestrator.delegate("Work", agent=agent)
    place = f"task directory: {run.task_dir}"
    assert explain("==", run.changes, ["b"], runs=[run]) == [
        "1 change is not 1 text: the same texts, of another type",
        "each is more than its path: compare [one.path for one in …]",
        place,
    ]
    assert explain("==", ["x"], run.report.commands_run, runs=[run]) == [
        "1 text is not 1 command: only in the first: 'x'; only in the second: make, exit code 1",
        "  only in the first: 'x'",
        "  only in the second: make, exit code 1",
        "each is more than its command: compare [one.command for one in …]",
        place,
    ]
    assert explain("==", [*run.changes], [], runs=[run]) == [
        "1 change: b created",
        "  b created",
        place,
    ]
    assert explain("in", "c", [*run.changes], runs=[run]) == [
        "'c' is none of 1 change: b created",
        "  b created",
        "each is more than its path: compare [one.path for one in …]",
        place,
    ]
    assert explain("==", ["x", run.changes[0]], ["x"], runs=[run]) == [
        "2 texts is not 1 text: only in the first: b created",
        "  only in the first: b created",
        "each is more than its path: compare [one.path for one in …]",
        place,
    ]
    assert explain("in", "c", ["b"], runs=[run]) is None
    assert explain("in", run.changes[0], (), runs=[run]) is None
    assert explain("==", ("a",), ["b"], runs=[run]) is None
    assert explain("==", run.changes, [1], runs=[run]) is None


def test_a_long_log_is_told_in_part(
    caesar_orchestrator: Orchestrator, caesar_fake_agent: FakeAgents
) -> None:
    fake = caesar_fake_agent
    told = [fake.event("message", text=f"part {number}") for number in range(20)]
    run = caesar_orchestrator.delegate("Work", agent=fake(*told, fake.report()))
    lines = explain("==", run.events, [], runs=[run])
    assert lines == [
        "22 events: started, 20 message, finished",
        "  started",
        *(f"  message part {number}" for number in range(5)),
        "  … and 16 more",
    ]
