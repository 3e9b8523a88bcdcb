"""The other protocol as a user of the plugin meets it."""

from __future__ import annotations

import json

import pytest

from tests.pytest_caesar.plugin.conftest import run  # noqa: F401 - a fixture
from tests.pytest_caesar.plugin.running import Runs

START = """
import pytest
from caesar_agent.va import TaskUnit
from pytest_caesar.gates.gates import CommandGate

UNIT = TaskUnit(id="AP-1", objective="Add b", acceptance_criteria=("$ grep -q two b.txt",))

@pytest.fixture
def dispatch(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "a\\n"})
    fake = caesar_fake_agent

    def dispatches(content, **wishes):
        agent = fake(fake.write("b.txt", content), fake.report("success", "Added b."))
        return caesar_orchestrator.dispatch(UNIT, agent=agent, **wishes)

    return dispatches
"""


def test_success_with_a_failing_gate_fails_the_test(
    pytester: pytest.Pytester,
    run: Runs,  # noqa: F811
) -> None:
    pytester.makepyfile(
        START
        + """
def test_claims(dispatch):
    gates = [CommandGate("ls missing", name="listing")]
    assert dispatch("one\\n", gates=gates).evidence.status == "failed"

def test_proves(dispatch):
    assert dispatch("two\\n").completed

@pytest.mark.caesar(allow="gate-failed")
def test_allowed(dispatch):
    assert dispatch("one\\n").evidence.status == "failed"
"""
    )

    result = run()

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*gate-failed*the report says success, and the gate 'grep -q two b.txt' failed: exit code 1*",
            "*where it is meant: @pytest.mark.caesar(allow=*gate-failed*",
            "gates:",
            "  listing: failed: exit code 2",
            "    | ls: *missing*",
            "  grep -q two b.txt: failed: exit code 1",
        ]
    )


def test_a_gate_of_an_attempt_that_was_retried_fails_no_test(
    pytester: pytest.Pytester,
    run: Runs,  # noqa: F811
) -> None:
    pytester.makepyfile(
        START
        + """
def test_learns(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "a\\n"})
    fake = caesar_fake_agent
    code = "import os; open('b.txt', 'w').write('two' if 'AP-1#1' in open(os.environ['CAESAR_TASK_FILE']).read() else 'one')"
    agent = fake(fake.run("python3", "-c", code), fake.report("success", "x", changes=[("b.txt", "created")]))
    assert caesar_orchestrator.dispatch(UNIT, agent=agent, retries=1).completed
"""
    )

    run().assert_outcomes(passed=1)


def test_snapshots_know_evidence_and_messages(
    pytester: pytest.Pytester,
    run: Runs,  # noqa: F811
) -> None:
    pytester.makepyfile(
        test_it=START
        + """
def test_told(dispatch, caesar_snapshot):
    done = dispatch("two\\n")
    assert done.evidence == caesar_snapshot
    assert done.messages == caesar_snapshot
    assert done.run == caesar_snapshot
"""
    )

    run("--snapshot-update").assert_outcomes(passed=1)
    run().assert_outcomes(passed=1)

    folder = pytester.path / "__caesar__" / "test_it"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("test_told.evidence.json", "test_told.messages.json", "test_told.run.md")
    ]
    evidence = json.loads((folder / "test_told.evidence.json").read_text())
    assert evidence["taskId"] == "AP-1"
    assert evidence["gateResults"][0]["durationMs"] == "<duration>"
    assert [item["path"] for item in evidence["artifacts"]] == [
        *("b.txt", "<task-dir>/changes.patch", "<task-dir>/report.json")
    ]
    messages = json.loads((folder / "test_told.messages.json").read_text())
    assert [message["type"] for message in messages] == ["dispatch", "accepted", "completed"]
    assert {message["timestamp"] for message in messages} == {"<time>"}
    assert {message["correlationId"] for message in messages} == {"<task-1>"}
    assert "## Gates\n\n- grep -q two b.txt: passed\n" in (folder / "test_told.run.md").read_text()


def test_a_snapshot_of_evidence_that_differs_says_where(
    pytester: pytest.Pytester,
    run: Runs,  # noqa: F811
) -> None:
    test = (
        START
        + "\ndef test_told(dispatch, caesar_snapshot):\n    done = dispatch({content!r})\n    assert done.evidence == caesar_snapshot\n"
    )
    pytester.makepyfile(test_it=test.replace("{content!r}", "'two\\n'"))
    run("--snapshot-update").assert_outcomes(passed=1)
    pytester.makepyfile(test_it=test.replace("{content!r}", "'one\\n'"))

    result = run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*evidence == __caesar__/test_it/test_told.evidence.json, which differs in line *"]
    )
