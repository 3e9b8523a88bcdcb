"""``--caesar-agent`` and the ini key ``caesar_agent``."""

from __future__ import annotations

import pytest

from tests.pytest_caesar.plugin.running import Runs, agent_script

SHOWS = """
def test_shows(caesar_agent_under_test):
    print(f"agent={caesar_agent_under_test.id}")
"""


def test_the_header_names_the_agent(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(SHOWS)
    result = run("--caesar-agent=./agent.sh", "-rP")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["caesar agent: agent (path)", "agent=agent"])


def test_one_agent_does_not_change_the_ids_of_tests(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(test_it=SHOWS)
    result = run("--caesar-agent=./agent.sh", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["test_it.py::test_shows"])


def test_two_agents_run_every_test_twice(pytester: pytest.Pytester, run_both: Runs) -> None:
    agent_script(pytester)
    agent_script(pytester, "other.sh")
    pytester.makepyfile(test_it=SHOWS)
    result = run_both("--caesar-agent=./agent.sh", "--caesar-agent=./other.sh", "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines_random(
        ["caesar agents: agent (path), other (path)", "*shows?agent?*", "*shows?other?*"]
    )


def test_two_agents_of_one_name_are_told_apart(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.mkdir("other")
    agent_script(pytester, "other/agent.sh")
    pytester.makepyfile(test_it=SHOWS)
    result = run(
        "--caesar-agent=./agent.sh", "--caesar-agent=other/agent.sh", "--collect-only", "-q"
    )
    result.stdout.fnmatch_lines(
        ["test_it.py::test_shows?agent?", "test_it.py::test_shows?agent-2?"]
    )


def test_a_test_that_overrides_the_fixture_runs_once(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    agent_script(pytester, "other.sh")
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.fixture
        def caesar_agent_under_test():
            return "mine"

        def test_mine(caesar_agent_under_test):
            assert caesar_agent_under_test == "mine"

        @pytest.mark.parametrize("caesar_agent_under_test", ["x", "y", "z"])
        def test_parameters(caesar_agent_under_test):
            assert caesar_agent_under_test in "xyz"
        """
    )
    result = run("--caesar-agent=./agent.sh", "--caesar-agent=./other.sh")
    result.assert_outcomes(passed=4)


def test_an_agent_that_is_asked_for_too_late_cannot_be_chosen(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester)
    agent_script(pytester, "other.sh")
    pytester.makepyfile(
        "def test_it(request):\n    request.getfixturevalue('caesar_agent_under_test')\n"
    )
    result = run("--caesar-agent=./agent.sh", "--caesar-agent=./other.sh")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["2 agents are under test (agent, other), and this test does not say which: *"]
    )


def test_a_method_of_unittest_runs_with_one_agent_and_says_so_with_two(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester)
    agent_script(pytester, "other.sh")
    pytester.makepyfile(
        """
        import unittest
        import pytest

        class TestIt(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def given(self, caesar_agent_under_test):
                self.agent = caesar_agent_under_test

            def test_it(self):
                self.assertEqual(self.agent.id, "agent")
        """
    )
    run("--caesar-agent=./agent.sh").assert_outcomes(passed=1)
    result = run("--caesar-agent=./agent.sh", "--caesar-agent=./other.sh")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*is a method of unittest.TestCase, which pytest runs once*"])


def test_a_test_that_needs_an_agent_says_how_to_give_one(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(SHOWS)
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["this test needs an agent under test: give one with --caesar-agent=./agent.sh, *"]
    )


def test_a_fixture_that_uses_the_missing_agent_says_so_too(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def name(caesar_agent_under_test):
            return caesar_agent_under_test.id

        def test_it(name):
            pass
        """
    )
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*this test needs an agent under test: give one with*"])


def test_the_ini_key_counts_where_the_option_is_absent(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester)
    agent_script(pytester, "other.sh")
    pytester.makeini("[pytest]\ncaesar_agent =\n    ./agent.sh\n")
    pytester.makepyfile(test_it=SHOWS)
    run("-rP").stdout.fnmatch_lines(["agent=agent"])
    run("-rP", "--caesar-agent=./other.sh").stdout.fnmatch_lines(["agent=other"])


def test_paths_in_the_ini_file_start_at_its_folder(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_script(pytester)
    pytester.makeini("[pytest]\ncaesar_agent = ./agent.sh\n")
    pytester.makepyfile(test_it=SHOWS)
    folder = pytester.mkdir("below")
    monkeypatch.chdir(folder)
    run("-rP", "..").stdout.fnmatch_lines(["agent=agent"])


def test_an_agent_that_fits_nothing_is_a_usage_error(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(SHOWS)
    result = run("--caesar-agent=./nowhere.sh")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['ERROR: cannot select the agent "./nowhere.sh": *'])


def test_a_path_as_a_separate_argument_is_refused_with_advice(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester)
    result = run("--caesar-agent", "./agent.sh")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            (
                "ERROR: --caesar-agent ./agent.sh: an existing path as a separate argument moves "
                "pytest's rootdir; write --caesar-agent=./agent.sh"
            )
        ]
    )


def test_it_is_refused_in_the_environment_too(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_script(pytester)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--caesar-agent ./agent.sh")
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*; write --caesar-agent=./agent.sh"])


def test_an_empty_agent_is_refused(run: Runs) -> None:
    result = run("--caesar-agent=")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --caesar-agent is empty: expected a script, *"])


def test_without_any_test_it_says_what_to_write(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    result = run("--caesar-agent=./agent.sh")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(
        [
            "no test was collected, so nothing was asked of the agent.*",
            "    def test_it_reports(caesar_orchestrator):",
            "        assert run.succeeded",
        ]
    )


def test_deselected_tests_are_not_no_tests(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(SHOWS)
    result = run("--caesar-agent=./agent.sh", "-k", "nothing")
    result.stdout.no_fnmatch_line("*no test was collected*")
