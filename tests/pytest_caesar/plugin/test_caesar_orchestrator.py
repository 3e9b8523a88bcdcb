"""The fixture ``caesar_orchestrator``: delegations of a test, told in its report."""

from __future__ import annotations

import re

import pytest

from tests.pytest_caesar.plugin.running import Runs, agent_script

FAILS = r"""
def test_fails(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    fake = caesar_fake_agent
    caesar_repo.commit({"src/a.py": "x = 1\n", "b.txt": "b\n"})
    agent = fake(
        fake.print("first \x1b[2J line\n"),
        fake.print(b"\xff\xfe last line\n"),
        fake.event("progress", message="half way"),
        fake.delete("src/a.py"),
        fake.write("c.txt", "c\n"),
        fake.report(
            "failed", "Could not do it.", changes=["src/a.py", ("nowhere.txt", "created")]
        ),
        fake.exit(3),
    )
    run = caesar_orchestrator.delegate("Fix the parser", agent=agent)
    assert run.succeeded
"""


def test_an_agent_is_tested_in_three_lines(pytester: pytest.Pytester, run: Runs) -> None:
    agent_script(pytester)
    pytester.makepyfile(
        """
        def test_it(caesar_orchestrator):
            run = caesar_orchestrator.delegate("Say hello")
            assert run.succeeded
            assert run.source == "file"
            assert run.task.id == "t_0001"
            assert run.report.summary == "Said hello."
        """
    )
    result = run("--caesar-agent=./agent.sh")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 run: 1 success (1 file)"])


def test_a_failing_test_shows_what_became_of_its_runs(
    pytester: pytest.Pytester, run_both: Runs
) -> None:
    pytester.makepyfile(FAILS)
    result = run_both()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*failed, says its report: Could not do it. (assert run.succeeded, t_0001)",
            "*- caesar run t_0001: failed (source: file) -*",
            "agent:          fake",
            "objective:      Fix the parser",
            "summary:        Could not do it.",
            "process:        failed, exit code 3, * ms",
            "changes (verified by git):",
            "  c.txt: git shows created, not declared  [[]undeclared[]]",
            "  nowhere.txt: declared created, git shows no change  [[]phantom[]]",
            "  src/a.py: declared modified, git shows deleted  [[]wrong action[]]",
            "diagnostics:",
            "  *undeclared*c.txt*",
            "events:",
            "  * progress message=half way",
            "raw.log:",
            r"  | first \x1b[[]2J line",
            r"  | \xff\xfe last line",
            "task directory: *t_0001",
            "1 run: 1 failed (1 file)",
            "processes that did not succeed: 1 failed",
        ]
    )
    assert "\x1b[2J" not in result.stdout.str()


def test_a_test_that_passes_shows_nothing(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(FAILS.replace("assert run.succeeded", "assert not run.succeeded"))
    result = run("-rA")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*caesar run t_0001*")


def test_of_many_runs_the_last_three_are_shown_in_full(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(
        """
        def test_it(caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            agent = fake(fake.report("blocked", "Cannot."))
            for number in range(5):
                caesar_orchestrator.delegate(f"Try {number}", agent=agent)
            assert False
        """
    )
    result = run()
    text = result.stdout.str()
    assert text.count("caesar run t_") == 5
    assert re.findall("objective: +Try ([0-9])", text) == ["2", "3", "4"]
    result.stdout.fnmatch_lines(["5 runs: 5 blocked (5 file)"])


def test_a_status_explains_itself(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        def test_status(caesar_orchestrator, caesar_fake_agent):
            run = caesar_orchestrator.delegate("Try", agent=caesar_fake_agent())
            assert run.status == "success"

        def test_source(caesar_orchestrator, caesar_fake_agent):
            run = caesar_orchestrator.delegate("Try", agent=caesar_fake_agent())
            assert run.source == "flie"
        """
    )
    result = run()
    result.stdout.fnmatch_lines(
        [
            "E*failed: no file at $CAESAR_REPORT_PATH (assert run.status == *, t_0001)",
            "E*summary: *",
            "E*process: succeeded, exit code 0, * ms",
            "E*task directory: *t_0001",
            "E*'flie' is no source: channel, schema, file, extracted, synthesized; it is 'synthesized'*",
        ]
    )


def test_a_read_only_task_that_wrote_fails_its_test(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        import pytest

        def delegate(repo, orchestrator, fake):
            repo.commit({"a.txt": "a"})
            agent = fake(fake.write("a.txt", "b"), fake.report())
            return orchestrator.delegate("Look", agent=agent, mode="read-only")

        def test_fails(caesar_repo, caesar_orchestrator, caesar_fake_agent):
            delegate(caesar_repo, caesar_orchestrator, caesar_fake_agent)

        @pytest.mark.caesar(allow=["read-only-violation"])
        def test_allowed(caesar_repo, caesar_orchestrator, caesar_fake_agent):
            run = delegate(caesar_repo, caesar_orchestrator, caesar_fake_agent)
            assert "read-only-violation" in run.codes

        @pytest.mark.xfail(strict=True)
        def test_expected(caesar_repo, caesar_orchestrator, caesar_fake_agent):
            delegate(caesar_repo, caesar_orchestrator, caesar_fake_agent)
        """
    )
    result = run()
    result.assert_outcomes(failed=1, passed=1, xfailed=1)
    result.stdout.fnmatch_lines(
        [
            "read-only-violation in t_0001: *",
            "the test itself passed; this fails it",
            "where it is meant: @pytest.mark.caesar(allow=[[]'read-only-violation'[]])",
            "task directory: *t_0001",
        ]
    )


def test_a_read_only_task_that_cannot_be_verified_fails_its_test(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(
        vanishing="""
        import shutil

        def vanish(agent):
            shutil.rmtree(agent.task.workspace)
            return agent.success("looked")
        """
    )
    pytester.makepyfile(
        """
        import pytest

        def delegate(repo, orchestrator, **changes):
            repo.commit({"a.txt": "a"})
            agent = "vanishing:vanish"
            return orchestrator.delegate("Look", agent=agent, isolation="worktree", **changes)

        def test_fails(caesar_repo, caesar_orchestrator):
            delegate(caesar_repo, caesar_orchestrator, mode="read-only")

        @pytest.mark.caesar(allow=["workspace-unverified"])
        def test_allowed(caesar_repo, caesar_orchestrator):
            run = delegate(caesar_repo, caesar_orchestrator, mode="read-only")
            assert "workspace-unverified" in run.codes

        def test_may_write(caesar_repo, caesar_orchestrator):
            delegate(caesar_repo, caesar_orchestrator)
        """
    )
    result = run()
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(
        ["workspace-unverified in t_0001: *", "the test itself passed; this fails it"]
    )


def test_no_agent_at_all_says_how_to_give_one(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        "def test_it(caesar_orchestrator):\n    caesar_orchestrator.delegate('Do it')\n"
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*no agent to delegate to: *; under pytest with --caesar-agent=./agent.sh"]
    )
    assert "raised in repr" not in result.stdout.str()


def test_names_of_agents_are_looked_up_in_the_project_under_test(
    pytester: pytest.Pytester, run: Runs
) -> None:
    agent_script(pytester)
    (pytester.path / ".caesar").mkdir()
    (pytester.path / ".caesar" / "config.toml").write_text(
        '[[agent]]\nid = "greeter"\nbin = "./agent.sh"\nargs = ["{{prompt}}"]\n'
    )
    pytester.makepyfile(
        """
        def test_it(caesar_orchestrator):
            assert caesar_orchestrator.delegate("Say", agent="greeter").task.agent == "greeter"
        """
    )
    run().assert_outcomes(passed=1)


def test_the_clock_tells_the_time_of_documents(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        def test_it(caesar_orchestrator, caesar_fake_agent, caesar_clock):
            fake = caesar_fake_agent
            caesar_clock.set("2031-02-03T04:05:06Z")
            run = caesar_orchestrator.delegate("Do it", agent=fake(fake.report()))
            assert run.task.created_at == "2031-02-03T04:05:06.000Z"
        """
    )
    run().assert_outcomes(passed=1)


def test_an_agent_in_this_process_sees_the_clock_too(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        my_agent="""
        import datetime

        def main(agent):
            return agent.success(str(datetime.datetime.now(datetime.timezone.utc).year))
        """
    )
    pytester.makepyfile(
        test_it="""
        import datetime

        def test_it(caesar_orchestrator, caesar_clock):
            caesar_clock.set("2031-02-03T04:05:06Z")
            run = caesar_orchestrator.delegate("Do it")
            assert run.report.summary == "2031"
            assert {event.at for event in run.events} == {"2031-02-03T04:05:06.000Z"}
            assert datetime.datetime.now(datetime.timezone.utc).year != 2031
        """
    )
    run("--caesar-agent=my_agent:main").assert_outcomes(passed=1)


def test_an_overridden_agent_is_delegated_to(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def caesar_agent_under_test(caesar_fake_agent):
            return caesar_fake_agent(caesar_fake_agent.report("success", "Mine."), id="mine")

        def test_it(caesar_orchestrator):
            run = caesar_orchestrator.delegate("Do it")
            assert run.task.agent == "mine"
        """
    )
    run().assert_outcomes(passed=1)


def test_what_an_agent_prints_late_reaches_no_later_test(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(
        """
        def test_first(caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            late = fake.leave(fake.sleep(0.2), fake.print("LATE"))
            caesar_orchestrator.delegate("Do it", agent=fake(late, fake.report()))

        def test_second(capfd):
            assert capfd.readouterr().out == ""
        """
    )
    run("-s").stdout.no_fnmatch_line("*LATE*")
    run().assert_outcomes(passed=2)
