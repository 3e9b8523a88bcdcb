from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pytest_caesar.plugin.running import Runs


def test_trials_of_one_test_run_side_by_side_each_on_its_own_copy(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        test_x="""
        def test_rate(caesar_repo, caesar_trials, caesar_answers, caesar_fake_agent, tmp_path):
            caesar_repo.commit({"a.txt": "a"})
            caesar_answers.on("Go on?", "yes", times=1)
            fake = caesar_fake_agent
            here, all_here = str(tmp_path / "here"), str(tmp_path / "here" / "3")
            agent = fake(
                # Each waits until three of them work at once.
                fake.run("sh", "-c", f'mkdir -p {here}; n=1; until mkdir {here}/$n 2>/dev/null; '
                         'do n=$((n+1)); done'),
                fake.wait_for(all_here, timeout=60),
                fake.ask("Go on?"),
                fake.write("b.txt", "b"),
                fake.sometimes(0.5, fake.report(), otherwise=[fake.report("failed")], seed=1),
            )
            trials = caesar_trials("Try", n=6, agent=agent)

            assert [one.task.id for one in trials] == [f"t_000{n}" for n in range(1, 7)]
            assert len({one.workspace for one in trials}) == 6
            assert caesar_repo.git("status", "--short") == ""
            rate = trials.rate(lambda run: run.succeeded)
            assert 0 < rate < 1 and rate == rate.successes / 6
            assert len(trials.failures(lambda run: run.succeeded)) == 6 - rate.successes
            assert rate >= 0.99
        """
    )
    result = run("--caesar-jobs=3", "--caesar-json=runs.json")
    result.stdout.fnmatch_lines(
        [
            "E*assert <Rate: * of 6, * 3 of 3: *failed from file, process succeeded: Done.*> >= 0.99",
            "6 runs: *",
            "  test_rate (fake) * of 6 *",
        ]
    )
    document = json.loads(Path("runs.json").read_text())
    (entry,) = document["trials"]
    assert (entry["id"], entry["agent"], entry["counted"]) == ("test_x.py::test_rate", "fake", 6)
    assert len(document["runs"]) == 6


def test_functions_of_this_process_are_called_one_at_a_time(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        agent="""
        import threading
        busy = threading.Lock()

        def main(agent):
            assert busy.acquire(blocking=False)
            try:
                return agent.success("Done.")
            finally:
                busy.release()
        """,
        test_x="""
        def test_rate(caesar_trials):
            trials = caesar_trials("Try", n=3)
            assert trials.rate(lambda run: run.succeeded) == 1
            assert trials.rate(lambda run: run.changes) == 0
        """,
    )
    result = run("--caesar-agent=agent:main", "--caesar-jobs=3")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["  test_rate (agent) *3 of 3 *100 %*", "  test_rate #2 (agent) *0 of 3 *0 %*"]
    )


def test_trials_that_cannot_be_carried_out_are_errors_and_no_failures(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        test_x="""
        import pytest, shutil
        from pytest_caesar.trials.many import TrialsError

        def test_rate(caesar_repo, caesar_trials, caesar_fake_agent, tmp_path, monkeypatch):
            fake = caesar_fake_agent
            copy = shutil.copytree

            def copytree(*arguments, **options):
                if str(arguments[1]).endswith(("trials/02", "trials/03")):
                    raise OSError("no space left")
                return copy(*arguments, **options)

            monkeypatch.setattr(shutil, "copytree", copytree)
            few = caesar_trials("Try", n=3, agent=fake(fake.report()))
            with pytest.raises(TrialsError, match="2 of 3 trials were errors.*no space left"):
                few.rate(lambda run: run.succeeded)
            assert caesar_trials("Try", n=4, agent=fake(fake.report())).rate(bool) == 1
        """
    )
    result = run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 of 1*error, 2 errors of the harness*"])


def test_what_a_test_started_and_did_not_wait_for_is_cancelled_and_in_its_report(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        test_x="""
        def test_it(caesar_orchestrator, caesar_fake_agent, tmp_path):
            fake = caesar_fake_agent
            started = tmp_path / "started"
            agent = fake(fake.run("touch", str(started)), fake.hang())
            caesar_orchestrator.start("Hang", agent=agent)
            while not started.exists():
                pass
        """
    )
    result = run("--caesar-json=runs.json")
    result.assert_outcomes(passed=1)
    (entry,) = json.loads(Path("runs.json").read_text())["runs"]
    assert entry["process"] == "cancelled"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--caesar-jobs=0",), "*--caesar-jobs=0: expected a number from 1 to 10000"),
        (("-o", "caesar_jobs=many"), "*caesar_jobs* = many: expected a number from 1 to 10000"),
    ],
)
def test_a_number_of_jobs_that_is_none_is_refused(
    run: Runs, pytester: pytest.Pytester, arguments: tuple[str, ...], problem: str
) -> None:
    pytester.makepyfile("def test_it(): pass")
    result = run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([problem])
