"""Whether a process does anything, by what Linux counts; elsewhere nobody can tell."""

from __future__ import annotations

import os
from pathlib import Path


class Pulse:
    """The signs of life of one process."""

    def __init__(self, pid: int) -> None:
        self._tasks = Path(f"/proc/{pid}/task")
        self._before: dict[str, tuple[bytes, ...]] | None = None

    def beats(self) -> bool:
        """Tell whether it did something since this was asked last; True when in doubt.

        A process with children may wait for them, one that waits for a disk is
        not asleep in the eyes of the system, and each look at a clock or a file
        wakes one up.
        """
        try:
            now = {name: _signs(self._tasks / name) for name in os.listdir(self._tasks)}  # noqa: PTH208 - names are enough
        except (OSError, _AliveError):
            self._before = None
            return True
        before, self._before = self._before, now
        return now != before


class _AliveError(Exception):
    """A thread runs, or has children."""


def _signs(task: Path) -> tuple[bytes, ...]:
    lines = (task / "status").read_bytes().splitlines()
    state = next(line for line in lines if line.startswith(b"State:"))
    if b"S (" not in state or (task / "children").read_bytes().strip():
        raise _AliveError
    return tuple(line for line in lines if b"ctxt_switches" in line)
