"""The one clock of the SDK for durations."""

from __future__ import annotations

import time

if hasattr(time, "clock_gettime") and hasattr(time, "CLOCK_MONOTONIC"):

    def monotonic() -> float:
        """Return seconds of a clock that libraries which freeze time do not replace."""
        return time.clock_gettime(time.CLOCK_MONOTONIC)

else:  # pragma: no cover - Windows

    def monotonic() -> float:
        """Return seconds of the monotonic clock."""
        return time.monotonic()
