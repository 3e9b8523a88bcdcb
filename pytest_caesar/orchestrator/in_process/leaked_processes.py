"""Processes that a function in this process started and left behind."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from caesar_agent.clock import monotonic, pause
from pytest_caesar.supervision import processes
from pytest_caesar.supervision.monitors.monitor import KILL_WAIT, LEFTOVER_GRACE, SETTLE
from pytest_caesar.supervision.outcome import LeakedProcess
from pytest_caesar.supervision.processes import Process
from pytest_caesar.supervision.reaper import reaper_pid

_BY_THREAD: Final = sys.platform.startswith("linux") and Path("/proc/thread-self/children").exists()

_STARTS_NOTHING: Final = frozenset({"caesar-nesting", "caesar-parent"})
"""Threads of the harness that start no process themselves."""


@dataclass(frozen=True, slots=True)
class Before:
    """What was there before the function was called.

    Attributes:
        children: of this process.
        threads: native ids of its threads.
    """

    children: frozenset[int]
    threads: frozenset[int]

    @classmethod
    def now(cls) -> Before:
        """Take it down."""
        threads = frozenset(_threads())
        children = frozenset(pid for thread in threads for pid in _children_of(thread))
        return cls(children, threads)


def end_leaked_processes(
    before: Before, task_directory: str
) -> tuple[list[LeakedProcess], list[Process]]:
    """End what the function left behind.

    Children of this thread, and of threads that came since, are its own; so is
    whatever carries the task's environment. Children of other threads are not
    touched: a delegation may be running there.

    Args:
        before: taken before the function was called.
        task_directory: value of ``CAESAR_TASK_DIR``.

    Returns:
        What was found, and what of it is still alive.
    """
    found = _left_behind(before, task_directory)
    if found:
        # It may be ending just now.
        until = monotonic() + SETTLE
        while found and monotonic() < until:
            pause(0.005)
            found = {pid: entry for pid, entry in found.items() if entry[0].alive}
    if not found:
        return [], []
    leaked = [
        LeakedProcess(pid=pid, name=process.name, found_by=how)
        for pid, (process, how) in found.items()
    ]
    left = processes.end(
        [process for process, _ in found.values()], grace=LEFTOVER_GRACE, patience=KILL_WAIT
    )
    for pid in found:
        # Only our own children can be reaped; the function's objects no longer need them.
        with contextlib.suppress(OSError):
            os.waitpid(pid, os.WNOHANG)
    return leaked, left


Found = dict[int, tuple[Process, Literal["descendant", "environment"]]]


def _left_behind(before: Before, task_directory: str) -> Found:
    found: Found = {}
    new = set(_children_of_ours(before)) - before.children - {reaper_pid()}
    for pid in new:
        process = Process.of(pid)
        if process is not None:
            if process.alive:
                found[pid] = (process, "descendant")
            for child in processes.below(pid):
                found[child.pid] = (child, "descendant")
    for process in processes.carrying("CAESAR_TASK_DIR", task_directory):
        found.setdefault(process.pid, (process, "environment"))
    return found


def _children_of_ours(before: Before) -> list[int]:
    if _BY_THREAD:
        mine = threading.get_native_id()
        # Delegations of ours may have begun meanwhile, when the function asked for them.
        others = {t.native_id for t in threading.enumerate() if t.name.startswith("caesar-")}
        known = before.threads | others
        threads = [t for t in _threads() if t == mine or t not in known]
        return [pid for thread in threads for pid in _children_of(thread)]
    # Nothing tells here which thread a child belongs to.
    return [p.pid for p in processes.below(os.getpid())] if _alone() else []


def _alone() -> bool:
    """Whether no other thread may have started a process."""
    others = [t.name for t in threading.enumerate() if t is not threading.current_thread()]
    return all(name in _STARTS_NOTHING for name in others)


def _threads() -> list[int]:
    if not _BY_THREAD:
        return [0]
    return [int(entry.name) for entry in Path("/proc/self/task").iterdir()]


def _children_of(thread: int) -> list[int]:
    if not _BY_THREAD:
        return [process.pid for process in processes.below(os.getpid())]
    try:
        text = Path(f"/proc/self/task/{thread}/children").read_bytes()
    except OSError:
        return []
    return [int(word) for word in text.split()]
