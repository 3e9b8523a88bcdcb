"""va-agent-protocol 0.1.0: its documents, its lifecycle, and what leads to OACP and back.

Values of JSON come in, frozen documents go out; pure. Every name is imported when it is first
used. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from caesar_agent.va.base import PROTOCOL, VERSION
    from caesar_agent.va.conversion import progress_message, task_fields, task_of, unit_of
    from caesar_agent.va.errors import IllegalTransitionError, TaskGraphError, UnresolvedInputError
    from caesar_agent.va.evidence import (
        Artifact,
        BlockReason,
        DimensionFeedback,
        Evidence,
        FailureDetail,
        GateResult,
    )
    from caesar_agent.va.graph import check_graph, dispatch_order, resolve_inputs
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
    "TaskGraphError",
    "TaskLifecycle",
    "TaskState",
    "TaskUnit",
    "UnresolvedInputError",
    "check_graph",
    "check_transition",
    "dispatch_order",
    "progress_message",
    "resolve_inputs",
    "task_fields",
    "task_of",
    "unit_of",
]

_HOMES = {
    "PROTOCOL": "base",
    "TRANSITIONS": "lifecycle",
    "VERSION": "base",
    "AcceptedPayload": "message",
    "Artifact": "evidence",
    "BlockReason": "evidence",
    "BlockedPayload": "message",
    "CancelPayload": "message",
    "CompletedPayload": "message",
    "DimensionFeedback": "evidence",
    "DispatchPayload": "message",
    "Evidence": "evidence",
    "FailedPayload": "message",
    "FailureDetail": "evidence",
    "GateResult": "evidence",
    "IllegalTransitionError": "errors",
    "InputRef": "task_unit",
    "OutputContract": "task_unit",
    "Pitfall": "task_unit",
    "ProgressLog": "message",
    "ProgressPayload": "message",
    "ProtocolMessage": "message",
    "StateTransition": "lifecycle",
    "TaskContext": "task_unit",
    "TaskExecution": "lifecycle",
    "TaskGraphError": "errors",
    "TaskLifecycle": "lifecycle",
    "TaskState": "lifecycle",
    "TaskUnit": "task_unit",
    "UnresolvedInputError": "errors",
    "check_graph": "graph",
    "check_transition": "lifecycle",
    "dispatch_order": "graph",
    "progress_message": "conversion",
    "resolve_inputs": "graph",
    "task_fields": "conversion",
    "task_of": "conversion",
    "unit_of": "conversion",
}


# There is no __dir__ on purpose: freezegun reads every attribute that dir() names.
def __getattr__(name: str) -> object:
    import importlib  # noqa: PLC0415

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"caesar_agent.va.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
