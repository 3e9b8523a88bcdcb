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

FLUSH_SECONDS = 0.5
"""How long the last words of a process that is ended by force may take: whoever reads them may
have stopped reading."""

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interrupted(KeyboardInterrupt):
    """The agent was told to stop.

    It is a ``KeyboardInterrupt`` so that ``except Exception`` does not swallow it and
    asyncio lets it through. An agent may catch it and return a report of its own
    within three seconds; that report counts.

    Attributes:
        reason: the end of "The agent was …", such as ``stopped by SIGTERM``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Guard:
    """One agent that can be interrupted while it is entered, until ``close``.

    Args:
        on_interrupt: called in the main thread with the reason before ``Interrupted``
            is raised, so that a report lies there even when the agent swallows it.
        on_overrun: called from another thread when the agent has not ended
            ``UNWIND_SECONDS`` after a signal; then the process ends with exit code 1.
        install: turn SIGTERM and SIGINT into interruptions. False leaves the handlers
            alone, for a caller that has its own and calls ``interrupt``.
    """

    def __init__(
        self,
        on_interrupt: Callable[[str], None],
        on_overrun: Callable[[], None],
        *,
        install: bool,
    ) -> None:
        self._on_interrupt = on_interrupt
        self._on_overrun = on_overrun
        self._install = install
        self._process = os.getpid()
        self._handlers: dict[signal.Signals, Any] = {}
        self._outer: Guard | None = None
        self._over = threading.Event()
        self._closed = False
        self._shields = 0
        self._pending = False
        self.reason: str | None = None

    def __enter__(self) -> Guard:  # noqa: PYI034 - Self needs Python 3.11
        global _current
        self._outer, _current = _current, self
        # Elsewhere Python allows no handlers; those of the main thread then decide.
        if self._install and threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _current  # noqa: PLW0603
        self._closed = True
        self._over.set()
        for number, handler in self._handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        _current = self._outer

    def close(self) -> None:
        """Ignore interruptions from now on: the report is on its way."""
        self._closed = True

    def interrupt(self, reason: str, *, again: bool) -> None:
        """See ``interrupt`` of this module."""
        if self._closed or (self.reason is not None and not again):
            return
        if self.reason is None:
            self.reason = reason
            self._on_interrupt(reason)
        if self._shields:
            self._pending = True
        else:
            raise Interrupted(self.reason)

    def shield(self) -> None:
        """Put off what comes."""
        self._shields += 1

    def unshield(self) -> None:
        """Let through what came."""
        self._shields -= 1
        if self._pending and not self._shields and self.reason is not None:
            self._pending = False
            if not self._closed:
                raise Interrupted(self.reason)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if os.getpid() != self._process:
            # A worker that the agent forked has no task: the signal means what it did before.
            handler = self._handlers[signal.Signals(number)]
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
            os.kill(os.getpid(), number)
            return
        if not self._closed and self.reason is None:
            threading.Thread(target=self._watch, name="caesar-agent-end", daemon=True).start()
        self.interrupt(f"stopped by {signal.Signals(number).name}", again=False)

    def _watch(self) -> None:
        if self._over.wait(UNWIND_SECONDS):
            return
        # A stream whose reader is stuck would hold this thread too.
        words = threading.Thread(target=self._say, daemon=True)
        words.start()
        words.join(FLUSH_SECONDS)
        os._exit(1)

    def _say(self) -> None:
        self._on_overrun()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()


_current: Guard | None = None


def interrupt(reason: str, *, again: bool = False) -> None:
    """Interrupt the agent that runs in this process, from a handler in the main thread.

    Its report is written first. Does nothing when no agent runs, or its ``main`` has
    ended, or it was interrupted already.

    Args:
        reason: the end of "The agent was …", such as ``stopped at its deadline``.
        again: interrupt an agent that swallowed the first time, too.

    Raises:
        Interrupted: at once, or when the innermost ``shielded()`` ends.
    """
    if _current is not None:
        _current.interrupt(reason, again=again)


class shielded:  # noqa: N801 - used like a function
    """Put off interruptions while something short in the main thread must stay whole."""

    def __init__(self) -> None:
        self._guard: Guard | None = None

    def __enter__(self) -> None:
        if _current is not None and threading.current_thread() is threading.main_thread():
            _current.shield()
            self._guard = _current

    def __exit__(self, *_: object) -> None:
        if self._guard is not None:
            self._guard.unshield()
