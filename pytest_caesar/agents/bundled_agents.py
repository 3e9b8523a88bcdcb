"""The six agents that every project has; they come last, and any file of the same name wins."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pytest_caesar.agents.definitions import AgentDefinition, parse_agent

FILES = ("explore", "plan", "designer", "reviewer")
"""Agents with a file of their own."""

_SHARED = {
    "task": (
        "name: task\n"
        "description: General-purpose worker with every tool, for work of several steps.\n"
        'spawns: "*"\n'
        "model: default\n"
        "thinking-level: medium\n"
    ),
    "quick_task": (
        "name: quick_task\n"
        "description: Cheap worker for mechanical work that needs no thinking, such as "
        "renaming or collecting.\n"
        "model: smol\n"
        "thinking-level: minimal\n"
    ),
}
"""Front matter of the agents that share the body of ``task.md``."""


@cache
def load_bundled_agents() -> tuple[AgentDefinition, ...]:
    """Return the bundled agents in their order.

    Raises:
        FrontMatterError, AgentParsingError: a bundled file is broken, which fails the
            whole discovery on purpose: it is our mistake, not the user's.
    """
    texts = [(name, _read(name)) for name in FILES]
    body = _read("task")
    texts += [(name, f"---\n{head}---\n{body}") for name, head in _SHARED.items()]
    return tuple(
        parse_agent(text, location=f"embedded:{name}.md", source="bundled", level="fatal")
        for name, text in texts
    )


def clear_bundled_agents_cache() -> None:
    """Forget the bundled agents, so that a test can load them again."""
    load_bundled_agents.cache_clear()


def _read(name: str) -> str:
    return files("pytest_caesar.agents.bundled").joinpath(f"{name}.md").read_text(encoding="utf-8")
