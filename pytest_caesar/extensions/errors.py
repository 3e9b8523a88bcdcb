"""What can be wrong with a plugin."""

from __future__ import annotations

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError


class HookError(CaesarError):
    """A hook of a plugin raised, or returned what cannot be used.

    Attributes:
        plugin: its name, or the path of its ``conftest.py``.
        hook: name of the hook.
        problem: what was found, and what is expected.
    """

    plugin: str
    hook: str
    problem: str

    def message(self) -> str:
        """Name the plugin, the hook and the problem."""
        return (
            f"the plugin {one_line(self.plugin, limit=200)}: {self.hook} "
            f"{one_line(self.problem, limit=600)}"
        )
