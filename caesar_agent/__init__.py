"""The SDK for agents that speak OACP: ``import caesar_agent; caesar_agent.run(main)``.

Every name is imported when it is first used, so that a program which has this
package beside others pays for what it needs. PYTEST_DONT_REWRITE
"""

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from caesar_agent.agent import Agent
    from caesar_agent.delegating import Delegated
    from caesar_agent.documents.event import Event
    from caesar_agent.documents.report import Report
    from caesar_agent.documents.task import Task
    from caesar_agent.errors import (
        CaesarError,
        CommandFailedError,
        DeliveryError,
        DocumentError,
        MisuseError,
        StartError,
        UnsupportedVersionError,
    )
    from caesar_agent.processes.interruption import Interrupted
    from caesar_agent.processes.program import CommandResult
    from caesar_agent.running.runner import run

    __version__: str

__all__ = [
    "Agent",
    "CaesarError",
    "CommandFailedError",
    "CommandResult",
    "Delegated",
    "DeliveryError",
    "DocumentError",
    "Event",
    "Interrupted",
    "MisuseError",
    "Report",
    "StartError",
    "Task",
    "UnsupportedVersionError",
    "__version__",
    "run",
]

_HOMES = {
    "Agent": "agent",
    "CaesarError": "errors",
    "CommandFailedError": "errors",
    "CommandResult": "processes.program",
    "Delegated": "delegating",
    "DeliveryError": "errors",
    "DocumentError": "errors",
    "Event": "documents",
    "Interrupted": "processes.interruption",
    "MisuseError": "errors",
    "Report": "documents",
    "StartError": "errors",
    "Task": "documents",
    "UnsupportedVersionError": "errors",
    "run": "running.runner",
}


# There is no __dir__ on purpose: freezegun reads every attribute that dir() names.
def __getattr__(name: str) -> object:
    import importlib  # noqa: PLC0415

    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        value: object = version("pytest-caesar")
    elif name in _HOMES:
        value = getattr(importlib.import_module(f"caesar_agent.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
