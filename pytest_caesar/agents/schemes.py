"""Names of a scheme of their own, such as ``acp:gemini --acp``: who is asked what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pytest_caesar.agents.command_line import agent_of_command_line
from pytest_caesar.agents.errors import SelectionError
from pytest_caesar.agents.selection_context import Place, safe_id, speaking_acp
from pytest_caesar.agents.selectors import Fit, refusal

if TYPE_CHECKING:
    from pytest_caesar.agents.config import Config
    from pytest_caesar.agents.target import AgentTarget

Resolver = Callable[[str, "Config"], "tuple[str, AgentTarget | str] | None"]
"""Is given a name and the project's configuration; returns who knows it, and what it stands for."""

RESOLVERS: list[Resolver] = []
"""Who is asked, in this order. Others may add some."""

ACP: Final = "acp:"
"""Begins the command line of an agent that speaks the Agent Client Protocol."""


def as_scheme(text: str, place: Place) -> Fit | None:
    """Understand a name as one of a scheme: ``acp:``, or what others have added."""
    if text.startswith(ACP):
        return _as_acp(text, place)
    if not RESOLVERS or ":" not in text:
        return None
    config = place.config()
    for resolver in RESOLVERS:
        found = resolver(text, config)
        if found is None:
            continue
        who, meant = found
        if not isinstance(meant, str):
            return Fit(what=f"a name that {who} knows", agent=meant)
        agent = agent_of_command_line(meant, start=place.start, path=place.path, make_id=safe_id)
        missing = f"{who} says that it is the command line {meant!r}, whose program is not on PATH"
        return Fit(what=f"a name that {who} knows", agent=agent or refusal(text, missing))
    return None


def _as_acp(text: str, place: Place) -> Fit:
    command = text.removeprefix(ACP).strip()
    agent = agent_of_command_line(command, start=place.start, path=place.path, make_id=safe_id)
    what = "an agent that speaks ACP"
    if agent is None:
        problem = (
            "its program is not on PATH, and no such file; write the command line that starts the "
            'agent behind acp:, such as "acp:gemini --acp"'
        )
        return Fit(what=what, agent=refusal(text, problem))
    spoken_to = agent if isinstance(agent, SelectionError) else speaking_acp(agent)
    return Fit(what=what, agent=spoken_to)
