"""va-agent-protocol in the harness: gates, evidence, conversations, task graphs.

Every name is imported when it is first used. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from pytest_caesar.va.conversation import Messages, conversation_of
    from pytest_caesar.va.dispatched import Dispatched, DispatchedUnits
    from pytest_caesar.va.evidence import evidence_of
    from pytest_caesar.va.gates import CommandGate, Evaluation, GateError, ModelGate

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
    "CommandGate": "gates",
    "Dispatched": "dispatched",
    "DispatchedUnits": "dispatched",
    "Evaluation": "gates",
    "GateError": "gates",
    "Messages": "conversation",
    "ModelGate": "gates",
    "conversation_of": "conversation",
    "evidence_of": "evidence",
}


# There is no __dir__ on purpose: freezegun reads every attribute that dir() names.
def __getattr__(name: str) -> object:
    import importlib  # noqa: PLC0415

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"pytest_caesar.va.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
