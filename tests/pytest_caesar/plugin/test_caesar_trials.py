from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.pytest_caesar.plugin.running import Runs

NUMBERED = """
    import pytest

    @pytest.fixture
    def number(request):
        return request.node.callspec.params["_caesar_trial"]
"""


@pytest.fixture
def tests(pytester: pytest.Pytester) -> Path:
    """Write tests whose trials know their number."""
    pytester.makeconftest(NUMBERED)
    return pytester.makepyfile(
        test_rates="""
        import os, pytest

        @pytest.mark.caesar(trials=5, min_rate=0.8)
        def test_good(number):
            assert number != 2, f"number {number}"

        @pytest.mark.caesar(trials=10, min_rate=0.8)
        @pytest.mark.parametrize("kind", ["a"])
        def test_bad(number, kind):
            assert number > 2, f"number {number}"
            assert number != 5

        def test_plain():
            pass
        """
    )


def entries(path: str = "runs.json") -> dict[str, dict[str, object]]:
    found = json.loads(Path(path).read_text())["trials"]
    return {entry["id"]: entry for entry in found}


def test_the_verdict_is_the_test_and_a_failing_trial_is_none(run_both: Runs, tests: Path) -> None:
    result = run_both("--caesar-json=runs.json", "--junit-xml=junit.xml", "-rA")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*test_bad[[]a] *",
            "missed: *",
            "*AssertionError: number * (trials 1, 2)",
            "trials",
            "  test_good *4 of 5 *80 % *min 80 % *met (could be chance)*",
            "  test_bad[[]a] *min 80 % *missed*",
            "FAILED test_rates.py::test_bad[[]a] - missed: *",
        ]
    )
    found = entries()
    assert found["test_rates.py::test_good"]["verdict"] == "met"
    outcomes = found["test_rates.py::test_bad[a]"]["outcomes"]
    assert isinstance(outcomes, dict)
    assert outcomes["1"] == "failure"
    # Of two workers one may be so late that the third is not needed any more.
    late = {"stopped"} if "2/2 workers" in result.stdout.str() else set()
    assert outcomes["3"] in {"success"} | late
    cases = {case.get("name"): case for case in ET.parse("junit.xml").iter("testcase")}
    assert [name for name, case in cases.items() if case.find("failure") is not None] == [
        "test_bad[a]"
    ]
    assert "test_good" in cases
    assert "test_good[trial02]" in cases


def test_failed_trials_are_run_again_with_all_of_their_test(
    pytester: pytest.Pytester, tests: Path
) -> None:
    pytester.runpytest_inprocess("-p", "no:randomly", "-k", "bad or plain")
    again = pytester.runpytest_inprocess("-p", "no:randomly", "--lf", "--collect-only", "-q")
    again.stdout.fnmatch_lines(
        [
            "test_rates.py::test_bad[[]a-trial01]",
            "test_rates.py::test_bad[[]a-trial10]",
            "10*tests*",
        ]
    )


def test_the_first_missed_verdict_stops_a_session_that_is_asked_to(
    run_both: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makeconftest(NUMBERED)
    pytester.makepyfile(
        test_x="""
        import pytest

        @pytest.mark.caesar(trials=3, min_rate=0.9)
        def test_first(number):
            assert number > 1

        @pytest.mark.caesar(trials=200, min_rate=0.01, stop=False)
        def test_then(number): pass
        """
    )
    result = run_both("-x")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["FAILED *test_first - missed: *", "*stopping after 1 failures*"])
    assert result.parseoutcomes()["failed"] == 1
    assert result.parseoutcomes().get("passed", 0) < 200


def test_fewer_trials_than_asked_for_are_ordinary_tests(run: Runs, tests: Path) -> None:
    result = run("-k", "trial02", "-rf")
    result.stdout.fnmatch_lines(["FAILED test_rates.py::test_good[[]trial02] - *number 2*"])
    result.stdout.no_fnmatch_line("trials")
    result.assert_outcomes(failed=2, deselected=14)


def test_trials_in_declared_shards_wait_for_the_others(run: Runs, tests: Path) -> None:
    result = run(
        "-k", "good and (trial01 or trial02)", "-o", "caesar_shard=1/2", "--caesar-json=runs.json"
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  test_good *1 of 2 *pending, 3 in other shards*"])
    assert entries()["test_rates.py::test_good"]["outcomes"] == {"1": "success", "2": "failure"}


def test_reruns_never_apply_to_a_trial(run: Runs, tests: Path) -> None:
    result = run("--reruns", "2", "-k", "good")
    assert "rerun" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(["  test_good *4 of 5 *met*"])


def test_a_trial_whose_worker_died_makes_the_test_incomplete(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makeconftest(NUMBERED)
    pytester.makepyfile(
        test_x="""
        import os, pytest

        @pytest.mark.caesar(trials=4, min_rate=0.5, stop=False)
        def test_it(number):
            if number == 2:
                os._exit(3)
        """
    )
    # syrupy 6.1 warns of what the dead worker did not tell it.
    result = run("-n", "1", "--caesar-json=runs.json", "-W", "ignore:syrupy")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["  test_it *3 of 3 *incomplete, 1 never ran*"])
    assert entries()["test_x.py::test_it"]["missing"] == 1


def test_errors_of_the_harness_are_told_and_counted_in_no_rate(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makeconftest(NUMBERED)
    pytester.makepyfile(
        test_x="""
        import errno, pytest
        from caesar_agent.errors import CaesarError

        @pytest.fixture
        def flaky(number):
            if number == 1:
                raise RuntimeError("no database")
            yield
            if number == 2:
                raise RuntimeError("not put away")

        @pytest.mark.caesar(trials=10, min_rate=1)
        def test_few(flaky): pass

        @pytest.mark.caesar(trials=4, min_rate=0.5, stop=False)
        def test_many(number):
            if number == 1:
                raise OSError(errno.ENOSPC, "disk full")
            if number == 2:
                raise CaesarError(text="cannot be started")
            if number == 3:
                raise CaesarError(text="cannot be started")

        @pytest.mark.caesar(trials=4)
        def test_none(number):
            pytest.skip("not here")
        """
    )
    result = run("-rfs")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "  test_few *8 of 8 *100 % *met (could be chance), 2 errors of the harness*",
            "    1 * error of the harness, RuntimeError: no database (trial 1)",
            "  test_many *1 of 1 *error, 3 errors of the harness*",
            "  test_none *none counted *skipped, 4 skipped*",
            "FAILED *test_many - error: 1 of 1, *",
        ]
    )
    assert result.parseoutcomes()["failed"] == 1


def test_a_verdict_that_is_not_sure_fails_unless_it_may_be_skipped(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makeconftest(NUMBERED)
    pytester.makepyfile(
        test_x="""
        import pytest

        @pytest.mark.caesar(trials=25, min_rate=0.8, confidence=0.95)
        class TestSure:
            def test_fails(self, number):
                assert number % 6

            @pytest.mark.caesar(undecided="skip")
            def test_skips(self, number):
                assert number % 6

            def test_met(self): pass
        """
    )
    result = run("-rfs")
    result.stdout.fnmatch_lines(
        [
            "  TestSure::test_fails *21 of 25 *min 80 % at 95 % *undecided *",
            "  TestSure::test_skips *undecided *",
            "  TestSure::test_met *20 of 20 *met after 20, 5 not needed*",
            "FAILED *test_fails - undecided: *",
            "SKIPPED * undecided: 21 of 25*",
        ]
    )


def test_every_test_that_delegates_is_repeated_when_the_command_line_says_so(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        test_x="""
        def test_delegates(caesar_orchestrator, caesar_fake_agent):
            agent = caesar_fake_agent(caesar_fake_agent.report())
            caesar_orchestrator.delegate("Do it", agent=agent)

        def test_other(): pass
        """
    )
    result = run("--caesar-trials=3")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["3 runs: *", "  test_delegates *3 of 3 *100 % *"])
    run("--caesar-trials=1").assert_outcomes(passed=2)
    assert run("--caesar-trials=0").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("marker", "problem"),
    [
        ("trials=1", "*has trials=1, expected a whole number from 2 to 10000"),
        ("trials=5, min_rate=80", "*has min_rate=80, expected a rate above 0 and at most 1*"),
        ("trials=5, confidence=95", "*has confidence=95, expected a number from 0.5 up*"),
        ("trials=5, confidence=0.9", "*has a confidence and no min_rate to be sure of"),
        ("trials=5, undecided='pass'", "*has undecided='pass', expected 'fail' or 'skip'"),
        ("trials=19, min_rate=0.8, confidence=0.95", "*19 trials can never meet*that takes 20"),
    ],
)
def test_a_marker_that_cannot_be_met_is_refused_where_it_is_collected(
    run: Runs, pytester: pytest.Pytester, marker: str, problem: str
) -> None:
    pytester.makepyfile(f"import pytest\n@pytest.mark.caesar({marker})\ndef test_it(): pass")
    result = run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([problem])


def test_trials_of_a_unittest_method_are_refused_by_name(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        test_old="""
        import pytest, unittest

        @pytest.mark.caesar(trials=3)
        class TestOld(unittest.TestCase):
            def test_it(self): pass
        """
    )
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: test_old.py::TestOld::test_it: a method of unittest*"])


def test_a_snapshot_is_one_for_a_test_and_never_one_for_a_trial(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        test_seen="""
        import pytest

        @pytest.mark.caesar(trials=2)
        def test_it(caesar_orchestrator, caesar_fake_agent, caesar_snapshot):
            agent = caesar_fake_agent(caesar_fake_agent.report())
            assert caesar_orchestrator.delegate("Do it", agent=agent).report == caesar_snapshot
        """
    )
    run("--snapshot-update")
    names = [path.name for path in Path("__caesar__").rglob("*.json")]
    assert names == ["test_it.report.json"]
    result = run()
    result.stdout.fnmatch_lines(["  test_it *2 of 2 *"])
    result.stdout.no_fnmatch_line("*unused*")
