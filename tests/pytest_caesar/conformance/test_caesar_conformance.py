"""--caesar-conformance: the items, how they are selected, and what is said of them."""

from __future__ import annotations

import json
import os

import pytest

from pytest_caesar.conformance.requirements import REQUIREMENTS, VA_REQUIREMENTS
from tests.pytest_caesar.plugin.running import AGENT as HONEST
from tests.pytest_caesar.plugin.running import Runs, agent_script

AGENT = ("--caesar-agent=./agent.sh", "--caesar-conformance")

SILENT = "#!/bin/sh\nexit 0\n"

MANDATORY_OF_REPORT = sum(
    one.area == "REPORT" and one.kind == "mandatory" for one in REQUIREMENTS.values()
)

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
    count = len(REQUIREMENTS)
    result.stdout.fnmatch_lines([f"collected {count} items / {count - 1} deselected / 1 selected"])


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
        (("-m", "mandatory and report"), MANDATORY_OF_REPORT),
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
            "clause: The minimal contract: two variables",
        ]
    )
    result.assert_outcomes(
        failed=1,
        skipped=MANDATORY_OF_REPORT - 1,
        deselected=len(REQUIREMENTS) - MANDATORY_OF_REPORT,
    )


def unstartable(pytester: pytest.Pytester) -> None:
    """Put an agent that loses its right to be run once it was selected."""
    agent_script(pytester)
    pytester.makeconftest(
        "from pathlib import Path\n"
        "def pytest_collection_finish(session):\n"
        "    Path('agent.sh').chmod(0o644)\n"
    )


def test_an_agent_that_cannot_be_started_is_an_error_and_no_failure(
    pytester: pytest.Pytester, run: Runs
) -> None:
    unstartable(pytester)

    result = run(*AGENT, "-k", "REPORT-001")

    result.assert_outcomes(errors=1, deselected=len(REQUIREMENTS) - 1)
    result.stdout.fnmatch_lines(
        ["a fault of the harness or of its surroundings, so that nothing is*"]
    )


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["here", "on workers"])
def test_its_verdict_and_its_runs_are_handed_on_as_those_of_tests_are(
    pytester: pytest.Pytester, run: Runs, workers: tuple[str, ...]
) -> None:
    agent_script(pytester)

    result = run(
        *(*AGENT, *workers, "-m", "report or task and robust", "-v"),
        *("--caesar-json=runs.json", "--caesar-keep=kept", "--junitxml=junit.xml"),
        "--caesar-conformance-report=report.json",
    )

    value = json.loads((pytester.path / "runs.json").read_text())
    told = {(one["scenario"], one["test"].partition("::")[0]) for one in value["runs"]}
    assert told == {
        (name, "caesar-conformance")
        for name in ("plain", "unknown version", "torn task", "no task", "offered channel")
    }
    assert {one["test_outcome"] for one in value["runs"]} <= {"passed", "failed", "skipped"}
    kept = [path.name for path in (pytester.path / "kept").glob("caesar-conformance-*/t_*")]
    assert sorted(kept) == sorted(one["task_id"] for one in value["runs"])
    junit = (pytester.path / "junit.xml").read_text()
    assert junit.count('name="caesar.run"') == len(kept)
    assert 'name="REPORT-001"' in junit
    (judged,) = json.loads((pytester.path / "report.json").read_text())["agents"]
    outcomes = {entry["id"]: entry["outcome"] for entry in judged["requirements"]}
    assert outcomes.keys() == REQUIREMENTS.keys()
    assert outcomes["REPORT-002"] == "passed"
    assert outcomes["TASK-001"] == "not run"
    result.stdout.fnmatch_lines(["*OACP v1: * of * (not every requirement was run)"])
    result.stdout.no_fnmatch_line("contract: *")  # is about tests of the user's own
    result.stdout.fnmatch_lines(["every run: runs.json"])


def test_the_same_fault_of_the_surroundings_is_told_in_full_once(
    pytester: pytest.Pytester, run: Runs
) -> None:
    unstartable(pytester)

    result = run(*AGENT, "-k", "REPORT-001 or REPORT-002")

    result.assert_outcomes(errors=2, deselected=len(REQUIREMENTS) - 2)
    result.stdout.no_fnmatch_line("During handling of the above exception*")
    assert result.outlines.count("the same fault as at REPORT-001, which is not the agent's") == 1


def test_what_failed_last_is_run_alone(pytester: pytest.Pytester) -> None:
    agent_script(pytester, text=SILENT)
    options = ("-p", "no:randomly", *AGENT, "-m", "report and minimal")
    first = pytester.runpytest_inprocess(*options)

    again = pytester.runpytest_inprocess(*options, "--lf")

    asked = sum(one.area == "REPORT" and one.level == "minimal" for one in REQUIREMENTS.values())
    first.assert_outcomes(failed=1, skipped=asked - 1, deselected=len(REQUIREMENTS) - asked)
    again.assert_outcomes(failed=1, deselected=len(REQUIREMENTS) - 1)


def test_each_of_several_agents_has_its_items_and_its_verdict(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester, "good.sh")
    agent_script(pytester, "bad.sh", SILENT)

    result = run(
        *("--caesar-agent=./good.sh", "--caesar-agent=./bad.sh", "--caesar-conformance"),
        *("-k", "REPORT-001", "-v"),
    )

    result.stdout.fnmatch_lines(
        [
            "caesar-conformance::REPORT-001[[]good[]] PASSED*",
            "caesar-conformance::REPORT-001[[]bad[]] FAILED*",
            "good",
            "OACP v1: 1 of 1 *",
            "bad",
            "OACP v1: 0 of 1 *",
        ]
    )


def test_a_function_is_judged_in_a_process_of_its_own(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        my_agent="""
        import os

        def main(agent):
            os.environ.setdefault("SEEN", str(os.getpid()))
            return agent.success(f"In process {os.getpid()}.")
        """
    )

    result = run(
        "--caesar-agent=my_agent:main", "--caesar-conformance", "-k", "REPORT-002 or PROCESS-008"
    )

    result.assert_outcomes(passed=2, deselected=len(REQUIREMENTS) - 2)
    assert "SEEN" not in os.environ


def test_an_agent_that_hangs_is_asked_once(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester, text="#!/bin/sh\nexec sleep 60\n")
    (pytester.path / "caesar-conformance.toml").write_text("timeout = 0.5\n")

    result = run(*AGENT, "--caesar-conformance-report=report.json")

    assert result.parseoutcomes()["failed"] == 1
    (judged,) = json.loads((pytester.path / "report.json").read_text())["agents"]
    assert judged["verdict"] == "OACP v1: no level, 0 of 1"
    transcripts = [entry["transcript"] for entry in judged["requirements"] if "transcript" in entry]
    assert {one["run"]["outcome"]["timed_out"] for one in transcripts} == {True}
    assert len({one["run"]["task_id"] for one in transcripts}) == 1


def test_an_agent_that_hangs_is_ended_before_its_check_is_shot(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester, text="#!/bin/sh\nexec sleep 60\n")

    result = run(*AGENT, "-k", "REPORT-00", "--timeout=5")

    count = sum(name.startswith("REPORT-00") for name in REQUIREMENTS)
    result.assert_outcomes(failed=1, skipped=count - 1, deselected=len(REQUIREMENTS) - count)
    result.stdout.fnmatch_lines(["process: timed out, *"])


def test_advice_fails_nothing_and_is_told(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester, text=HONEST + "printf '\\033[31mred\\033[0m'\n")

    result = run(*AGENT, "-k", "PROCESS-010")

    result.assert_outcomes(xfailed=1, deselected=len(REQUIREMENTS) - 1)
    result.stdout.fnmatch_lines(["advice PROCESS-010: its output holds terminal sequences: *"])


def test_where_nothing_is_collected_the_kit_is_named(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)

    result = run("--caesar-agent=./agent.sh")

    result.stdout.fnmatch_lines(["    pytest --caesar-agent=./agent.sh --caesar-conformance"])


def test_a_wrong_profile_is_refused_by_key(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    (pytester.path / "caesar-conformance.toml").write_text('levle = "minimal"\n')

    result = run(*AGENT)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: *conformance.toml: unknown key levle; did you mean 'level'?"]
    )


def test_the_profile_is_found_where_pytest_is_started(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini("[pytest]\n")
    folder = pytester.mkdir("mine")
    agent_script(pytester, "mine/agent.sh")
    (folder / "caesar-conformance.toml").write_text('level = "minimal"\n')
    monkeypatch.chdir(folder)

    result = run(*AGENT, "-k", "DEPTH-001", "-rs")

    result.stdout.fnmatch_lines(
        ["SKIPPED * caesar-conformance.toml asks for level minimal at most"]
    )


def test_a_report_that_cannot_be_written_fails_the_session(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester)
    pytester.makeconftest(
        "from pathlib import Path\n"
        "def pytest_collection_finish(session):\n"
        "    Path('report.json').mkdir()\n"
    )

    result = run(*AGENT, "-k", "REPORT-001", "--caesar-conformance-report=report.json")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["problem: --caesar-conformance-report was not written: *"])


def test_task_units_have_a_kit_and_a_verdict_of_their_own(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester)

    result = run(
        *("--caesar-agent=./agent.sh", "--caesar-conformance=va", "-k", "UNIT-001 or UNIT-004"),
        "--caesar-conformance-report=report.json",
    )

    result.assert_outcomes(passed=1, skipped=1, deselected=len(VA_REQUIREMENTS) - 2)
    result.stdout.fnmatch_lines(["va-agent-protocol 0.1.0: 1 of 1 (not every requirement was run)"])
    (judged,) = json.loads((pytester.path / "report.json").read_text())["agents"]
    assert judged["contract"] == "va-agent-protocol 0.1.0"
    assert [entry["id"] for entry in judged["requirements"]] == list(VA_REQUIREMENTS)


def test_both_kits_run_beside_each_other(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)

    result = run(*AGENT, "--caesar-conformance=va", "--collect-only", "-q")

    ids = [line for line in result.outlines if line.startswith("caesar-conformance::")]
    assert len(ids) == len(REQUIREMENTS) + len(VA_REQUIREMENTS)
