"""Timeouts cut to what is left of the test around a delegation."""

from __future__ import annotations

from typing import Final

MARGIN: Final = 2.0
"""Seconds kept back to observe, reconcile and report once the agent is gone."""
SHORTEST: Final = 0.05
"""Seconds that an agent gets in any case."""
GRACE_SHARE: Final = 0.25
"""Most of what is left that the grace between SIGTERM and SIGKILL may take."""


def format_seconds(milliseconds: int) -> str:
    """Say a deadline in seconds, the same wherever it is told."""
    return f"{round(milliseconds / 1000, 2):.12g} s"


def fit(timeout: float, grace: float, left: float | None) -> tuple[float, float]:
    """Cut an agent's timeout and grace so that both end before the test does.

    Args:
        timeout: seconds asked for.
        grace: seconds between SIGTERM and SIGKILL asked for.
        left: seconds until the test is shot, or None when nothing threatens it.

    Returns:
        Timeout and grace to use, neither above what was asked for.
    """
    if left is None:
        return timeout, grace
    usable = left - MARGIN
    if timeout + grace <= usable:
        return timeout, grace
    grace = min(grace, max(usable * GRACE_SHARE, 0.0))
    return min(timeout, max(usable - grace, SHORTEST)), grace
