"""The hooks of other plugins, as one session takes them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_caesar.extensions.calls import call_each, is_implemented
from pytest_caesar.extensions.errors import HookError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from pytest_caesar.runs.extensions import Extensions
    from pytest_caesar.runs.prices import Prices

ONCE = (
    "pytest_caesar_dialects",
    "pytest_caesar_catalogue",
    "pytest_caesar_agent",
    "pytest_caesar_sandboxes",
    "pytest_caesar_gate",
    "pytest_caesar_secrets",
)
"""Hooks that are read once, so that a plugin which comes later comes too late."""


class PluginHooks:
    """What other plugins add to a session; nothing is imported where they add nothing.

    Args:
        manager: pytest's.
        problems: takes what is wrong with a hook, a line each.

    Raises:
        pytest.UsageError: a plugin returned what cannot be used.
    """

    def __init__(self, manager: pytest.PytestPluginManager, problems: list[str]) -> None:
        self._manager = manager
        self._problems = problems
        self._known = {id(plugin) for plugin in manager.get_plugins()}
        self._undo: Callable[[], None] | None = None
        if any(is_implemented(manager, hook) for hook in ONCE):
            from pytest_caesar.extensions import own, registration  # noqa: PLC0415 - only then

            if not manager.has_plugin(own.NAME):
                manager.register(own, own.NAME)
            self._known.add(id(own))
            try:
                self._undo = registration.install(
                    manager, lambda error: problems.append(str(error))
                )
            except HookError as error:
                raise pytest.UsageError(str(error)) from error

    def extensions(self) -> Extensions | None:
        """Return what delegations call, or None."""
        from pytest_caesar.extensions.delegating import extensions_of  # noqa: PLC0415 - runs

        return extensions_of(self._manager)

    def with_prices(self, prices: Prices | None) -> Prices | None:
        """Return prices that plugins are asked for, too, where they know any."""
        if not is_implemented(self._manager, "pytest_caesar_prices"):
            return prices
        from pytest_caesar.extensions.delegating import prices_of  # noqa: PLC0415 - seldom
        from pytest_caesar.runs.prices import Prices  # noqa: PLC0415 - seldom

        return Prices({} if prices is None else prices.models, prices_of(self._manager))

    def export(self, document: Mapping[str, Any], folder: Path) -> list[str]:
        """Let every exporter write; return what went wrong, a line each."""
        hook = "pytest_caesar_export"
        if not is_implemented(self._manager, hook):
            ours = "-p pytest_caesar.exporters.atif and -p pytest_caesar.exporters.otel"
            return [f"--caesar-export={folder}: no plugin exports anything; ours are {ours}"]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            return [f"--caesar-export={folder} was not written: {error}"]
        return [
            str(given)
            for _, given in call_each(self._manager, hook, document=document, folder=folder)
            if isinstance(given, HookError)
        ]

    def refuse_late(self, plugin: object) -> None:
        """Refuse a plugin that comes too late for one of its hooks.

        Raises:
            pytest.UsageError: it does.
        """
        if id(plugin) in self._known:
            return
        late = [hook for hook in ONCE if getattr(plugin, hook, None) is not None]
        if late:
            name = self._manager.get_name(plugin) or repr(plugin)
            raise pytest.UsageError(
                f"{name}: {late[0]} comes too late, because agents were selected before it was "
                "loaded: move it to the conftest.py at the root of the tests, or load it with -p"
            )

    def close(self) -> None:
        """Take back what was taken up."""
        if self._undo is not None:
            self._undo()
            self._undo = None
