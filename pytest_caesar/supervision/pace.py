"""How often those who look at waiting agents do so: less often, the more of them there are.

Many agents at once share what the harness may spend on looking. An agent that ends is noticed
at once in any case; only what it writes meanwhile, and a request to stop it, wait for a look.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

FREE: Final = 8
"""Agents at once up to which nobody looks less often."""

CROWDED: Final = 0.025
"""Seconds between two looks at least, for each ``FREE`` agents, once there are more of them."""

LONGEST: Final = 0.2
"""Seconds between two looks at most, however many agents there are."""

_watched: list[object] = []


@contextmanager
def watched() -> Iterator[None]:
    """Count an agent while it is looked at."""
    mark = object()
    _watched.append(mark)
    try:
        yield
    finally:
        _watched.remove(mark)


def interval(seconds: float) -> float:
    """Return how long to wait where ``seconds`` would be right for a few agents."""
    if len(_watched) <= FREE:
        return seconds
    return max(seconds, min(max(seconds, CROWDED) * len(_watched) / FREE, LONGEST))
