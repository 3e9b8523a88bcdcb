"""A clock for supervision that a frozen ``time`` module does not stop."""

from __future__ import annotations

import math
import select
import time
from typing import Final

MAX_PAUSE: Final = 5.0
"""Seconds that one ``pause`` lasts at most, so that a caller looks again at what it waits for."""

_clock = time.clock_gettime
_MONOTONIC = time.CLOCK_MONOTONIC


def monotonic() -> float:
    """Return seconds of a clock that only goes forward.

    freezegun replaces ``time.monotonic`` wherever it was imported;
    ``clock_gettime`` it leaves alone.
    """
    return _clock(_MONOTONIC)


def pause(seconds: float) -> None:
    """Wait ``seconds``, at most ``MAX_PAUSE``; nothing when negative or not a number.

    A signal handler may run meanwhile; what it raises is raised here.
    """
    if math.isnan(seconds) or seconds <= 0:
        return
    select.select([], [], [], min(seconds, MAX_PAUSE))
