"""va-agent-protocol in the harness: gates, evidence, conversations, task graphs.

Task units and runs come in; tasks, evidence and messages go out. Uses runs and gates, and is
handed what delegates. Every name is imported when it is first used. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from pytest_caesar.gates.gates import CommandGate, Evaluation, GateError, ModelGate
    from pytest_caesar.va.conversation import Messages, conversation_of
    from pytest_caesar.va.dispatched import Dispatched, DispatchedUnits
    from pytest_caesar.va.evidence import evidence_of

__all__ = [
    "CommandGate",
    "Dispatched",
    "DispatchedUnits",
    "Evaluation",
    "GateError",
    "Messages",
    "ModelGate",
    "conversation_of",
    "evidence_of",
]

_HOMES = {
    "CommandGate": "gates.gates",
    "Dispatched": "va.dispatched",
    "DispatchedUnits": "va.dispatched",
    "Evaluation": "gates.gates",
    "GateError": "gates.gates",
    "Messages": "va.conversation",
    "ModelGate": "gates.gates",
    "conversation_of": "va.conversation",
    "evidence_of": "va.evidence",
}


# There is no __dir__ on purpose: freezegun reads every attribute that dir() names.
def __getattr__(name: str) -> object:
    import importlib  # noqa: PLC0415

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"pytest_caesar.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
