"""Calls hooks so that one that raises stops no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pytest_caesar.extensions.errors import HookError

if TYPE_CHECKING:
    import pluggy


def call_each(
    manager: pluggy.PluginManager, hook: str, **arguments: object
) -> Iterator[tuple[str, Any]]:
    """Call every implementation of a hook, the last registered first.

    Yields:
        Name of the plugin, and what it returned; a ``HookError`` in the place of that where it
        raised.
    """
    caller = getattr(manager.hook, hook, None)
    for implementation in reversed(caller.get_hookimpls() if caller is not None else ()):
        name = manager.get_name(implementation.plugin) or implementation.plugin_name
        if implementation.hookwrapper or implementation.wrapper:
            problem = "is a wrapper, and is not called: write it as a plain implementation"
            yield name, HookError(plugin=name, hook=hook, problem=problem)
            continue
        try:
            given = [arguments[argument] for argument in implementation.argnames]
            result = implementation.function(*given)
            # A generator would raise later, where nobody knows whose it is.
            if isinstance(result, Iterator):
                result = list(result)
        except Exception as error:  # noqa: BLE001 - somebody else's code, which stops nothing
            problem = f"raised {type(error).__name__}: {error}"
            yield name, HookError(plugin=name, hook=hook, problem=problem)
        else:
            yield name, result


def is_implemented(manager: pluggy.PluginManager, hook: str) -> bool:
    """Tell whether anybody implements a hook."""
    caller = getattr(manager.hook, hook, None)
    return caller is not None and bool(caller.get_hookimpls())
