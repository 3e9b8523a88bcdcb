"""A deadline for Python code in this thread, beside a timer that somebody else set."""

from __future__ import annotations

import math
import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Final, Literal

from caesar_agent.clock import monotonic, pause
from caesar_agent.processes.interruption import Interrupted, interrupt
from pytest_caesar.supervision.cancellation import Cancellation

INSIST: Final = 1.0
"""Seconds between two interruptions of a function that swallowed the one before."""
WATCH: Final = 0.05
"""Seconds between two looks at ``cancelled``."""
_LONGEST: Final = 1e6
_SHORTEST: Final = 0.001

Why = Literal["", "deadline", "cancelled"]


class Alarm:
    """Interrupts the agent in the main thread at its deadline, or when it is cancelled.

    SIGALRM is shared with whoever used it before (pytest-timeout's signal method):
    the earlier of both timers rings first, each one with its own handler, and what
    is left of the outer one is set again afterwards.

    Args:
        timeout: seconds from entering.
        grace: seconds until an interruption that was swallowed is repeated.
        cancelled: an event that interrupts too.
    """

    def __init__(self, timeout: float, grace: float, cancelled: Cancellation | None) -> None:
        self.why: Why = ""
        self.loading = True
        self._timeout = timeout
        self._grace = grace
        self._cancelled = cancelled
        self._due: float | None = None
        self._outer: Any = None
        self._outer_due: float | None = None
        self._outer_interval = 0.0
        self._over = False
        self._lock = threading.Lock()

    def __enter__(self) -> Alarm:  # noqa: PYI034 - Self needs Python 3.11
        begun = monotonic()
        left, self._outer_interval = signal.setitimer(signal.ITIMER_REAL, 0)
        self._outer_due = begun + left if left else None
        self._due = begun + self._timeout
        self._outer = signal.signal(signal.SIGALRM, self._ring)
        self._set()
        if self._cancelled is not None:
            threading.Thread(
                target=self._watch, args=(self._cancelled,), name="caesar-cancel", daemon=True
            ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if self._outer is None else self._outer)
        if self._outer_due is not None:
            left = max(self._outer_due - monotonic(), _SHORTEST)
            signal.setitimer(signal.ITIMER_REAL, left, self._outer_interval)

    @property
    def overdue(self) -> bool:
        """Whether the deadline has passed without an interruption having come through."""
        return not self.why and self._due is not None and monotonic() >= self._due

    def suspend(self) -> None:
        """Let no deadline of ours ring any more: somebody is thinking in a debugger."""
        self._due = None
        self._set()

    def _set(self) -> None:
        due = min((d for d in (self._due, self._outer_due) if d is not None), default=None)
        if due is None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            return
        left = min(max(due - monotonic(), _SHORTEST), _LONGEST)
        signal.setitimer(signal.ITIMER_REAL, left)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._over:
            return
        now = monotonic()
        if self._outer_due is not None and now >= self._outer_due:
            self._outer_due = now + self._outer_interval if self._outer_interval else None
            self._set()
            self._ring_outer(number, frame)
            return
        why: Why = ""
        if self._due is not None and now >= self._due:
            why = self.why or "deadline"
        elif not self.why and self._cancelled is not None and self._cancelled.is_set():
            why = "cancelled"
        if why:
            again = bool(self.why)
            self.why = why
            hurry = math.inf if self._cancelled is None else self._cancelled.grace
            self._due = now + min(INSIST if again else self._grace, hurry)
        self._set()
        if why:
            reason = "stopped at its deadline" if why == "deadline" else "cancelled"
            interrupt(reason, again=again)
            if self.loading:
                raise Interrupted(reason)

    def _ring_outer(self, number: int, frame: FrameType | None) -> None:
        if callable(self._outer):
            self._outer(number, frame)
        elif self._outer == signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _watch(self, cancelled: Cancellation) -> None:
        main = threading.main_thread().ident
        while not cancelled.is_set():
            if self._over:
                return
            pause(WATCH)
        with self._lock:
            # Under the lock: once over, the signal is somebody else's again.
            if not self._over and main is not None:
                signal.pthread_kill(main, signal.SIGALRM)
