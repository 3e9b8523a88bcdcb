"""From results to a verdict, a table, a badge and a report: pure, but for the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.conformance.requirements import REQUIREMENTS
from pytest_caesar.conformance.result import Result, completed, verdict, with_variation
from pytest_caesar.conformance.result_file import as_json, write_report
from pytest_caesar.conformance.verdict_lines import badge, how_near, table

ADVISORY = next(name for name, one in REQUIREMENTS.items() if one.kind == "advisory")
COUNTED = [name for name, one in REQUIREMENTS.items() if one.kind != "advisory"]


def results(default: str = "passed", **outcomes: str) -> list[Result]:
    return [
        Result(id=name, agent="a", outcome=outcomes.get(name.replace("-", "_"), default))
        for name in REQUIREMENTS
    ]


def test_all_passed_is_the_highest_level() -> None:
    found = verdict(results())

    assert str(found) == f"OACP v1: robust, {len(COUNTED)} of {len(COUNTED)}"


def test_a_failure_takes_its_level_and_leaves_those_below() -> None:
    found = verdict(results(QUESTIONS_003="failed"))

    assert found.level == "narrated + robust"
    assert (found.passed, found.counted) == (len(COUNTED) - 1, len(COUNTED))


def test_without_the_first_level_there_is_none() -> None:
    assert verdict(results(REPORT_003="failed")).level == "no level"


@pytest.mark.parametrize("outcome", ["skipped", "not exercised"])
def test_a_gate_that_was_not_seen_to_pass_keeps_its_level_shut(outcome: str) -> None:
    assert verdict(results(EVENTS_001=outcome)).level == "minimal + dialogue + robust"


@pytest.mark.parametrize("outcome", ["skipped", "not exercised"])
def test_what_was_not_judged_counts_on_neither_side(outcome: str) -> None:
    found = verdict(results(REPORT_002=outcome))

    assert (found.passed, found.counted) == (len(COUNTED) - 1, len(COUNTED) - 1)


def test_advice_never_counts() -> None:
    found = verdict(results(**{ADVISORY.replace("-", "_"): "failed"}))

    assert (found.level, found.passed) == ("robust", len(COUNTED))


def test_an_error_of_the_harness_decides_nothing_and_costs_nothing() -> None:
    found = verdict(results(DEPTH_001="error"))

    assert str(found) == (
        f"OACP v1: dialogue, {len(COUNTED) - 1} of {len(COUNTED) - 1}; not decided: robust"
    )
    assert "lightgrey" in badge(found)


def test_an_error_beside_a_failure_does_not_excuse_it() -> None:
    found = verdict(results(DEPTH_001="error", TASK_009="failed"))

    assert (found.level, found.undecided) == ("dialogue", ())
    assert found.missing == {"robust": ("TASK-009",)}


def test_an_error_on_the_first_level_leaves_all_undecided() -> None:
    found = verdict(results(REPORT_002="error"))

    assert str(found).startswith("OACP v1: not decided, ")


def test_what_the_next_level_takes_is_said_with_its_first_reason() -> None:
    own = [
        Result(id="EVENTS-001", agent="a", outcome="skipped", message="it told no event\nmore")
        if one.id == "EVENTS-001"
        else one
        for one in results()
    ]

    narrated = [one for one in own if REQUIREMENTS[one.id].level == "narrated" and one.counts]
    assert how_near(own, verdict(own)) == [
        f"for narrated ({len(narrated)} of {len(narrated)} passed) there is missing: EVENTS-001",
        "  EVENTS-001, skipped: it told no event",
    ]


def test_what_has_to_be_fixed_before_a_level_is_decided_is_said() -> None:
    own = [
        Result(id=one.id, agent="a", outcome="error", message="a fault\npip install mcp")
        if one.id == "QUESTIONS-001"
        else one
        for one in results()
    ]

    assert how_near(own, verdict(own)) == [
        "dialogue is not decided: QUESTIONS-001: pip install mcp"
    ]


def test_that_an_agent_varies_is_told_of_it_whichever_check_noticed() -> None:
    own = [
        Result(id="TASK-003", agent="a", outcome="not exercised", varied="once so, once not")
        if one.id == "TASK-003"
        else one
        for one in results()
    ]

    (changed,) = (one for one in with_variation(own) if one.id == "PROCESS-012")
    assert (changed.outcome, changed.message) == ("failed", "once so, once not")
    assert with_variation(results()) == results()


def test_a_part_says_that_it_is_a_part() -> None:
    some = completed([Result(id="REPORT-001", agent="a", outcome="passed")], "a")

    assert str(verdict(some)) == "OACP v1: 1 of 1 (not every requirement was run)"


def test_nothing_at_all_is_no_level() -> None:
    found = verdict(results("not exercised"))

    assert str(found) == "OACP v1: no level, 0 of 0"
    assert "red" in badge(found)


def test_the_table_has_a_line_for_each_level_and_every_requirement_once() -> None:
    lines = table(results(**{ADVISORY.replace("-", "_"): "failed", "TASK_001": "error"}))

    numbers = [int(word) for line in lines[1:] for word in line.split()[1:] if word != "-"]
    assert [line.split()[0] for line in lines[1:]] == ["minimal", "narrated", "dialogue", "robust"]
    assert sum(numbers) == len(REQUIREMENTS)


def test_a_badge_is_a_line_of_markdown_that_survives_its_address() -> None:
    line = badge(verdict(results(QUESTIONS_003="failed")))

    assert line.startswith("![OACP v1: narrated + robust, ")
    assert " " not in line.partition("](")[2]


def test_the_report_has_an_entry_for_each_requirement_whatever_was_run(tmp_path: Path) -> None:
    program = tmp_path / "agent.sh"
    program.write_text("#!/bin/sh\n")
    agents = (
        ProcessAgent(id="a", origin="path", argv=(str(program),)),
        FunctionAgent(id="f", target="agent:main"),
    )
    found = [
        Result(
            id="REPORT-002", agent="a", outcome="failed", message="\ud800", transcript={"log": ""}
        )
    ]

    write_report(tmp_path / "deep" / "report.json", found, agents)

    value = json.loads((tmp_path / "deep" / "report.json").read_text())
    first, second = value["agents"]
    assert [entry["id"] for entry in first["requirements"]] == list(REQUIREMENTS)
    assert first["agent"]["sha256"]
    assert second["agent"]["target"] == "agent:main"
    by_id = {entry["id"]: entry for entry in first["requirements"]}
    assert by_id["REPORT-002"]["transcript"] == {"log": ""}
    assert by_id["REPORT-001"]["outcome"] == "not run"
    assert value["contract"] == "OACP v1"
    assert as_json(found, agents)["kit"]
