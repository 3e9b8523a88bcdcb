"""caesar_mutations: a lie added to a true run is seen by whoever looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.conformance.mutations import Mutations
from pytest_caesar.fake_agent.agent import FakeAgents, Step
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.plugin.running import Runs


def a_run(folder: Path, *steps: Step) -> Run:
    repository = Repository.create(folder / "repo")
    repository.commit({"a.txt": "a\n"})
    agent = FakeAgents(folder / "agents")(*steps)
    return Orchestrator(agent, project=repository.path).delegate("Change a")


@pytest.fixture
def true_run(tmp_path: Path) -> Run:
    return a_run(tmp_path, FakeAgents.write("a.txt", "b\n"), FakeAgents.report())


def test_each_lie_is_what_its_name_says(true_run: Run) -> None:
    told = {mutation.name: mutation.run for mutation in Mutations()(true_run)}

    assert list(told) == [
        "over-claimed", "under-claimed", "wrong-action", "wrong-task", "wrong-status",
    ]  # fmt: skip
    assert [one.path for one in told["over-claimed"].reconciliation.phantom] == [
        "src/never_touched.py"
    ]
    assert [one.path for one in told["under-claimed"].reconciliation.undeclared] == ["a.txt"]
    assert [one.path for one in told["wrong-action"].reconciliation.wrong_action] == ["a.txt"]
    assert told["wrong-task"].source == "synthesized"
    assert "report-of-another-task" in told["wrong-task"].codes
    assert told["wrong-status"].status == "failed"
    assert true_run.reconciliation.matched
    assert true_run.succeeded


def test_what_is_observed_stays_as_it_is(true_run: Run) -> None:
    for mutation in Mutations()(true_run):
        assert mutation.run.changes == true_run.changes
        assert mutation.run.patch == true_run.patch
        assert mutation.lie


def test_a_check_hears_which_lies_it_lets_pass(true_run: Run) -> None:
    def careless(run: Run) -> None:
        assert run.succeeded

    def careful(run: Run) -> None:
        assert run.succeeded
        assert run.diagnostics == ()

    assert Mutations().unnoticed(true_run, careful) == ()
    assert Mutations().unnoticed(true_run, careless) == (
        "over-claimed", "under-claimed", "wrong-action",
    )  # fmt: skip


def test_a_check_must_like_the_truth(true_run: Run) -> None:
    def wrong(run: Run) -> None:
        raise AssertionError("never content")

    with pytest.raises(AssertionError, match="never content"):
        Mutations().unnoticed(true_run, wrong)


def test_what_is_not_declared_cannot_be_left_out(tmp_path: Path) -> None:
    run = a_run(tmp_path, FakeAgents.report(changes=[]))

    assert [one.name for one in Mutations()(run)] == ["over-claimed", "wrong-task", "wrong-status"]


def test_of_no_report_no_lie_is_told(tmp_path: Path) -> None:
    run = a_run(tmp_path, FakeAgents.exit(1))

    with pytest.raises(ValueError, match="has no report of the agent"):
        Mutations()(run)


def test_the_fixture_and_the_coverage_of_the_contract(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        """
        def test_it(caesar_repo, caesar_orchestrator, caesar_fake_agent, caesar_mutations):
            caesar_repo.commit({"a.txt": ""})
            fake = caesar_fake_agent
            agent = fake(fake.write("b.txt"), fake.report())
            run = caesar_orchestrator.delegate("x", agent=agent)
            assert caesar_mutations.unnoticed(run, lambda run: None)
            caesar_orchestrator.delegate("x", agent=fake(fake.report()), mode="read-only")
        """
    )

    loud = run("-v", "-n", "2")
    quiet = run()

    loud.assert_outcomes(passed=1)
    loud.stdout.fnmatch_lines(
        ["contract: * of * requirements exercised by these tests", "  not EVENTS-: 001 002 003 *"]
    )
    loud.stdout.no_fnmatch_line("  not CHANGES-: 001*")
    quiet.stdout.no_fnmatch_line("contract: *")
