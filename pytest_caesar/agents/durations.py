"""Durations as configuration files and options write them."""

from __future__ import annotations

import re

from pytest_caesar.agents.errors import DurationError

MAX_DEADLINE_MS = 2**31 - 1
"""Longest deadline, in milliseconds (some 24.8 days).

Source: timers of the runtimes that agents are written in overflow beyond it and fire at once.
"""

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "": 1}
_SHAPE = re.compile(r"([0-9]{1,30})(ms|s|m|h)?")
_BLANKS = " \t\n\r\f\v"


def parse_duration(value: object) -> int:
    """Read a duration.

    Args:
        value: a number of milliseconds (fractions are cut off), or text such as
            ``90s``: digits, then ``ms``, ``s``, ``m``, ``h`` or nothing.

    Returns:
        Milliseconds, at least 0.

    Raises:
        DurationError: days, fractions, signs, combinations, anything else.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        finite = isinstance(value, int) or abs(value) != float("inf")
        if finite and value >= 0:
            return int(value)
    elif isinstance(value, str) and (match := _SHAPE.fullmatch(value.strip(_BLANKS))):
        return int(match[1]) * _UNITS[match[2] or ""]
    raise DurationError(found=repr(value) if len(repr(value)) <= 60 else repr(value)[:59] + "…")
