"""One agent under two protocols: pytest --caesar-agent=agent:main"""

import pytest
from pipeline import BUMP, NOTES, Pipeline

from caesar_agent.va import ProtocolMessage, TaskUnit


@pytest.fixture(autouse=True)
def repository(caesar_repo):
    caesar_repo.commit({"VERSION": "1.2.9\n"})
    return caesar_repo


def test_as_a_task_of_oacp(caesar_orchestrator):
    run = caesar_orchestrator.delegate(
        "Bump the minor version", acceptance_criteria=["$ grep -qx 1.3.0 VERSION"]
    )

    assert run.succeeded
    assert [gate.passed for gate in run.gates] == [True]
    assert [change.path for change in run.changes] == ["VERSION"]


def test_as_a_task_unit(caesar_orchestrator, caesar_snapshot):
    done = caesar_orchestrator.dispatch(BUMP)

    assert done.completed
    assert done.evidence.outputs == {"version": "1.3.0"}
    assert done.evidence == caesar_snapshot
    assert [message.type for message in done.messages] == [
        *("dispatch", "accepted", "progress", "progress", "completed")
    ]


def test_a_release_is_two_units_of_which_one_needs_the_other(caesar_orchestrator):
    release = caesar_orchestrator.dispatch([NOTES, BUMP], isolation="inplace")

    assert release.order == ("REL-1", "REL-2")
    assert release.completed
    assert release["REL-2"].run.summary == "Wrote the notes of 1.3.0."
    assert [change.path for change in release["REL-2"].run.changes] == ["CHANGELOG.md"]


def test_what_is_not_said_is_asked_in_the_words_of_either_protocol(caesar_orchestrator):
    run = caesar_orchestrator.delegate("Bump the version")
    done = caesar_orchestrator.dispatch(
        TaskUnit(id="REL-1", objective="Bump the version", acceptance_criteria=("it is bumped",))
    )

    assert run.status == "blocked"
    assert [question.options for question in run.report.questions] == [("major", "minor", "patch")]
    assert done.state == "blocked"
    assert done.evidence.block_reason.required_action == (
        "answer: Which part of the version is to be bumped? (major / minor / patch)"
    )


@pytest.mark.caesar(allow="gate-failed")
def test_what_it_says_is_not_enough(caesar_orchestrator):
    wanted = BUMP.model_copy(update={"acceptance_criteria": ("$ grep -qx 2.0.0 VERSION",)})

    done = caesar_orchestrator.dispatch(wanted, retries=1)

    assert done.run.succeeded
    assert done.evidence.status == "failed"
    assert done.evidence.failure_detail.failure_type == "gate"
    assert [execution.attempt for execution in done.lifecycle.executions] == [1, 2]


def test_an_orchestrator_of_ones_own_hears_what_agents_really_say(caesar_orchestrator):
    pipeline = Pipeline([NOTES, BUMP])
    said = []

    while line := pipeline.next_line():
        message = ProtocolMessage.parse(line)
        done = caesar_orchestrator.dispatch(message, done=pipeline.evidence.values())
        for answer in done.messages[1:]:
            pipeline.hear(answer.to_line())
        said.append((message.type, message.payload.task.id, message.remarks()))

    assert said == [("dispatch", "REL-1", ()), ("dispatch", "REL-2", ())]
    assert {task.state for task in pipeline.tasks.values()} == {"completed"}
