"""Known failures: listed ones do not fail, unlisted and stale ones do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_caesar.conformance.known_failures import (
    KnownFailuresError,
    load_known_failures,
    parse_known_failures,
)
from pytest_caesar.conformance.requirements import REQUIREMENTS
from tests.pytest_caesar.plugin.running import AGENT as HONEST
from tests.pytest_caesar.plugin.running import Runs, agent_script

NAME = "caesar-conformance-baseline.txt"
AGENT = ("--caesar-agent=./agent.sh", "--caesar-conformance")
WRONG_STATUS = HONEST.replace("success", "done")


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    assert load_known_failures(tmp_path).knows("REPORT-001", "agent") is None


def test_a_line_is_an_id_an_agent_and_a_reason() -> None:
    text = "# known\n\nREPORT-002   # until autumn\nTASK-001[mine]\n"
    baseline = parse_known_failures(text, path=Path(NAME))

    assert baseline.knows("REPORT-002", "mine") == "until autumn"
    assert baseline.knows("TASK-001", "mine") == ""
    assert baseline.knows("TASK-001", "other") is None


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("report-001", "'report-001' is no line of a baseline: expected an id such as REPORT-003"),
        ("REPORT-999", "REPORT-999 is no requirement"),
        ("REPORT-010", "REPORT-010 is advisory and never fails: remove the line"),
        ("TASK-001", "TASK-001 is listed twice"),
    ],
)
def test_a_line_that_is_not_understood_is_refused_by_number(line: str, problem: str) -> None:
    with pytest.raises(KnownFailuresError, match=re.escape(f"{NAME}:2: {problem}")):
        parse_known_failures(f"TASK-001\n{line}\n", path=Path(NAME))


def test_a_listed_failure_does_not_fail(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester, text=WRONG_STATUS)
    (pytester.path / NAME).write_text("REPORT-002  # until autumn\n")

    result = run(*AGENT, "-k", "REPORT-002", "-rx")

    result.assert_outcomes(xfailed=1, deselected=len(REQUIREMENTS) - 1)
    result.stdout.fnmatch_lines(["XFAIL caesar-conformance::REPORT-002 - known*: until autumn"])
    result.stdout.fnmatch_lines(["OACP v1: 0 of 1 *"])


def test_an_entry_that_does_not_fail_any_more_fails(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    (pytester.path / NAME).write_text("REPORT-002\n")

    result = run(*AGENT, "-k", "REPORT-002")

    result.assert_outcomes(failed=1, deselected=len(REQUIREMENTS) - 1)
    result.stdout.fnmatch_lines(
        [f"REPORT-002 is listed in {NAME} and does not fail any more (passed): remove its line"]
    )


def test_a_wrong_baseline_stops_everything(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    (pytester.path / NAME).write_text("NONSENSE-1\n")

    result = run(*AGENT)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{NAME}:1: NONSENSE-1 is no requirement"])
