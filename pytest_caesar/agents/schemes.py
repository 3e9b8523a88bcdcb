"""Names of a scheme of their own, such as ``acme:reviewer``: who is asked what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_caesar.agents.command_line import agent_of_command_line
from pytest_caesar.agents.selection_context import Place, safe_id
from pytest_caesar.agents.selectors import Fit, refusal

if TYPE_CHECKING:
    from pytest_caesar.agents.config import Config
    from pytest_caesar.agents.target import AgentTarget

Resolver = Callable[[str, "Config"], "tuple[str, AgentTarget | str] | None"]
"""Is given a name and the project's configuration; returns who knows it, and what it stands for."""

RESOLVERS: list[Resolver] = []
"""Who is asked, in this order. Others may add some."""


def as_scheme(text: str, place: Place) -> Fit | None:
    """Understand a name as one of a scheme that others have added."""
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
        return Fit(
            what=f"a name that {who} knows",
            agent=agent
            or refusal(
                text,
                f"{who} says that it is the command line {meant!r}, whose program is not on PATH",
            ),
        )
    return None
