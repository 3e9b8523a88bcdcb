"""va-agent-protocol 0.1.0: its documents, its lifecycle, and what leads to OACP and back."""

from __future__ import annotations

from caesar_agent.va.base import PROTOCOL, VERSION
from caesar_agent.va.errors import IllegalTransitionError
from caesar_agent.va.evidence import (
    Artifact,
    BlockReason,
    DimensionFeedback,
    Evidence,
    FailureDetail,
    GateResult,
)
from caesar_agent.va.lifecycle import (
    TRANSITIONS,
    StateTransition,
    TaskExecution,
    TaskLifecycle,
    TaskState,
    check_transition,
)
from caesar_agent.va.message import (
    AcceptedPayload,
    BlockedPayload,
    CancelPayload,
    CompletedPayload,
    DispatchPayload,
    FailedPayload,
    ProgressLog,
    ProgressPayload,
    ProtocolMessage,
)
from caesar_agent.va.task_unit import InputRef, OutputContract, Pitfall, TaskContext, TaskUnit

__all__ = [
    "PROTOCOL",
    "TRANSITIONS",
    "VERSION",
    "AcceptedPayload",
    "Artifact",
    "BlockReason",
    "BlockedPayload",
    "CancelPayload",
    "CompletedPayload",
    "DimensionFeedback",
    "DispatchPayload",
    "Evidence",
    "FailedPayload",
    "FailureDetail",
    "GateResult",
    "IllegalTransitionError",
    "InputRef",
    "OutputContract",
    "Pitfall",
    "ProgressLog",
    "ProgressPayload",
    "ProtocolMessage",
    "StateTransition",
    "TaskContext",
    "TaskExecution",
    "TaskLifecycle",
    "TaskState",
    "TaskUnit",
    "check_transition",
]
