from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from caesar_agent.errors import DocumentError
from caesar_agent.va import (
    AcceptedPayload,
    CompletedPayload,
    DimensionFeedback,
    Evidence,
    FailureDetail,
    GateResult,
    InputRef,
    ProgressPayload,
    ProtocolMessage,
    TaskUnit,
)
from caesar_agent.va.base import ClosedDocument


def unit(**fields: Any) -> dict[str, Any]:
    return {"id": "T-1", "objective": "Fix it", "acceptanceCriteria": ["tests pass"], **fields}


def test_names_are_spelled_as_python_has_them_and_as_the_schema_has_them() -> None:
    made = TaskUnit(
        id="T-1",
        objective="Fix it",
        acceptance_criteria=("tests pass",),
        depends_on=("T-0",),
        inputs={"port": InputRef(from_task="T-0", output_key="port"), "host": "localhost"},
    )

    assert made.dump() == {
        **unit(),
        "constraints": [],
        "priority": "P1",
        "dependsOn": ["T-0"],
        "inputs": {"port": {"fromTask": "T-0", "outputKey": "port"}, "host": "localhost"},
    }
    assert TaskUnit.parse(made.to_json()) == made


def test_what_looks_like_a_reference_is_one_however_it_was_written() -> None:
    wire = {"fromTask": "T-0", "outputKey": "port"}
    made = TaskUnit(id="T", objective="o", acceptance_criteria=("c",), inputs={"port": wire})
    read = TaskUnit.from_value(unit(inputs={"port": wire, "odd": {"fromTask": "T-0"}}))

    assert (
        made.references == read.references == {"port": InputRef(from_task="T-0", output_key="port")}
    )
    assert read.inputs is not None
    assert read.inputs["odd"] == {"fromTask": "T-0"}


@pytest.mark.parametrize(
    ("document", "value", "text"),
    [
        (TaskUnit, [], "invalid va-task-unit: expected an object, found an array"),
        (TaskUnit, unit(acceptanceCriteria=[]), "invalid va-task-unit at acceptanceCriteria: expected at least one entry, found an empty array"),
        (TaskUnit, unit(deadline=3), "invalid va-task-unit at deadline: the schema knows no such field"),
        (TaskUnit, unit(depends_on=[]), "invalid va-task-unit at depends_on: the schema knows no such field"),
        (TaskUnit, unit(timeout=None), "invalid va-task-unit at timeout: the field may be left out, but not be null"),
        (TaskUnit, unit(timeout=True), "invalid va-task-unit at timeout: expected an integer, found true"),
        (TaskUnit, unit(timeout=-1), "invalid va-task-unit at timeout: expected at least 0, found the number -1"),
        (TaskUnit, unit(context={"pitfalls": [{"id": "p"}]}), "invalid va-task-unit at context.pitfalls[0].failureType: a required field is missing (and 2 more)"),
        (Evidence, {"taskId": "T", "status": "done"}, "invalid va-evidence at status: expected 'completed', 'failed' or 'blocked', found \"done\""),
        (Evidence, {"taskId": "T", "status": "completed", "gateResults": [{"gate": "g", "passed": True, "score": 1.2}]}, "invalid va-evidence at gateResults[0].score: expected at most 1, found the number 1.2"),
    ],
)  # fmt: skip
def test_an_error_names_the_field_as_the_schema_spells_it(
    document: type[ClosedDocument], value: Any, text: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        document.from_value(value)

    assert str(caught.value) == text


def envelope(**fields: Any) -> dict[str, Any]:
    return {
        "protocol": "va-agent-protocol",
        "version": "0.1.0",
        "type": "progress",
        "timestamp": "2026-08-09T10:00:00Z",
        "correlationId": "c-1",
        "payload": {"taskId": "T-1"},
        **fields,
    }


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"type": "completed"}, "at payload.evidence: a required field is missing (and 1 more)"),
        ({"type": "finished"}, "at type: expected 'dispatch', 'accepted', 'progress', 'completed', 'failed', 'blocked' or 'cancel', found \"finished\""),
        ({"payload": {"taskId": "T-1", "completionEstimate": 40}}, "at payload.completionEstimate: expected at most 1, found the number 40"),
        ({"protocol": "caesar.task/v1"}, "at protocol: expected 'va-agent-protocol', found \"caesar.task/v1\""),
        ({"version": "1"}, 'at version: expected a version such as 0.1.0, found "1"'),
        ({"timestamp": "2026-08-09 10:00"}, 'at timestamp: expected an RFC 3339 time with its offset, such as 2026-08-09T10:00:00.000Z, found "2026-08-09 10:00"'),
    ],
)  # fmt: skip
def test_an_error_in_a_message_names_the_field(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        ProtocolMessage.from_value(envelope(**fields))

    assert str(caught.value) == f"invalid va-message {text}"


def test_the_type_of_a_message_decides_what_its_payload_is() -> None:
    assert isinstance(ProtocolMessage.from_value(envelope()).payload, ProgressPayload)
    accepted = ProtocolMessage.from_value(envelope(type="accepted"))
    assert isinstance(accepted.payload, AcceptedPayload)


def test_the_type_of_a_message_follows_from_its_payload() -> None:
    proof = Evidence(task_id="T-1", status="completed")
    message = ProtocolMessage.carrying(
        CompletedPayload(evidence=proof), at="2026-08-09T10:00:00Z", correlation_id="c-1"
    )

    assert message.type == "completed"
    assert message.dump()["version"] == "0.1.0"
    assert ProtocolMessage.parse(message.to_line()) == message


def test_a_program_cannot_put_a_payload_into_an_envelope_of_another_type() -> None:
    with pytest.raises(ValidationError, match="expected a CompletedPayload"):
        ProtocolMessage(
            protocol="va-agent-protocol",
            protocol_version="0.1.0",
            type="completed",
            timestamp="2026-08-09T10:00:00Z",
            correlation_id="c-1",
            payload=AcceptedPayload(task_id="T-1"),
        )


def test_dimensions_of_a_failure_survive_a_round_trip() -> None:
    proof = Evidence(
        task_id="T-1",
        status="failed",
        failure_detail=FailureDetail(
            failure_type="gate",
            attempted="a",
            hypothesis="h",
            dimensions={"tone": DimensionFeedback(status="mismatch", score=0.4)},
        ),
    )

    dimensions = proof.dump()["failureDetail"]["dimensions"]
    assert dimensions == {"tone": {"score": 0.4, "status": "mismatch"}}
    assert Evidence.parse(proof.to_json()) == proof


@pytest.mark.parametrize(
    ("document", "value", "messages"),
    [
        (
            TaskUnit,
            unit(dependsOn=["T-1"], inputs={"n": {"fromTask": "T-9", "outputKey": "k"}}),
            ["inputs.n is an output of 'T-9', which is not in dependsOn", "the task depends on itself"],
        ),
        (Evidence, {"taskId": "T", "status": "failed"}, ["the status is failed, and there is no failureDetail"]),
        (Evidence, {"taskId": "T", "status": "blocked"}, ["the status is blocked, and there is no blockReason"]),
        (
            Evidence,
            {"taskId": "T", "status": "completed", "gateResults": [{"gate": "g", "passed": False}]},
            ["gateResults[0] is of a command, and does not say which", "the status is completed, and gateResults[0] did not pass"],
        ),
        (ProtocolMessage, envelope(version="0.2.0"), ["the message is of version 0.2.0; it was read as 0.1.0"]),
        (ProtocolMessage, envelope(), []),
    ],
)  # fmt: skip
def test_what_is_valid_and_yet_odd_is_remarked_on(
    document: type[ClosedDocument], value: Any, messages: list[str]
) -> None:
    flagged = document.parse_flagged(json.dumps(value))

    assert [item.message for item in flagged.diagnostics] == messages


def test_a_warning_is_no_failure() -> None:
    assert not GateResult(gate="g", passed=False, severity="warning").failed
    assert GateResult(gate="g", passed=False).failed
    assert GateResult(gate="g", passed=False, severity="error").failed
    assert not GateResult(gate="g", passed=True).failed
