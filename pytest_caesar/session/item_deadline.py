"""What is left of a test's own timeout, so that its agents are ended before it is.

pytest-timeout tells through its public hooks when it starts and stops a timer. This module is
registered as a plugin; it never answers a hook, so that pytest-timeout still does its work.
"""

from __future__ import annotations

from typing import Any

import pytest

from caesar_agent.clock import monotonic

_due: dict[str, float] = {}


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    """Note when the test is shot."""
    if settings.timeout:
        _due[item.nodeid] = monotonic() + settings.timeout


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> None:
    """Forget it."""
    _due.pop(item.nodeid, None)


def seconds_left(nodeid: str | None = None) -> float | None:
    """Return the seconds until a test is shot, or None when nothing threatens it.

    Args:
        nodeid: of the test; None for whichever runs in this process.
    """
    due = _due.get(nodeid) if nodeid is not None else min(_due.values(), default=None)
    return None if due is None else due - monotonic()
