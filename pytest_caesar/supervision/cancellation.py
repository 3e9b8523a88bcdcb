"""How a delegation is broken off: by its caller, or by Ctrl-C, SIGTERM and SIGHUP.

A signal raises nothing in the midst of a delegation. It cancels every one that is under way,
so that each comes to its end as cancelled, with its record; then the signal takes effect.
"""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, Final

INTERRUPTED_GRACE: Final = 1.0
"""Seconds that an agent gets for its last report after Ctrl-C; with what ending it takes it is
gone 1.5 s after the key at the latest."""

PATIENCE: Final = 2
"""Signals that are put off: the first cancels, the second kills, the next one takes effect."""

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Cancellation:
    """Whether one delegation is to be broken off.

    There is no lock in it: a signal handler may set it in the very thread that looks at it.

    Attributes:
        grace: seconds between SIGTERM and SIGKILL at most; infinity leaves them as they are.
    """

    __slots__ = ("_set", "grace")

    def __init__(self) -> None:
        self._set = False
        self.grace = math.inf

    def set(self) -> None:
        """Have the delegation broken off."""
        self._set = True

    def is_set(self) -> bool:
        """Tell whether the delegation is to be broken off."""
        return self._set

    def hurry(self, grace: float) -> None:
        """Have it broken off, and its agent killed ``grace`` seconds after SIGTERM at the latest."""
        self.grace = min(self.grace, grace)
        self._set = True


class Interruption(KeyboardInterrupt):
    """A signal came while an agent worked; everything about it is known and recorded.

    Attributes:
        number: of the signal.
        result: what the delegation returned, or None when it had not come that far.
    """

    def __init__(self, number: int, result: object = None, *, record: str = "") -> None:
        name = signal.Signals(number).name
        super().__init__(f"{name}; the agent was stopped, see {record}" if record else name)
        self.number = number
        self.result = result


@dataclass(slots=True)
class _State:
    """What this process knows of signals; the handlers run in its main thread."""

    under_way: list[Cancellation] = field(default_factory=list)
    previous: dict[signal.Signals, Any] = field(default_factory=dict)
    nesting: int = 0
    put_off: int = 0
    received: int = 0
    count: int = 0
    lent: bool = False


_state = _State()


class interruptible:  # noqa: N801 - used like a function
    """Carry out a delegation that a signal cancels, and let the signal take effect afterwards.

    In another thread than the main one the delegation is cancelled all the same, if the main
    thread is ``listening``; the signal itself is the main thread's.

    Args:
        cancellation: of the delegation.

    Attributes:
        result, record: set by the caller; handed on with the ``Interruption``, the latter for
            people: where to look.
    """

    def __init__(self, cancellation: Cancellation) -> None:
        self.result: object = None
        self.record = ""
        self._cancellation = cancellation
        self._main = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> interruptible:  # noqa: PYI034 - Self needs Python 3.11
        _state.under_way.append(self._cancellation)
        if self._main:
            _install()
            _state.put_off += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(ValueError):
            _state.under_way.remove(self._cancellation)
        number, last = _state.received, self._main and _state.put_off == 1
        if not _state.under_way:
            _state.count = 0
        if last:
            _state.received = 0
        if not self._main:
            return
        previous = _previous(number) if number else None
        _state.put_off -= 1
        _uninstall()
        if not number or not last or isinstance(error, KeyboardInterrupt):
            return
        if callable(previous) and previous not in (signal.default_int_handler, _raise):
            previous(number, None)
        else:
            raise Interruption(number, self.result, record=self.record) from error


@contextmanager
def listening() -> Iterator[None]:
    """Have signals cancel what other threads have under way, and take effect at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _install()
    try:
        yield
    finally:
        _uninstall()


@contextmanager
def stoppable() -> Iterator[None]:
    """Have SIGTERM and SIGHUP raise as Ctrl-C does, for a command that has something to say."""
    replaced = [number for number in SIGNALS if signal.getsignal(number) == signal.SIG_DFL]
    try:
        for number in replaced:
            signal.signal(number, _raise)
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler
    raise Interruption(number)


def let_through(*, allowed: bool) -> None:
    """Let signals take effect at once, or no longer: somebody is in a debugger."""
    _state.lent = allowed


def _install() -> None:
    _state.nesting += 1
    if _state.nesting > 1:
        return
    for number in SIGNALS:
        handler = signal.getsignal(number)
        # What is ignored stays so (nohup, a job in the background), and so does what C installed.
        if handler is not None and handler != signal.SIG_IGN:
            _state.previous[number] = handler
            signal.signal(number, _handle)


def _uninstall() -> None:
    _state.nesting -= 1
    if not _state.nesting:
        _give_back()


def _give_back() -> None:
    for number, handler in _state.previous.items():
        if signal.getsignal(number) is _handle:
            signal.signal(number, handler)
    _state.previous.clear()


def _after_fork() -> None:
    """Leave a forked child its signals: what is under way is its parent's."""
    global _state  # noqa: PLW0603
    _give_back()
    _state = _State()


os.register_at_fork(after_in_child=_after_fork)


def _previous(number: int) -> Any:
    return _state.previous.get(signal.Signals(number), signal.SIG_DFL)


def _handle(number: int, frame: FrameType | None) -> None:
    if not _state.under_way or _state.lent:
        _take_effect(number, frame)
        return
    _state.count += 1
    for cancellation in tuple(_state.under_way):
        cancellation.hurry(INTERRUPTED_GRACE if _state.count == 1 else 0.0)
    if _state.put_off and _state.count <= PATIENCE:
        _state.received = _state.received or number
    else:
        _take_effect(number, frame)


def _take_effect(number: int, frame: FrameType | None) -> None:
    handler = _previous(number)
    if callable(handler):
        handler(number, frame)
    elif _state.under_way:
        raise Interruption(number)
    else:
        signal.signal(number, handler)
        os.kill(os.getpid(), number)
