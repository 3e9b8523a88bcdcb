"""``--caesar-json``, ``--caesar-keep`` and the JUnit report."""

from __future__ import annotations

import json
import re
import sys

import pytest

from pytest_caesar.files.removal import remove_folder
from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import Runs, agent_script

SOURCE = r"""
import pytest

@pytest.mark.parametrize("number", range(4))
def test_it(caesar_orchestrator, number):
    run = caesar_orchestrator.delegate(f"Say {number} \udcff\u00e9")
    assert number != 3

def test_fails(caesar_orchestrator, caesar_fake_agent):
    fake = caesar_fake_agent
    fifo = fake.report_as("fifo")
    caesar_orchestrator.delegate("Odd", agent=fake(fake.write("a\udcff\x1b", "x"), fifo))
"""


def test_every_run_of_the_session_is_written(pytester: pytest.Pytester, run_both: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(test_it=SOURCE)
    result = run_both("--caesar-agent=./agent.sh", "--caesar-json=out/runs.json")
    result.assert_outcomes(passed=4, failed=1)
    value = json.loads((pytester.path / "out" / "runs.json").read_text("utf-8"))
    assert value["format"] == 1
    assert value["agents"] == ["agent"]
    assert value["exit_status"] == 1
    tests = [(run["test"], run["test_outcome"]) for run in value["runs"]]
    assert tests == [
        ("test_it.py::test_it[0]", "passed"),
        ("test_it.py::test_it[1]", "passed"),
        ("test_it.py::test_it[2]", "passed"),
        ("test_it.py::test_it[3]", "failed"),
        ("test_it.py::test_fails", "passed"),
    ]
    assert value["session"]["collected"] == [test for test, _ in tests]
    assert value["session"]["deselected"] == []
    failed = value["tests"][3]
    assert (failed["test"], failed["outcome"], failed["agent"]) == (*tests[3], "agent")
    assert failed["cause"].startswith("assert 3 != 3")
    assert failed["again"] == "pytest --caesar-agent=./agent.sh 'test_it.py::test_it[3]'"
    assert (failed["path"], failed["line"]) == ("test_it.py", 3)
    one = value["runs"][0]
    assert one["source"] == "file"
    assert one["report"]["summary"] == "Said hello."
    assert one["outcome"]["status"] == "succeeded"
    assert one["objective"] == "Say 0 \\udcffé"
    odd = value["runs"][4]
    assert [change["path"] for change in odd["changes"]] == ["a\\udcff\x1b"]
    assert odd["source"] == "synthesized"
    assert set(one) == set(_documented()) - {"scenario"}  # of the conformance kit alone
    result.stdout.fnmatch_lines(["every run: out/runs.json"])


def test_what_was_asked_is_written_with_its_answer(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        def test_it(caesar_orchestrator, caesar_answers, caesar_fake_agent):
            fake = caesar_fake_agent
            caesar_answers.on("Keep it?", "no")
            steps = [fake.ask("Keep it?", ["yes", "no"]), fake.report()]
            caesar_orchestrator.delegate("Work", agent=fake(*steps))
        """
    )
    run("--caesar-json=runs.json").assert_outcomes(passed=1)
    [one] = json.loads((pytester.path / "runs.json").read_text("utf-8"))["runs"]
    [asked] = one["questions"]
    assert (asked["question"], asked["options"]) == ("Keep it?", ["yes", "no"])
    assert (asked["state"], asked["answer"]) == ("answered", "no")


def _documented() -> list[str]:
    """Return the keys of a run that the documentation names."""
    page = (ROOT / "docs" / "plugin.md").read_text("utf-8")
    section = page.partition("## What `--caesar-json` holds\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    return [key for row in rows for key in re.findall(r"`(\w+)`", row)]


def test_no_run_is_an_empty_list(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile("def test_it():\n    pass\n")
    run("--caesar-json=runs.json").assert_outcomes(passed=1)
    assert json.loads((pytester.path / "runs.json").read_text())["runs"] == []


def test_task_directories_are_kept(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(test_it=SOURCE)
    run("--caesar-agent=./agent.sh", "--caesar-keep=kept")
    kept = pytester.path / "kept"
    assert (kept / "test_it.py-test_it[0]" / "t_0001" / "report.json").is_file()
    assert len(list(kept.glob("*/t_0001/task.json"))) == 5
    run("--caesar-agent=./agent.sh", "--caesar-keep=kept")
    assert (kept / "test_it.py-test_it[0]" / "t_0001-2" / "task.json").is_file()


def test_a_task_directory_of_any_depth_is_kept_in_part_and_told(
    pytester: pytest.Pytester, run: Runs
) -> None:
    script = pytester.path / "deep.py"
    script.write_text(
        f"#!{sys.executable}\nimport os\nos.chdir(os.environ['CAESAR_TASK_DIR'])\n"
        "for _ in range(1200):\n    os.mkdir('d')\n    os.chdir('d')\n"
    )
    script.chmod(0o755)
    pytester.makepyfile(
        test_it="def test_it(caesar_orchestrator):\n    caesar_orchestrator.delegate('Dig')\n"
    )
    result = run("--caesar-agent=./deep.py", "--caesar-keep=kept")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["problem: *was not copied whole*without folders below 64 levels"])
    assert (pytester.path / "kept" / "test_it.py-test_it" / "t_0001" / "task.json").is_file()
    remove_folder(pytester.path)  # what pytest would do here later recurses


def test_junit_has_a_property_for_each_run(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(
        "def test_it(caesar_orchestrator):\n    caesar_orchestrator.delegate('Say')\n"
    )
    agent = "--caesar-agent=./agent.sh"
    run(agent, "--junitxml=on.xml")
    wanted = 'name="caesar.run" value="t_0001 agent source=file status=success process=succeeded"'
    assert wanted in (pytester.path / "on.xml").read_text()
    run(agent, "--junitxml=off.xml", "-o", "caesar_junit=false")
    assert "caesar.run" not in (pytester.path / "off.xml").read_text()


@pytest.mark.parametrize("option", ["--caesar-json", "--caesar-keep"])
def test_an_existing_path_as_a_separate_argument_is_refused(
    pytester: pytest.Pytester, run: Runs, option: str
) -> None:
    pytester.mkdir("there")
    result = run(option, "there")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*write {option}=there"])


def test_what_cannot_be_written_is_told(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    (pytester.path / "file").write_text("")
    pytester.makepyfile(
        "def test_it(caesar_orchestrator):\n    caesar_orchestrator.delegate('Say')\n"
    )
    result = run(
        "--caesar-agent=./agent.sh", "--caesar-json=file/a.json", "--caesar-keep=file/kept"
    )
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "problem: *t_0001 could not be copied to *",
            "problem: --caesar-json=*/file/a.json was not written: *",
        ]
    )
