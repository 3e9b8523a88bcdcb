"""What ``delegate(agent=…)`` is given, in any form that can name an agent."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_caesar.agents.config import Config
from pytest_caesar.agents.errors import near_miss, shown
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
from pytest_caesar.runs.errors import DelegationError

_FORMS = (
    'a name as for --caesar-agent ("./agent.sh", "my_agent:main", "codex"), a Path, '
    "or an agent that was selected or made before"
)


def agent_argument(agent: object) -> AgentTarget | str | None:
    """Return an agent, or the name to select one by; None where nobody was named.

    A path becomes absolute, so that it is only ever a path.

    Raises:
        DelegationError: it can name no agent; says what can.
    """
    if agent is None or isinstance(agent, (str, ProcessAgent, FunctionAgent)):
        return agent
    if isinstance(agent, os.PathLike):
        return str(Path(os.fsdecode(agent)).absolute())
    if not callable(agent):
        raise DelegationError(
            problem=f"agent= is {shown(repr(agent), limit=80)}, of type {type(agent).__name__}: "
            f"expected {_FORMS}"
        )
    module, name = getattr(agent, "__module__", ""), getattr(agent, "__qualname__", "")
    what = f"the function {shown(name)}" if name else f"a callable {type(agent).__name__}"
    if module and name and "<" not in name:
        remedy = f'pass agent="{module}:{name}"'
    else:
        remedy = (
            'write it at the top level of a module and pass agent="module:function", or script '
            "one inside the test with the fixture caesar_fake_agent"
        )
    raise DelegationError(problem=f"agent= is {what}; an agent is found again by import: {remedy}")


def no_agent(role: str | None, config: Config) -> DelegationError:
    """Return the refusal of a task for which nobody was named, or by an unknown role alone."""
    if role is None:
        return DelegationError(
            problem="no agent to delegate to: pass agent= or role=, or give one to the "
            "Orchestrator; under pytest with --caesar-agent=./agent.sh"
        )
    names = [known.name for known in config.roles]
    return DelegationError(
        problem=f"no agent to delegate to: there is no [[role]] {shown(role)} in the "
        f"configuration{near_miss(role, names) or '.'} Roles there are: "
        f"{', '.join(map(shown, names)) or 'none'}. Beside agent=, role= may be any words"
    )
