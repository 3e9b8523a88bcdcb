"""Clock, waits and wake-ups of the monitors."""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # the same without enum

LONGEST_POLL = 3600.0
"""Seconds of one wait, so that a deadline in years does not overflow ``poll``."""

_pidfd_open: Any = getattr(os, "pidfd_open", None)


def now() -> float:
    """Return seconds of a clock that nothing in the harness's process can freeze."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def wait(read: list[Any], write: list[Any], seconds: float) -> list[int]:
    """Wait until a descriptor is ready or ``seconds`` passed; return what is ready."""
    poll = select.poll()
    for item in read:
        poll.register(item, select.POLLIN)
    for item in write:
        poll.register(item, select.POLLOUT)
    # Rounded up: a poll of 0 ms in the last millisecond would spin.
    return [fd for fd, _ in poll.poll(int(min(max(seconds, 0.0), LONGEST_POLL) * 1000 + 0.999))]


def open_process(pid: int) -> int:
    """Return a descriptor that becomes readable when the process ends, or -1."""
    try:
        return int(_pidfd_open(pid)) if _pidfd_open is not None else -1
    except OSError:
        return -1


def drain(fd: int) -> None:
    """Empty the pipe that signals are noted in."""
    try:
        while os.read(fd, 4096):
            pass
    except OSError:
        pass


def arm() -> int:
    """Note SIGCHLD in a pipe and return its reading end."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return read
