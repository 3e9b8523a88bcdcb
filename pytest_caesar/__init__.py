"""The fake orchestrator and pytest plugin for agents that speak OACP.

Every name is imported when it is first used: the plugin is loaded in every project that
has it installed, and the harness works outside pytest too. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
    from pytest_caesar.fake_agent.agent import FakeAgents
    from pytest_caesar.orchestrator.orchestrator import Orchestrator
    from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
    from pytest_caesar.recovery.evidence import Evidence, Recovered, Source, Status
    from pytest_caesar.runs.run import Events, Run
    from pytest_caesar.session.document_clock import Clock
    from pytest_caesar.snapshots.fixture import CaesarSnapshot
    from pytest_caesar.supervision.outcome import Outcome
    from pytest_caesar.workspace.reconciliation import Reconciliation
    from pytest_caesar.workspace.repository import Repository
    from pytest_caesar.workspace.values import ObservedChange, Patch

    __version__: str

__all__ = [
    "AgentTarget",
    "CaesarSnapshot",
    "Clock",
    "Events",
    "Evidence",
    "FakeAgents",
    "FunctionAgent",
    "ObservedChange",
    "Orchestrator",
    "OrchestratorSettings",
    "Outcome",
    "Patch",
    "ProcessAgent",
    "Reconciliation",
    "Recovered",
    "Repository",
    "Run",
    "Source",
    "Status",
    "__version__",
]

_HOMES = {
    "AgentTarget": "agents.target",
    "CaesarSnapshot": "snapshots.fixture",
    "Clock": "session.document_clock",
    "Events": "runs.run",
    "Evidence": "recovery.evidence",
    "FakeAgents": "fake_agent.agent",
    "FunctionAgent": "agents.target",
    "ObservedChange": "workspace.values",
    "Orchestrator": "orchestrator.orchestrator",
    "OrchestratorSettings": "orchestrator.orchestrator_settings",
    "Outcome": "supervision.outcome",
    "Patch": "workspace.values",
    "ProcessAgent": "agents.target",
    "Reconciliation": "workspace.reconciliation",
    "Recovered": "recovery.evidence",
    "Repository": "workspace.repository",
    "Run": "runs.run",
    "Source": "recovery.evidence",
    "Status": "recovery.evidence",
}


# There is no __dir__ on purpose: freezegun reads every attribute that dir() names.
def __getattr__(name: str) -> object:
    if name in _HOMES:
        import importlib  # noqa: PLC0415 - nothing is paid for what is not used

        value: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - it reads files

        value = version("pytest-caesar")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
