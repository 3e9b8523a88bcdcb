"""``ProtocolMessage``: the envelope of everything that orchestrator and agent say."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, ValidationInfo, WrapValidator
from pydantic_core import PydanticCustomError

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.problems import describe
from caesar_agent.va.base import PROTOCOL, VERSION, ClosedDocument, ClosedPart
from caesar_agent.va.evidence import Evidence
from caesar_agent.va.fields import Array, DateTime, Maybe, Share, Version
from caesar_agent.va.task_unit import TaskUnit

MessageType = Literal[
    "dispatch", "accepted", "progress", "completed", "failed", "blocked", "cancel"
]
LogLevel = Literal["info", "warn", "error", "debug"]


class DispatchPayload(ClosedPart):
    """The orchestrator gives a task.

    Attributes:
        task: the task.
    """

    task: TaskUnit


class AcceptedPayload(ClosedPart):
    """The agent takes a task.

    Attributes:
        task_id: the task.
        estimated_capabilities: what the agent will use for it; absent when not told.
    """

    task_id: str
    estimated_capabilities: Maybe[Array[str]] = None


class ProgressLog(ClosedPart):
    """One entry of the agent's log.

    Attributes:
        timestamp: when, RFC 3339.
        level: info, warn, error or debug.
        message: what is said.
    """

    timestamp: DateTime
    level: LogLevel
    message: str


class ProgressPayload(ClosedPart):
    """The agent tells how far it is.

    Attributes:
        task_id: the task.
        phase: what the agent is doing, in its own terms; absent when not told.
        summary: the state in a few words; absent when not told.
        completion_estimate: share of the work that is done, from 0 to 1; absent when not
            known.
        logs: entries of its log; absent when there are none.
        data: whatever else it shows; absent when nothing.
        agent_id: who works; absent when nobody says.
    """

    task_id: str
    phase: Maybe[str] = None
    summary: Maybe[str] = None
    completion_estimate: Maybe[Share] = None
    logs: Maybe[Array[ProgressLog]] = None
    data: Maybe[dict[str, Any]] = None
    agent_id: Maybe[str] = None


class CompletedPayload(ClosedPart):
    """The task is done.

    Attributes:
        evidence: the proof.
    """

    evidence: Evidence


class FailedPayload(ClosedPart):
    """The task failed.

    Attributes:
        evidence: how.
        retryable: whether another attempt makes sense; default true.
    """

    evidence: Evidence
    retryable: bool = True


class BlockedPayload(ClosedPart):
    """The task waits for something.

    Attributes:
        evidence: for what.
    """

    evidence: Evidence


class CancelPayload(ClosedPart):
    """The orchestrator takes a task back.

    Attributes:
        task_id: the task.
        reason: why; absent when nobody says.
    """

    task_id: str
    reason: Maybe[str] = None


PAYLOADS: dict[str, type[ClosedPart]] = {
    "dispatch": DispatchPayload,
    "accepted": AcceptedPayload,
    "progress": ProgressPayload,
    "completed": CompletedPayload,
    "failed": FailedPayload,
    "blocked": BlockedPayload,
    "cancel": CancelPayload,
}
"""The payload of each type of message."""


def _chosen(value: object, _handler: Any, info: ValidationInfo) -> object:
    """Validate a payload as the one of the message's type, and as no other."""
    model = PAYLOADS.get(info.data.get("type", ""))
    if model is None:
        return value  # the type is wrong, which is told already
    if isinstance(value, ClosedPart) and not isinstance(value, model):
        raise PydanticCustomError(
            "wrong-type",
            "expected a {expected}, found {found}",
            {"expected": model.__name__, "found": describe(value)},
        )
    wire = bool(info.context)
    return model.__pydantic_validator__.validate_python(
        value, context=info.context, by_alias=wire, by_name=not wire
    )


AnyPayload: TypeAlias = (
    DispatchPayload
    | AcceptedPayload
    | ProgressPayload
    | CompletedPayload
    | FailedPayload
    | BlockedPayload
    | CancelPayload
)

Payload = Annotated[AnyPayload, WrapValidator(_chosen)]


class ProtocolMessage(ClosedDocument):
    """One message between orchestrator and agent.

    The payload is that of the ``type``; any other is refused.

    Attributes:
        protocol: always ``va-agent-protocol``.
        protocol_version: three numbers, ``0.1.0`` is written; ``version`` in JSON.
        type: what is said: dispatch and cancel by the orchestrator, the others by the agent.
        timestamp: when, RFC 3339.
        correlation_id: ties together what is said about one attempt at a task.
        source_id: who says it, an agent's id or ``orchestrator``; absent when nobody says.
        payload: what is said, as the type has it.

    Source: va-agent-protocol 0.1.0, message schema.
    """

    kind: ClassVar[str] = "va-message"
    version: ClassVar[str] = ""

    protocol: Literal["va-agent-protocol"]
    protocol_version: Version = Field(alias="version")
    type: MessageType
    timestamp: DateTime
    correlation_id: str
    source_id: Maybe[str] = None
    payload: Payload

    @classmethod
    def carrying(
        cls, payload: AnyPayload, *, at: str, correlation_id: str, source_id: str | None = None
    ) -> ProtocolMessage:
        """Put a payload into its envelope, in the version that is written here.

        Args:
            payload: what is said; the type follows from it.
            at: when, RFC 3339.
            correlation_id: of the attempt.
            source_id: who says it.
        """
        (kind,) = (name for name, model in PAYLOADS.items() if type(payload) is model)
        return cls(
            protocol=PROTOCOL,
            protocol_version=VERSION,
            type=kind,  # type: ignore[arg-type]
            timestamp=at,
            correlation_id=correlation_id,
            source_id=source_id,
            payload=payload,
        )

    def remarks(self) -> tuple[Diagnostic, ...]:
        """Say when the message is of another version than is written here."""
        if self.protocol_version == VERSION:
            return ()
        message = f"the message is of version {self.protocol_version}; it was read as {VERSION}"
        return (Diagnostic(code="va-other-version", message=message),)
