"""The tool through which agents ask for other agents, as it was made and as it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_caesar.agents.definitions import AgentDefinition
from pytest_caesar.agents.discovery import Discovery
from pytest_caesar.agents.spawning import (
    BLOCKED_AGENT,
    SPAWN_ALL,
    ChildSession,
    SpawnRequest,
    child_session,
    refuse_spawn,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """An agent may be started.

    Attributes:
        agent: what runs.
        session: what it may do.
    """

    agent: AgentDefinition
    session: ChildSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An agent may not be started; nothing was.

    Attributes:
        text: the answer that the asking agent reads.
    """

    text: str


class TaskTool:
    """Delegation as one session sees it.

    Its description and the recursion guard are fixed when it is made; the agents are
    discovered anew at each call, so a call may know more, or less, than the description.
    """

    def __init__(
        self,
        discover: Callable[[], Discovery],
        *,
        environ: Mapping[str, str],
        spawns: str = SPAWN_ALL,
        depth: int = 0,
        max_depth: int = 2,
    ) -> None:
        """Describe what there is now.

        Args:
            discover: finds the agents; called here and at each call.
            environ: ``PI_BLOCKED_AGENT`` is read from it, now and never again.
            spawns: policy of this session.
            depth: of this session.
            max_depth: see ``child_session``.
        """
        self._discover = discover
        self._blocked = environ.get(BLOCKED_AGENT, "")
        self._spawns = spawns
        self._depth = depth
        self._max_depth = max_depth
        self.description = describe([found.agent for found in discover().agents])

    def call(self, name: str) -> Granted | Refused:
        """Ask for an agent by its exact name."""
        discovery = self._discover()
        request = SpawnRequest(name=name, parent_spawns=self._spawns, blocked_agent=self._blocked)
        refusal = refuse_spawn(request, discovery.names)
        found = discovery.get(name)
        if refusal is not None or found is None:
            return Refused(text=refusal or "")
        session = child_session(found.agent, parent_depth=self._depth, max_depth=self._max_depth)
        return Granted(agent=found.agent, session=session)


def describe(agents: Sequence[AgentDefinition]) -> str:
    """Return the list of agents that the description of the tool shows."""
    return "\n".join(f"- {agent.name}: {agent.description}" for agent in agents)
