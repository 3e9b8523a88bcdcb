"""Plugins of the commands, which know no pytest."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

from caesar_agent.console import printable, tell

if TYPE_CHECKING:
    import pluggy

GROUP = "pytest_caesar"
"""Group of the entry points."""


def take_up_plugins() -> pluggy.PluginManager | None:
    """Load what packages add, and take up what is added once; problems are told on stderr.

    Returns:
        Their manager, or None where no package adds anything.

    Raises:
        HookError: a plugin returned what cannot be used.
    """
    if not importlib.metadata.entry_points(group=GROUP):
        return None
    from pytest_caesar.extensions.errors import HookError  # noqa: PLC0415 - only with plugins
    from pytest_caesar.extensions.loading import load_plugins  # noqa: PLC0415 - as above
    from pytest_caesar.extensions.registration import install  # noqa: PLC0415 - as above

    def show(error: HookError) -> None:
        tell(f"pytest-caesar: {printable(str(error))}\n")

    manager = load_plugins(GROUP, show)
    install(manager, show)
    return manager
