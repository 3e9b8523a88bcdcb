"""A guard: stands in for a tree that is not ours, the processes of a function in the harness."""

from __future__ import annotations

import os

from pytest_caesar.supervision.monitors.messages import Link
from pytest_caesar.supervision.monitors.monitor import KILL_WAIT, ORPHAN_GRACE
from pytest_caesar.supervision.monitors.process_tree import marked, quietly
from pytest_caesar.supervision.monitors.waiting import LONGEST_POLL, drain, now, open_process, wait

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the same without enum


def guard(link: Link, parent: int, wake: int) -> None:
    """Wait for a farewell; should the harness go without one, end what carries its marks."""
    harness = open_process(parent)
    marks: tuple[bytes, ...] = ()
    while True:
        wait([link] + ([harness] if harness >= 0 else []), [], LONGEST_POLL)
        message = link.receive(0)
        if message is not None and message[0] == "bye":
            return
        if message is not None and message[0] == "mark":
            marks = tuple(message[1])
        elif link.closed or (harness >= 0 and wait([harness], [], 0)):
            break
    for number, seconds in ((signal.SIGTERM, ORPHAN_GRACE), (signal.SIGKILL, KILL_WAIT)):
        until = now() + seconds
        while now() < until and (found := marked(marks)):
            for pid in found:
                quietly(os.kill, pid, number)
            wait([wake], [], 0.02)
            drain(wake)
