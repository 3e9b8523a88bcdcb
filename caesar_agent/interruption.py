"""Stopping an agent from outside: signals become an exception, and the process ends in time."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

UNWIND_SECONDS = 3.0
"""How long an agent may tidy up after a signal. Orchestrators send SIGKILL after five seconds;
a second for ending a command and one to spare are left."""

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interrupted(KeyboardInterrupt):
    """The agent was told to stop.

    It is a ``KeyboardInterrupt`` so that ``except Exception`` does not swallow it and
    asyncio lets it through. An agent may catch it, return a report of its own within
    three seconds, and that report counts.

    Attributes:
        reason: one sentence without a full stop, such as ``stopped by SIGTERM``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


_depth = 0
_pending: Interrupted | None = None


def interrupt(reason: str) -> None:
    """Raise ``Interrupted`` in the main thread, from a signal handler.

    Inside ``shielded()`` it is raised when that ends.
    """
    global _pending  # noqa: PLW0603 - signals belong to the process
    if _depth:
        _pending = Interrupted(reason)
        return
    raise Interrupted(reason)


class shielded:  # noqa: N801 - used like a function
    """Put off interruptions of the main thread while something short must stay whole."""

    def __enter__(self) -> None:
        global _depth  # noqa: PLW0603
        if threading.current_thread() is threading.main_thread():
            _depth += 1

    def __exit__(self, *_: object) -> None:
        global _depth, _pending  # noqa: PLW0603
        if threading.current_thread() is not threading.main_thread():
            return
        _depth -= 1
        if _depth == 0 and _pending is not None:
            pending, _pending = _pending, None
            raise pending


class SignalGuard:
    """Turns SIGTERM and SIGINT into ``Interrupted`` while it is entered.

    The first signal counts; others change nothing. Before the exception is raised
    ``on_signal`` is called, so that a report lies there even when the agent swallows
    the exception; and when it has not ended ``UNWIND_SECONDS`` later, ``on_overrun``
    is called from another thread and the process ends with exit code 1.

    Args:
        on_signal: called in the main thread with the reason.
        on_overrun: called just before the process is ended by force.
        install: False leaves the handlers alone, for a caller with its own.
    """

    def __init__(
        self,
        on_signal: Callable[[str], None],
        on_overrun: Callable[[], None],
        *,
        install: bool = True,
    ) -> None:
        self._install = install
        self._on_signal = on_signal
        self._on_overrun = on_overrun
        self._previous: dict[signal.Signals, Any] = {}
        self._over = threading.Event()
        self._closed = False
        self.reason: str | None = None

    def __enter__(self) -> SignalGuard:  # noqa: PYI034 - Self needs Python 3.11
        # Elsewhere Python does not allow handlers; the caller's own then decide.
        if self._install and threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed = True
        self._over.set()
        for number, handler in self._previous.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    def close(self) -> None:
        """Ignore signals from now on: the report is on its way."""
        self._closed = True

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._closed or self.reason is not None:
            return
        self.reason = f"stopped by {signal.Signals(number).name}"
        threading.Thread(target=self._watch, name="caesar-agent-end", daemon=True).start()
        self._on_signal(self.reason)
        interrupt(self.reason)

    def _watch(self) -> None:
        if self._over.wait(UNWIND_SECONDS):
            return
        self._on_overrun()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(1)
