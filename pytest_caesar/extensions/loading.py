"""Plugins outside pytest: those that packages name under ``pytest_caesar``."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

import pluggy

from pytest_caesar import hooks
from pytest_caesar.extensions import own
from pytest_caesar.extensions.errors import HookError

if TYPE_CHECKING:
    from collections.abc import Callable


def load_plugins(group: str, tell: Callable[[HookError], None]) -> pluggy.PluginManager:
    """Load what packages add to the commands.

    Args:
        group: of the entry points.
        tell: is told of an entry point that cannot be loaded; the others are.
    """
    manager = pluggy.PluginManager("pytest")
    manager.add_hookspecs(hooks)
    manager.register(own, own.NAME)
    for entry in importlib.metadata.entry_points(group=group):
        # An editable installation may be found twice.
        if manager.has_plugin(entry.name) or manager.is_blocked(entry.name):
            continue
        try:
            manager.register(entry.load(), entry.name)
        except Exception as error:  # noqa: BLE001 - somebody else's code, which stops nothing
            problem = f"({entry.value}) could not be loaded: {type(error).__name__}: {error}"
            tell(HookError(plugin=entry.name, hook=f"entry point of {group}", problem=problem))
    return manager
