"""The failures a user is most likely to see: each names the cause, and none shows our insides."""

from __future__ import annotations

import pytest

from tests.pytest_caesar.plugin.running import Runs

START = """
import pytest

@pytest.fixture
def delegate(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "a\\n"})

    def delegates(*steps, objective="Work", **wishes):
        return caesar_orchestrator.delegate(
            objective, agent=caesar_fake_agent(*steps), **wishes
        )

    return delegates

def test_it(delegate, caesar_fake_agent):
    fake = caesar_fake_agent
"""


def failure(pytester: pytest.Pytester, run: Runs, body: str, *options: str) -> list[str]:
    """Return the lines of the explanation of a failing test."""
    pytester.makepyfile(START + "".join(f"    {line}\n" for line in body.splitlines()))
    result = run(*options)
    result.assert_outcomes(failed=1)
    return [line[2:].strip() for line in result.outlines if line.startswith("E ")]


def test_a_refusal_is_shown_where_the_test_asked_for_it(
    pytester: pytest.Pytester, run: Runs
) -> None:
    lines = failure(pytester, run, "delegate(fake.report(), objective=' ')")
    assert lines == [
        (
            "pytest_caesar.orchestrator.plan.DelegationError: the objective is empty: "
            "say in a sentence what the agent is to do"
        )
    ]


def test_the_insides_are_shown_when_asked_for(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(START + "    delegate(fake.report(), objective=' ')\n")
    run().stdout.no_fnmatch_line("*orchestrator/plan.py*")
    run("--full-trace").stdout.fnmatch_lines(["*orchestrator/plan.py*DelegationError"])


def test_an_error_of_the_test_itself_keeps_its_frames(pytester: pytest.Pytester, run: Runs) -> None:
    lines = failure(pytester, run, "delegate(fake.report(), objective=undefined)")
    assert lines == ["NameError: name 'undefined' is not defined"]


def test_undeclared_changes_are_listed(pytester: pytest.Pytester, run: Runs) -> None:
    body = "run = delegate(fake.write('b', ''), fake.report(changes=[]))\n"
    lines = failure(pytester, run, body + "assert run.reconciliation.undeclared == ()")
    assert lines == [
        "assert 1 entry == 0 entries:",
        "only in the first: b: git shows created, not declared  [undeclared]",
    ]


def test_unexpected_diagnostics_are_listed(pytester: pytest.Pytester, run: Runs) -> None:
    body = "run = delegate(fake.write('b', ''), fake.report(changes=[]))\n"
    lines = failure(pytester, run, body + "assert run.diagnostics == ()")
    assert lines[1].startswith("only in the first: undeclared-change: ")


def test_two_reports_differ_by_field(pytester: pytest.Pytester, run: Runs) -> None:
    body = "one, two = delegate(fake.report()), delegate(fake.report('failed'))\n"
    lines = failure(pytester, run, body + "assert one.report == two.report")
    assert lines == [
        "AssertionError: assert the first report == the second one, which differ:",
        "status: 'success' is not 'failed'",
        "task_id: 't_0001' is not 't_0002'",
    ]


def test_two_runs_differ_by_what_they_did(pytester: pytest.Pytester, run: Runs) -> None:
    body = "one, two = delegate(fake.write('b'), fake.report()), delegate(fake.report())\n"
    lines = failure(pytester, run, body + "assert one == two")
    assert lines == [
        "assert run t_0001 == run t_0002, which differ:",
        "only in t_0001: b: created, as declared",
    ]


def test_two_patches_differ_by_line(pytester: pytest.Pytester, run: Runs) -> None:
    body = "run = delegate(fake.write('a.txt', 'b\\n'), fake.report())\n"
    lines = failure(pytester, run, body + "assert run.patch == run.patch.replace(b'+b', b'+c')")
    assert "- +b" in lines
    assert "+ +c" in lines


def test_a_report_that_is_no_json_is_named_where_the_source_is_asked_for(
    pytester: pytest.Pytester, run: Runs
) -> None:
    body = 'run = delegate(fake.report_bytes(\'{"status": "success",}\'))\n'
    lines = failure(pytester, run, body + "assert run.source == 'file'")
    assert any(
        line.startswith("report-file-invalid: report.json is not a report") for line in lines
    )
    assert lines[-1].startswith("task directory: ")


def test_a_test_that_fails_in_its_set_up_shows_its_runs_too(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def ran(caesar_orchestrator, caesar_fake_agent):
            fake = caesar_fake_agent
            return caesar_orchestrator.delegate("Work", agent=fake(fake.exit(9))).status.nothing

        def test_it(ran):
            pass
        """
    )
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*caesar run t_0001: failed (source: synthesized)*"])


def test_a_fixture_that_cannot_be_made_is_one_frame(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def no_git(monkeypatch):
            monkeypatch.setenv("PATH", "/nowhere")

        def test_it(no_git, caesar_repo):
            caesar_repo.git("status")
        """
    )
    result = run()
    result.stdout.fnmatch_lines(["E *GitError: git could not be started *"])
    result.stdout.no_fnmatch_line("*workspace/git.py*")
    assert "_pytest/fixtures.py" not in result.stdout.str()
