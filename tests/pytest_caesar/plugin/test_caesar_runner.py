"""``--caesar-runner`` and its ini key, also for ``pytest-caesar run``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_caesar.cli import main
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.plugin.running import Runs, agent_script

TEST = """
def test_it(caesar_repo, caesar_orchestrator):
    caesar_repo.commit({"a.txt": "one"})
    run = caesar_orchestrator.delegate("Look")
    assert run.succeeded
    assert run.task.agent == "sec"
    assert run.task.context.startswith("Look for holes.")
    again = caesar_orchestrator.delegate("Look", agent="sec")
    assert again.succeeded
"""

DEFINITION = "---\nname: sec\ndescription: Looks for holes\n---\nLook for holes.\n"


def define(folder: Path, text: str = DEFINITION) -> None:
    agents = folder / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "sec.md").write_text(text)


@pytest.fixture(autouse=True)
def project(pytester: pytest.Pytester) -> None:
    define(pytester.path)
    agent_script(pytester, "cli.sh")
    pytester.makepyfile(test_runner=TEST)


def test_a_script_runs_a_definition(pytester: pytest.Pytester, run_both: Runs) -> None:
    run_both("--caesar-agent=sec", "--caesar-runner=./cli.sh").assert_outcomes(passed=1)


def test_an_agent_of_the_configuration_runs_a_definition(
    pytester: pytest.Pytester, run: Runs
) -> None:
    (pytester.path / ".caesar").mkdir()
    (pytester.path / ".caesar" / "config.toml").write_text(
        '[[agent]]\nid = "mine"\nbin = "./cli.sh"\nargs = ["{{prompt}}"]\n'
    )
    run("--caesar-agent=sec", "--caesar-runner=mine").assert_outcomes(passed=1)


def test_the_ini_key_counts_and_its_path_starts_at_the_ini_file(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeini("[pytest]\ncaesar_runner = ./cli.sh {{prompt}}\n")
    monkeypatch.chdir(pytester.mkdir("below"))
    run("--caesar-agent=sec", "--rootdir=..", "-c", "../tox.ini", "..").assert_outcomes(passed=1)


def test_the_command_line_counts_before_the_ini_key(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makeini("[pytest]\ncaesar_runner = ./missing.sh\n")
    run("--caesar-agent=sec", "--caesar-runner=./cli.sh").assert_outcomes(passed=1)


def test_a_definition_without_a_runner_says_how_to_name_one(
    pytester: pytest.Pytester, run: Runs
) -> None:
    result = run("--caesar-agent=sec")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*name the CLI with --caesar-runner=NAME*"])


def test_a_runner_that_there_is_not_is_named(pytester: pytest.Pytester, run: Runs) -> None:
    result = run("--caesar-agent=sec", "--caesar-runner=./missing.sh")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*its runner *missing.sh*"])


def test_a_path_as_a_separate_argument_is_refused(pytester: pytest.Pytester, run: Runs) -> None:
    result = run("--caesar-agent=sec", "--caesar-runner", "./cli.sh")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*write --caesar-runner=./cli.sh"])


def test_the_command_runs_a_definition_too(
    pytester: pytest.Pytester,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    define(repository.path)
    monkeypatch.chdir(repository.path)
    runner = str(pytester.path / "cli.sh")
    assert main(["run", "sec", "Look", "--runner", runner, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["agent"], value["children"]) == ("sec", [])
