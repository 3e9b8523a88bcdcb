"""What happens when one agent asks for another: refusals, depth, and what the child may do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_caesar.agents.definitions import SUBMIT_TOOL, TASK_TOOL, AgentDefinition
from pytest_caesar.agents.front_matter import JS_BLANKS

SPAWN_ALL = "*"
BLOCKED_AGENT = "PI_BLOCKED_AGENT"
"""Environment variable with the agent that must not be started again below itself. It is read
when the tool that delegates is made, so who starts a child sets it in the child's environment."""
DEFAULT_MAX_DEPTH = 2
PLAN_MODE_TOOLS = ("read", "grep", "find", "ls", "lsp", "web_search")
PLAN_MODE_PROMPT = (
    "Plan mode is on: look and think, but change nothing. Write down what you would do.\n\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnRequest:
    """One agent asks for another.

    Attributes:
        name: the agent that is asked for.
        parent_spawns: the asking session's policy: ``*``, "" for nobody, or names
            separated by commas.
        blocked_agent: value of ``PI_BLOCKED_AGENT`` when the tool was made; "" is off.
    """

    name: str
    parent_spawns: str = SPAWN_ALL
    blocked_agent: str = ""


def refuse_spawn(request: SpawnRequest, available: Sequence[str]) -> str | None:
    """Return why an agent cannot be started, or None when it can.

    The order is the system's: an unknown name is said to be unknown even where policy
    would forbid it, and recursion is looked at before policy.

    Args:
        request: what is asked.
        available: names of every discovered agent, in order.
    """
    name = request.name
    if name not in available:
        return f'Unknown agent "{name}". Available: {", ".join(available) or "none"}'
    if request.blocked_agent and request.blocked_agent == name:
        return (
            f"Cannot spawn {name} agent from within itself (recursion prevention). "
            "Use a different agent type."
        )
    if not spawn_allowed(name, request.parent_spawns):
        allowed = request.parent_spawns or "none (spawns disabled for this agent)"
        return f"Cannot spawn '{name}'. Allowed: {allowed}"
    return None


def spawn_allowed(name: str, policy: str) -> bool:
    """Say whether a policy lets an agent be started: exactly ``*`` allows all, "" nobody."""
    if policy == SPAWN_ALL:
        return True
    return bool(policy) and name in [part.strip(JS_BLANKS) for part in policy.split(",")]


def spawn_policy(agent: AgentDefinition) -> str:
    """Return the policy of a session that runs an agent; without ``spawns`` it is ""."""
    if agent.spawns is None:
        return ""
    return agent.spawns if isinstance(agent.spawns, str) else ",".join(agent.spawns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSession:
    """What a child is started with.

    Attributes:
        depth: of the child.
        tools: the only tools it gets, or None for all (without ``task`` at the limit).
        spawns: its own policy.
        may_delegate: it has the ``task`` tool.
        blocked_agent: what ``PI_BLOCKED_AGENT`` is in its environment.
    """

    depth: int
    tools: tuple[str, ...] | None
    spawns: str
    may_delegate: bool
    blocked_agent: str


def child_session(
    agent: AgentDefinition, *, parent_depth: int = 0, max_depth: int = DEFAULT_MAX_DEPTH
) -> ChildSession:
    """Derive what a child may do from its definition and its depth.

    Args:
        agent: the child.
        parent_depth: 0 for the main session.
        max_depth: at this depth nobody delegates any more; negative means no limit.
    """
    depth = parent_depth + 1
    at_max = max_depth >= 0 and depth >= max_depth
    tools = agent.tools
    if tools is not None:
        if at_max:
            tools = tuple(tool for tool in tools if tool != TASK_TOOL)
        elif agent.spawns is not None and TASK_TOOL not in tools:
            tools = (*tools, TASK_TOOL)
    return ChildSession(
        depth=depth,
        tools=tools,
        spawns="" if at_max else spawn_policy(agent),
        may_delegate=not at_max and (tools is None or TASK_TOOL in tools),
        blocked_agent=agent.name,
    )


def may_delegate_at(depth: int, max_depth: int = DEFAULT_MAX_DEPTH) -> bool:
    """Say whether a session of a depth has the ``task`` tool (0 is the main session)."""
    return max_depth < 0 or depth < max_depth


def known_tools(tools: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the tools that a child really gets: unknown names vanish without a word."""
    there = frozenset(known) | {SUBMIT_TOOL}
    return tuple(tool for tool in tools if tool in there)


def output_schema(agent: AgentDefinition, call: Any = None, session: Any = None) -> Any:
    """Return the schema that holds: the agent's own, else the call's, else the session's.

    Only an absent schema (None) is passed over: ``false`` and ``{}`` are schemas.
    """
    return next((schema for schema in (agent.output, call, session) if schema is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMode:
    """Which agent is used for what while plan mode is on.

    Attributes:
        effective: with the prompt of plan mode, read-only tools and nobody to spawn.
        started: what the subprocess is given.
        model, thinking_level, output: taken from ``effective``.
    """

    effective: AgentDefinition
    started: AgentDefinition
    model: tuple[str, ...] | None
    thinking_level: str | None
    output: Any


def plan_mode(agent: AgentDefinition) -> PlanMode:
    """Compute plan mode as the system does it.

    A read-only effective agent is computed, but the subprocess is started with the
    original: prompt, tools and spawns are not restricted. Source: agent discovery, last
    section.
    """
    effective = replace(
        agent,
        system_prompt=PLAN_MODE_PROMPT + agent.system_prompt,
        tools=PLAN_MODE_TOOLS,
        spawns=None,
    )
    return PlanMode(
        effective=effective,
        started=agent,
        model=effective.model,
        thinking_level=effective.thinking_level,
        output=effective.output,
    )
