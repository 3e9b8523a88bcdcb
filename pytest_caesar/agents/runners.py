"""Run an agent definition through a CLI: its system prompt, its tools and its model."""

from __future__ import annotations

from dataclasses import replace

from pytest_caesar.agents.definitions import SUBMIT_TOOL, AgentDefinition
from pytest_caesar.agents.spawning import child_session
from pytest_caesar.agents.target import AgentTarget, ProcessAgent

_ALIASES = frozenset({"sonnet", "opus", "haiku", "best", "opusplan"})
"""Names that mean a model to Claude Code alone."""
_ROLES = frozenset({"inherit", "default", "smol", "slow", "plan"})
"""Names that mean a setting of the host, not a model."""


def run_definition(
    definition: AgentDefinition, runner: ProcessAgent, *, ident: str
) -> ProcessAgent:
    """Make an agent that a CLI runs in the manner of a definition.

    The system prompt goes in front of the context. Tools are handed over by flag where
    the CLI has one, by its read-only mode where none of them can write, and always in
    words. The first model that means something to the CLI is asked for.

    Args:
        definition: what to do.
        runner: what does it.
        ident: id of the agent.
    """
    return replace(
        runner,
        id=ident,
        origin="definition",
        system_prompt=_system_prompt(definition),
        model=_model(definition, runner),
        tools=definition.tools,
        display_name=definition.name,
        where=definition.file_path or "",
        definition=definition,
    )


def at_depth(agent: AgentTarget, *, depth: int, max_depth: int) -> AgentTarget:
    """Give an agent the tools that its definition has at a depth.

    Where it may not hand anything on it has no ``task`` tool; where its ``spawns`` name
    others it has one, named or not. Any other agent stays as it is.

    Args:
        agent: what runs.
        depth: its own, 1 for the first that is delegated to.
        max_depth: from this depth on nothing is delegated.
    """
    if not isinstance(agent, ProcessAgent) or agent.definition is None:
        return agent
    # Ours is the depth that is refused, the system's the one whose agents ask in vain.
    session = child_session(agent.definition, parent_depth=depth - 1, max_depth=max_depth - 1)
    if session.tools is None or session.tools == agent.definition.tools:
        return agent
    before = _system_prompt(agent.definition)
    after = _system_prompt(replace(agent.definition, tools=session.tools))
    return replace(
        agent, tools=session.tools, system_prompt=agent.system_prompt.replace(before, after)
    )


def _system_prompt(definition: AgentDefinition) -> str:
    if definition.tools is None:
        return definition.system_prompt
    tools = [tool for tool in definition.tools if tool != SUBMIT_TOOL]
    sentence = (
        f"Use no other tools than these: {', '.join(tools)}." if tools else "Use no tools at all."
    )
    return f"{definition.system_prompt}\n\n{sentence}".strip()


def _model(definition: AgentDefinition, runner: ProcessAgent) -> str | None:
    for model in definition.model or ():
        if model.lower() in _ROLES or (model.lower() in _ALIASES and runner.cli != "claude"):
            continue
        return model
    return runner.model
