"""What this package adds by its own hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_caesar.agents.catalogue import OWN_CLIS
from pytest_caesar.hooks import hookimpl
from pytest_caesar.recovery.streams.dialects import OWN_DIALECTS
from pytest_caesar.sandboxes.choice import OWN_SANDBOXES

if TYPE_CHECKING:
    from pytest_caesar.agents.known_cli import KnownCli
    from pytest_caesar.recovery.streams.base import LineReader
    from pytest_caesar.sandboxes.sandbox import Sandbox

NAME = "pytest-caesar"
"""What the plugin is called."""


@hookimpl(trylast=True)
def pytest_caesar_dialects() -> tuple[type[LineReader], ...]:
    """Give the dialects that come with this package."""
    return OWN_DIALECTS


@hookimpl(trylast=True)
def pytest_caesar_catalogue() -> tuple[KnownCli, ...]:
    """Give the known CLIs that come with this package."""
    return OWN_CLIS


@hookimpl(trylast=True)
def pytest_caesar_sandboxes() -> tuple[Sandbox, ...]:
    """Give the sandboxes that come with this package."""
    return OWN_SANDBOXES
