"""The plugin beside other plugins, and beside itself."""

from __future__ import annotations

import json
import sys

import pytest

from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import Runs, agent_script

USES = "def test_it(caesar_clock):\n    assert caesar_clock().year == 2026\n"


def test_it_may_be_named_beside_its_entry_point(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(USES)
    run("-p", "pytest_caesar.plugin").assert_outcomes(passed=1)
    run("-p", "caesar").assert_outcomes(passed=1)
    pytester.makeconftest('pytest_plugins = ["pytest_caesar.plugin"]\nimport caesar_agent\n')
    run().assert_outcomes(passed=1)


def test_it_works_without_its_entry_point(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(USES)
    pytester.runpytest_inprocess("-p", "pytest_caesar.plugin").assert_outcomes(passed=1)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_a_session_without_a_terminal_tells_failures_in_its_files(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    agent_script(pytester)
    pytester.makepyfile(
        """
        def test_good(caesar_orchestrator):
            assert caesar_orchestrator.delegate("Work").succeeded

        def test_bad(caesar_orchestrator, caesar_snapshot):
            assert caesar_orchestrator.delegate("Work") == caesar_snapshot

        def test_refused(caesar_orchestrator):
            caesar_orchestrator.delegate("Work", mode="both")
        """
    )
    result = pytester.runpytest_subprocess(
        *("-p", "no:terminal", "-p", "no:randomly", "-p", "no:cacheprovider", *workers),
        *("--caesar-agent=./agent.sh", "--caesar-json=runs.json", "--junitxml=junit.xml"),
        timeout=60,
    )
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert len(json.loads((pytester.path / "runs.json").read_text())["runs"]) == 2
    assert 'tests="3"' in (pytester.path / "junit.xml").read_text()


def test_an_agent_ends_before_its_test_is_ended(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.timeout(5, func_only=True)
        def test_it(caesar_orchestrator, caesar_fake_agent):
            agent = caesar_fake_agent(caesar_fake_agent.hang())
            run = caesar_orchestrator.delegate("Work", agent=agent)
            assert run.outcome.timed_out
            assert run.task.deadline_ms < 5000
        """
    )
    run().assert_outcomes(passed=1)


def test_a_rerun_starts_afresh(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        from pathlib import Path

        def test_it(caesar_orchestrator, caesar_fake_agent):
            flag = Path(__file__).with_name("again")
            first = not flag.exists()
            flag.touch()
            fake = caesar_fake_agent
            run = caesar_orchestrator.delegate("Work", agent=fake(fake.report()))
            assert run.task.id == "t_0001"
            assert len(caesar_orchestrator.runs) == 1
            assert not first
        """
    )
    result = run("--reruns", "1", "--junitxml=junit.xml", "--caesar-json=runs.json")
    result.stdout.fnmatch_lines(["2 runs: 2 success (2 file)", "*1 passed, 1 rerun*"])
    assert (pytester.path / "junit.xml").read_text().count("caesar.run") == 2
    runs = json.loads((pytester.path / "runs.json").read_text())["runs"]
    told = [(one["execution"], one["number"], one["test_outcome"]) for one in runs]
    assert told == [(1, 1, "rerun"), (2, 1, "passed")]


def test_a_test_run_inside_an_agent_is_not_disturbed(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")
    monkeypatch.setenv("OUTER", "1")
    pytester.makeconftest("import os\nassert os.environ['OUTER'], 'the outer conftest is loaded'\n")
    pytester.makepyfile(
        f"""
        def test_it(caesar_repo, caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            caesar_repo.commit({{"test_inner.py": "def test_inner(): pass\\n"}})
            agent = fake(
                fake.run({sys.executable!r}, "-m", "pytest", "-p", "no:cacheprovider", "-v"),
                fake.report(),
            )
            run = caesar_orchestrator.delegate("Test", agent=agent)
            assert b"test_inner.py::test_inner PASSED" in run.raw_log
            assert run.succeeded
        """
    )
    run().assert_outcomes(passed=1)


def test_runs_do_not_outlive_their_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(
        """
        import gc

        def pytest_sessionfinish():
            from pytest_caesar import Run

            gc.collect()
            print("left:", sum(isinstance(thing, Run) for thing in gc.get_objects()))
        """
    )
    pytester.makepyfile(
        """
        def test_it(caesar_orchestrator, caesar_fake_agent, caesar_snapshot):
            fake = caesar_fake_agent
            run = caesar_orchestrator.delegate("Work", agent=fake(fake.report()))
            assert run == caesar_snapshot
        """
    )
    result = pytester.runpytest_subprocess("--snapshot-update", "-s")  # pytester keeps what it sees
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*left: 0"])


def test_subtests_and_unittest_are_tests_too(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        import unittest

        import pytest

        class TestCase(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def use(self, caesar_orchestrator, caesar_fake_agent):
                fake = caesar_fake_agent
                self.run_ = caesar_orchestrator.delegate("Work", agent=fake(fake.report()))

            def test_it(self):
                self.assertTrue(self.run_.succeeded)

        def test_sub(subtests, caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            for number in range(2):
                with subtests.test(number=number):
                    run = caesar_orchestrator.delegate("Work", agent=fake(fake.report()))
                    assert number == 0
        """
    )
    result = run()
    result.stdout.fnmatch_lines(
        [
            "*- caesar run t_0002: success (source: file) -*",
            "3 runs: 3 success (3 file)",
        ]
    )


def test_what_a_test_fakes_or_removes_is_not_the_harnesss(
    pytester: pytest.Pytester, run: Runs
) -> None:
    """Processes are faked before our fixtures are made; the folder of the session goes."""
    pytester.makepyfile(
        """
        import subprocess
        import pytest

        class Fake:
            returncode = 0
            def __init__(self, *args, **more): pass
            def communicate(self, *args): return (b"", b"")
            def wait(self, *args): return 0

        @pytest.fixture
        def faked(monkeypatch):
            monkeypatch.setattr(subprocess, "Popen", Fake)

        def test_faked(faked, caesar_repo, caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            caesar_repo.commit({"a.txt": "a\\n"})
            agent = fake(fake.write("b.txt", "b\\n"), fake.report("success", "Done."))
            run = caesar_orchestrator.delegate("Work.", agent=agent)
            assert [change.path for change in run.changes] == ["b.txt"]

        def test_removed(tmp_path, monkeypatch, caesar_orchestrator, caesar_fake_agent):
            (tmp_path / "gone").mkdir()
            monkeypatch.chdir(tmp_path / "gone")
            (tmp_path / "gone").rmdir()
            fake = caesar_fake_agent
            agent = fake(fake.report("success", "Done."))
            assert caesar_orchestrator.delegate("Work.", agent=agent).report.status == "success"
        """
    )
    run().assert_outcomes(passed=2)


def test_where_sockets_are_forbidden_the_harness_has_its_own_and_an_agent_has_none(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import socket

        async def main(agent):
            try:
                socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            except RuntimeError as error:
                return agent.success(type(error).__name__)

        def test_it(caesar_orchestrator, caesar_answers, caesar_programs, caesar_model,
                    caesar_fake_agent, request):
            fake = caesar_fake_agent
            caesar_answers.on("Q", "yes")
            agent = fake(fake.ask("Q?"), fake.report())
            assert caesar_orchestrator.delegate("Ask", agent=agent).succeeded
            name = f"{request.module.__name__}:main"
            assert caesar_orchestrator.delegate("Do it", agent=name).summary == "SocketBlockedError"
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:randomly", "--disable-socket", "-W", "ignore")
    result.assert_outcomes(passed=1)
