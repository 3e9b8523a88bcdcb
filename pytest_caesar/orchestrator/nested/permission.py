"""Whether one agent may hand a part of its task on to another; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_caesar.agents.config import PolicyConfig
from pytest_caesar.agents.spawning import (
    SPAWN_ALL,
    SpawnRequest,
    child_session,
    refuse_spawn,
)
from pytest_caesar.agents.target import AgentTarget, ProcessAgent

Mode = Literal["read-only", "write"]

LEAST = 0.1
"""Seconds that must be left for another agent to be started at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The agent that asks.

    Attributes:
        agent: what runs.
        depth: its own, 1 for the first that was delegated to.
        mode: of its task.
        policy: the ``[policy]`` table that holds for it.
        left: seconds until its deadline.
    """

    agent: AgentTarget
    depth: int
    mode: Mode
    policy: PolicyConfig
    left: float


def refuse(asker: Asker, *, name: str, mode: Mode | None, available: Sequence[str]) -> str | None:
    """Return why an agent may not hand something on, in a sentence; None when it may.

    An agent made from a definition may start whom its ``spawns`` name, and never itself.
    Any other agent may start every one; itself only with ``[policy] allow_recursion``.
    What ``[policy]`` says about the other agent and about depth is asked where its task is
    planned, as for every delegation.

    Args:
        asker: the agent that asks.
        name: whom it asks for.
        mode: what it wants the other one to do, or None for its own mode.
        available: every name there is.

    Source: agent discovery, "Contraintes de disponibilité au-delà de la découverte".
    """
    refusal = refuse_spawn(
        SpawnRequest(name=name, parent_spawns=spawns_of(asker), blocked_agent=_blocked(asker)),
        available,
    )
    if refusal is not None:
        return refusal
    if asker.mode == "read-only" and mode == "write":
        return "A read-only task cannot hand on writing; ask for mode read-only."
    if asker.left < LEAST:
        return "No time is left for another agent: the deadline of this task is here."
    return None


def spawns_of(asker: Asker) -> str:
    """Return whom an agent may start, in the words of its definition; ``*`` without one."""
    agent = asker.agent
    if not isinstance(agent, ProcessAgent) or agent.definition is None:
        return SPAWN_ALL
    session = child_session(
        agent.definition, parent_depth=asker.depth - 1, max_depth=asker.policy.max_depth
    )
    return session.spawns


def guard_of(agent: AgentTarget) -> str:
    """Return what ``PI_BLOCKED_AGENT`` is in the environment of an agent; "" for none."""
    if isinstance(agent, ProcessAgent) and agent.definition is not None:
        return child_session(agent.definition).blocked_agent
    return ""


def _blocked(asker: Asker) -> str:
    return guard_of(asker.agent) or ("" if asker.policy.allow_recursion else asker.agent.id)
