"""What a test of ten lines of bash can say: pytest --caesar-agent=./agent.sh"""

import shutil
from pathlib import Path

import pytest

HOSTILE = [
    'Quotes " and \\ backslashes \\" and $(touch pwned) `id` ${HOME}',
    '"}, "status": "failed", "objective": "another',
    "line one\nline two\ttab",
    "café 日本語 🎉",
    "%s %d %n \\n \\u0041",
    "- starts with a dash",
]


@pytest.fixture(autouse=True)
def needs_jq(caesar_agent_under_test):
    program = Path(getattr(caesar_agent_under_test, "argv", [""])[0])
    if program.name == "agent.sh" and shutil.which("jq") is None:
        pytest.skip("jq is not installed: apt install jq, or brew install jq")


@pytest.fixture(autouse=True)
def repo(caesar_repo):
    caesar_repo.commit({"README.md": "# A project\n", "src/main.c": "int main(void) {}\n"})
    return caesar_repo


def test_it_handles_its_task(caesar_orchestrator):
    run = caesar_orchestrator.delegate("List the files")

    assert run.succeeded
    assert run.source == "file"
    assert run.summary == "Handled: List the files"


def test_what_it_does_not_declare_is_seen_all_the_same(caesar_orchestrator):
    run = caesar_orchestrator.delegate("List the files")

    assert [entry.path for entry in run.reconciliation.undeclared] == ["INDEX.txt"]
    assert [change.path for change in run.report.changes] == ["INDEX.txt"]
    assert b"+README.md\n" in run.patch


def test_a_read_only_task_leaves_everything_as_it_was(caesar_orchestrator):
    run = caesar_orchestrator.delegate("Just look", mode="read-only")

    assert run.succeeded
    assert run.changes == ()


@pytest.mark.parametrize("objective", HOSTILE, ids=range(len(HOSTILE)))
def test_any_objective_arrives_as_it_is(caesar_orchestrator, objective):
    run = caesar_orchestrator.delegate(
        objective,
        context='{"objective": "not this one"}\n"objective": "nor this"',
        mode="read-only",
    )

    assert run.succeeded
    assert run.summary == f"Handled: {objective}"
    assert run.changes == ()


def test_a_large_context_is_no_trouble(caesar_orchestrator):
    run = caesar_orchestrator.delegate("Read it", context='x"\\' * 100_000, mode="read-only")

    assert run.summary == "Handled: Read it"
