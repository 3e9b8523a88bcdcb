"""A clock for supervision that a frozen ``time`` module does not stop."""

from __future__ import annotations

import math
import select
from typing import Final

from caesar_agent.clock import monotonic

__all__ = ["MAX_PAUSE", "monotonic", "pause"]

MAX_PAUSE: Final = 5.0
"""Seconds that one ``pause`` lasts at most, so that a caller looks again at what it waits for."""


def pause(seconds: float) -> None:
    """Wait ``seconds``, at most ``MAX_PAUSE``; nothing when negative or not a number.

    A signal handler may run meanwhile; what it raises is raised here.
    """
    if math.isnan(seconds) or seconds <= 0:
        return
    select.select([], [], [], min(seconds, MAX_PAUSE))
