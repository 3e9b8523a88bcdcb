"""What an agent in this process tells, shown while it works."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from caesar_agent.clock import pause

LOOK: Final = 0.1
"""Seconds between two looks at what it told."""


@contextlib.contextmanager
def watched(poll: Callable[[], None], shown: object) -> Iterator[None]:
    """Look after what is told, in a thread of its own, while the block lasts.

    The agent has this thread, and its descriptors.

    Args:
        poll: shows what is new.
        shown: who shows it; only one that can write ``directly`` is looked after.
    """
    directly: Any = getattr(shown, "directly", None)
    if directly is None:
        yield
        return
    with directly() as possible:
        if not possible:
            yield
            return
        over = threading.Event()

        def look() -> None:
            while not over.is_set():
                poll()
                pause(LOOK)

        thread = threading.Thread(target=look, name="caesar-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
