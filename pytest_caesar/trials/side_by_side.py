"""Delegations side by side in threads: agents wait for models, the harness waits for them."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from caesar_agent.errors import CaesarError
from pytest_caesar.orchestrator.pending_run import PendingRun
from pytest_caesar.runs.run import Run

LOOK = 1.0
"""Seconds between two looks at whether a thread ended without a word."""


@dataclass(slots=True)
class SideBySide:
    """What came of trials, by their number."""

    runs: dict[int, Run] = field(default_factory=dict)
    errors: dict[int, BaseException] = field(default_factory=dict)


def side_by_side(
    numbers: Iterable[int], start: Callable[[int], PendingRun], *, jobs: int
) -> SideBySide:
    """Carry out trials, some at once, each started as soon as another has ended.

    What is raised meanwhile (Ctrl-C, the test's own timeout) cancels those that run, waits until
    their agents are gone, and starts no more.

    Args:
        numbers: of the trials, in the order in which they are started.
        start: begins one of them; what it raises is the error of that trial.
        jobs: how many at once, 1 or more.
    """
    found = SideBySide()
    running: dict[int, PendingRun] = {}
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    waiting = iter(numbers)
    more = True
    try:
        while True:
            while more and len(running) < jobs:
                number = next(waiting, None)
                if number is None:
                    more = False
                    break
                try:
                    pending = start(number)
                except (CaesarError, OSError) as error:
                    found.errors[number] = error
                    continue
                running[number] = pending
                pending.when_done(lambda number=number: ended.put(number))  # type: ignore[misc]
            if not running:
                return found
            _take(found, running, _next(ended, running))
    except BaseException:
        for pending in running.values():
            pending.cancel()
        for number in list(running):
            _take(found, running, number)
        raise


def _next(ended: queue.SimpleQueue[int], running: dict[int, PendingRun]) -> int:
    while True:
        with contextlib.suppress(queue.Empty):
            return ended.get(timeout=LOOK)
        for number, pending in running.items():
            if pending.done:
                return number


def _take(found: SideBySide, running: dict[int, PendingRun], number: int) -> None:
    pending = running.pop(number, None)
    if pending is None:
        return
    try:
        found.runs[number] = pending.wait()
    except (CaesarError, OSError) as error:
        found.errors[number] = error
