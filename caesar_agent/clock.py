"""The one clock for durations, and a pause: neither stops where a library freezes ``time``."""

from __future__ import annotations

import math
import select
import time
from typing import Final

MAX_PAUSE: Final = 5.0
"""Seconds that one ``pause`` lasts at most, so that a caller looks again at what it waits for."""

if hasattr(time, "clock_gettime") and hasattr(time, "CLOCK_MONOTONIC"):

    def monotonic() -> float:
        """Return seconds of a clock that libraries which freeze time do not replace."""
        return time.clock_gettime(time.CLOCK_MONOTONIC)

else:  # pragma: no cover - Windows

    def monotonic() -> float:
        """Return seconds of the monotonic clock."""
        return time.monotonic()


def pause(seconds: float) -> None:
    """Wait ``seconds``, at most ``MAX_PAUSE``; nothing when negative or not a number.

    A signal handler may run meanwhile; what it raises is raised here.
    """
    if math.isnan(seconds) or seconds <= 0:
        return
    select.select([], [], [], min(seconds, MAX_PAUSE))
