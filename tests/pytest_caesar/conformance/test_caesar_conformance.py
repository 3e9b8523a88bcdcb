"""--caesar-conformance: the items, how they are selected, and what is said of them."""

from __future__ import annotations

import json

import pytest

from pytest_caesar.conformance.registry import REQUIREMENTS
from tests.pytest_caesar.plugin.running import Runs, agent_script

AGENT = ("--caesar-agent=./agent.sh", "--caesar-conformance")

SILENT = "#!/bin/sh\nexit 0\n"

FAILS_BY_ITSELF = "def test_of_the_user():\n    assert False\n"


def test_without_an_agent_it_says_how_to_give_one(run: Runs) -> None:
    result = run("--caesar-conformance")

    result.stderr.fnmatch_lines(["ERROR: --caesar-conformance needs an agent: give one with *"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_without_a_path_only_the_kit_runs(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(FAILS_BY_ITSELF)
    pytester.makeini("[pytest]\ntestpaths = .\n")

    result = run(*AGENT, "-k", "REPORT-001")

    result.assert_outcomes(passed=1, deselected=len(REQUIREMENTS) - 1)


def test_with_a_path_it_is_added(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(test_own=FAILS_BY_ITSELF)

    result = run(*AGENT, "test_own.py", "-k", "REPORT-001 or test_of_the_user")

    result.assert_outcomes(passed=1, failed=1, deselected=len(REQUIREMENTS) - 1)


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (("-m", "narrated"), sum(one.level == "narrated" for one in REQUIREMENTS.values())),
        (("-m", "events"), sum(one.area == "EVENTS" for one in REQUIREMENTS.values())),
        (("-m", "mandatory and report"), 6),
        (("-k", "QUESTIONS"), sum(one.area == "QUESTIONS" for one in REQUIREMENTS.values())),
        (("caesar-conformance",), len(REQUIREMENTS)),
        (("caesar-conformance::REPORT-003", "caesar-conformance::TASK-001"), 2),
        (("--deselect=caesar-conformance::REPORT-003",), len(REQUIREMENTS) - 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_items_are_selected_by_id_level_and_area(
    pytester: pytest.Pytester, run: Runs, selection: tuple[str, ...], count: int
) -> None:
    agent_script(pytester)

    result = run(*AGENT, "--collect-only", "-q", *selection)

    ids = [line for line in result.outlines if line.startswith("caesar-conformance::")]
    assert len(ids) == count
    assert result.ret == pytest.ExitCode.OK


def test_an_id_that_is_none_is_refused(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)

    result = run(*AGENT, "caesar-conformance::REPORT-999")

    result.stderr.fnmatch_lines(["ERROR: caesar-conformance has no REPORT-999: expected an id *"])


def test_what_is_broken_fails_with_what_to_mend(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester, text=SILENT)

    result = run(*AGENT, "-m", "report and mandatory")

    result.stdout.fnmatch_lines(
        [
            "*REPORT-001: It hands in a report: *",
            "nothing was written to $CAESAR_REPORT_PATH: write the report there before you exit",
            "process: succeeded, exit code 0, *",
            "task directory: *",
            "clause: Le contrat minimal : deux variables",
        ]
    )
    result.assert_outcomes(failed=1, skipped=5, deselected=len(REQUIREMENTS) - 6)


def test_an_agent_that_cannot_be_started_is_an_error_and_no_failure(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester)
    pytester.makeconftest(
        "from pathlib import Path\n"
        "def pytest_collection_finish(session):\n"
        "    Path('agent.sh').chmod(0o644)\n"
    )

    result = run(*AGENT, "-k", "REPORT-001")

    result.assert_outcomes(errors=1, deselected=len(REQUIREMENTS) - 1)
    result.stdout.fnmatch_lines(
        ["a fault of the harness or of its surroundings, so that nothing is*"]
    )


def test_it_runs_on_two_workers_and_in_junit_and_json(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)

    result = run(
        *AGENT,
        *("-n", "2", "-m", "report", "--junitxml=junit.xml"),
        "--caesar-conformance-report=report.json",
    )

    result.stdout.fnmatch_lines(["*OACP v1: * of * (not every requirement was run)"])
    assert 'name="REPORT-001"' in (pytester.path / "junit.xml").read_text()
    (judged,) = json.loads((pytester.path / "report.json").read_text())["agents"]
    outcomes = {entry["id"]: entry["outcome"] for entry in judged["requirements"]}
    assert outcomes.keys() == REQUIREMENTS.keys()
    assert outcomes["REPORT-002"] == "passed"
    assert outcomes["TASK-001"] == "not run"
