"""The fake orchestrator and pytest plugin for agents that speak OACP.

Every name is imported when it is first used: the plugin is loaded in every project that
has it installed, and the harness works outside pytest too. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from pytest_caesar.agents.errors import ConfigError, SelectionError
    from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
    from pytest_caesar.answers.scripted_answers import ScriptError
    from pytest_caesar.fake_agent.agent import FakeAgents
    from pytest_caesar.fake_agent.checks import StepError
    from pytest_caesar.gates.gates import GateError
    from pytest_caesar.model.script import ScriptedModelError
    from pytest_caesar.orchestrator.in_process.function_run import InProcessError
    from pytest_caesar.orchestrator.orchestrator import Orchestrator
    from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
    from pytest_caesar.orchestrator.policy import DelegationRefused
    from pytest_caesar.programs.call import ProgramCall, ProgramReply
    from pytest_caesar.programs.errors import ProgramError
    from pytest_caesar.recordings.errors import RecordingError
    from pytest_caesar.recovery.evidence import Evidence, Recovered, Source, Status
    from pytest_caesar.recovery.sources import SourceError
    from pytest_caesar.recovery.tool_call import ToolCall
    from pytest_caesar.recovery.usage import Usage
    from pytest_caesar.runs.budget import BudgetSpentError
    from pytest_caesar.runs.command_reconciliation import Command
    from pytest_caesar.runs.errors import DelegationError
    from pytest_caesar.runs.prices import PricesError
    from pytest_caesar.runs.run import Events, Run
    from pytest_caesar.session.document_clock import Clock
    from pytest_caesar.session.session import NoAgentError
    from pytest_caesar.snapshots.fixture import CaesarSnapshot
    from pytest_caesar.supervision.outcome import Outcome
    from pytest_caesar.supervision.start_errors import AgentStartError
    from pytest_caesar.workspace.applying import ApplyError
    from pytest_caesar.workspace.errors import IsolationError
    from pytest_caesar.workspace.git import GitError
    from pytest_caesar.workspace.reconciliation import Reconciliation
    from pytest_caesar.workspace.repository import Repository
    from pytest_caesar.workspace.values import ObservedChange, Patch

    __version__: str

__all__ = [
    "AgentStartError",
    "AgentTarget",
    "ApplyError",
    "BudgetSpentError",
    "CaesarSnapshot",
    "Clock",
    "Command",
    "ConfigError",
    "DelegationError",
    "DelegationRefused",
    "Events",
    "Evidence",
    "FakeAgents",
    "FunctionAgent",
    "GateError",
    "GitError",
    "InProcessError",
    "IsolationError",
    "NoAgentError",
    "ObservedChange",
    "Orchestrator",
    "OrchestratorSettings",
    "Outcome",
    "Patch",
    "PricesError",
    "ProcessAgent",
    "ProgramCall",
    "ProgramError",
    "ProgramReply",
    "Reconciliation",
    "RecordingError",
    "Recovered",
    "Repository",
    "Run",
    "ScriptError",
    "ScriptedModelError",
    "SelectionError",
    "Source",
    "SourceError",
    "Status",
    "StepError",
    "ToolCall",
    "Usage",
    "__version__",
]

_HOMES = {
    "AgentStartError": "supervision.start_errors",
    "AgentTarget": "agents.target",
    "ApplyError": "workspace.applying",
    "BudgetSpentError": "runs.budget",
    "CaesarSnapshot": "snapshots.fixture",
    "Clock": "session.document_clock",
    "Command": "runs.command_reconciliation",
    "ConfigError": "agents.errors",
    "DelegationError": "runs.errors",
    "DelegationRefused": "orchestrator.policy",
    "Events": "runs.run",
    "Evidence": "recovery.evidence",
    "FakeAgents": "fake_agent.agent",
    "FunctionAgent": "agents.target",
    "GateError": "gates.gates",
    "GitError": "workspace.git",
    "InProcessError": "orchestrator.in_process.function_run",
    "IsolationError": "workspace.errors",
    "NoAgentError": "session.session",
    "ObservedChange": "workspace.values",
    "Orchestrator": "orchestrator.orchestrator",
    "OrchestratorSettings": "orchestrator.orchestrator_settings",
    "Outcome": "supervision.outcome",
    "Patch": "workspace.values",
    "PricesError": "runs.prices",
    "ProcessAgent": "agents.target",
    "ProgramCall": "programs.call",
    "ProgramError": "programs.errors",
    "ProgramReply": "programs.call",
    "Reconciliation": "workspace.reconciliation",
    "RecordingError": "recordings.errors",
    "Recovered": "recovery.evidence",
    "Repository": "workspace.repository",
    "Run": "runs.run",
    "ScriptError": "answers.scripted_answers",
    "ScriptedModelError": "model.script",
    "SelectionError": "agents.errors",
    "Source": "recovery.evidence",
    "SourceError": "recovery.sources",
    "Status": "recovery.evidence",
    "StepError": "fake_agent.checks",
    "ToolCall": "recovery.tool_call",
    "Usage": "recovery.usage",
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
