"""Processes that are not our children: found by what they carry, ended without mistaking them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from caesar_agent.clock import monotonic, pause
from pytest_caesar.supervision.monitors import process_tree

MAX_NAME: Final = 160
"""Characters of a command line that a message shows."""
_LONGEST_PAUSE: Final = 0.02

_pidfd_open: Any = getattr(os, "pidfd_open", None)
_pidfd_send_signal: Any = getattr(signal, "pidfd_send_signal", None)
_PROC: Final = sys.platform.startswith("linux") and os.path.isdir("/proc/self")  # noqa: PTH112


@dataclass(frozen=True, slots=True)
class Process:
    """A process that cannot be taken for another one that was given its id later.

    Attributes:
        pid: its process id.
        started: when it was started, in a unit of the system; only compared.
    """

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> Process | None:
        """Return the process that has this id now, or None when there is none."""
        started = _started(pid)
        return None if started is None else cls(pid, started)

    @property
    def alive(self) -> bool:
        """Whether it still runs; one that only waits to be reaped does not."""
        if _started(self.pid) != self.started:
            return False
        return not _is_zombie(self.pid)

    @property
    def name(self) -> str:
        """Its command line, shortened, with control characters escaped; "" when it is gone."""
        return readable(_command_line(self.pid))

    def send(self, number: int) -> bool:
        """Signal it; False when it is gone, may not be signalled, or is one of ours."""
        if self.pid in protected():
            return False
        handle = -1
        try:
            if _pidfd_open is not None and _pidfd_send_signal is not None:
                # Opened first, compared then: from here on the id cannot be given to another.
                handle = _pidfd_open(self.pid)
            if _started(self.pid) != self.started:
                return False
            if handle >= 0:
                _pidfd_send_signal(handle, number)
            else:
                os.kill(self.pid, number)
        except OSError:
            return False
        finally:
            if handle >= 0:
                os.close(handle)
        return True


def protected() -> frozenset[int]:
    """Return the ids that are never signalled: this process, its ancestors, and pid 1."""
    found = {0, 1, os.getpid(), os.getppid()}
    if _PROC:
        pid = os.getppid()
        while pid > 1:
            status = process_tree.stat(pid)
            if status is None or status[0] in found:
                break
            pid = status[0]
            found.add(pid)
    return frozenset(found)


def carrying(variable: str, value: str) -> list[Process]:
    """Return the processes that were started with ``variable=value`` in their environment.

    Only those of the same user can be looked into; those are all that an agent can start.
    """
    if _PROC:
        mark = os.fsencode(f"{variable}={value}")
        candidates = process_tree.marked((mark,))
    else:
        candidates = _carrying_by_psutil(variable, value)
    ours = protected()
    processes = (Process.of(pid) for pid in candidates if pid not in ours)
    return [process for process in processes if process is not None and process.alive]


def below(pid: int) -> list[Process]:
    """Return what descends from a process at this moment."""
    if _PROC:
        found = (Process.of(child) for child, _ in process_tree.descendants(pid))
        return [process for process in found if process is not None and process.alive]
    import psutil  # noqa: PLC0415 - only where there is no /proc

    try:
        below_it = psutil.Process(pid).children(recursive=True)
        return [Process(child.pid, child.create_time()) for child in below_it]
    except psutil.Error:
        return []


def end(processes: Iterable[Process], *, grace: float, patience: float) -> list[Process]:
    """End processes with SIGTERM and, after ``grace`` seconds, SIGKILL.

    Args:
        processes: what to end; a process that is gone already is no mistake.
        grace: seconds between the two signals.
        patience: seconds that SIGKILL gets to take effect.

    Returns:
        What is still alive.
    """
    left = [process for process in processes if process.alive]
    for numbers, seconds in (
        ((signal.SIGTERM, signal.SIGCONT), grace),
        ((signal.SIGKILL,), patience),
    ):
        until = monotonic() + seconds
        interval = 0.001
        for process in left:
            for number in numbers:
                process.send(number)
        while left := [process for process in left if process.alive]:
            if monotonic() >= until:
                break
            pause(interval)
            interval = min(interval * 2, _LONGEST_PAUSE)
    return left


def readable(command_line: bytes) -> str:
    """Return a command line that a terminal can show: escaped, on one line, shortened."""
    text = command_line.decode("utf-8", "backslashreplace")
    shown = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text[: MAX_NAME * 2]
    )
    return shown if len(shown) <= MAX_NAME else shown[: MAX_NAME - 1] + "…"


def _started(pid: int) -> float | None:
    if _PROC:
        try:
            return float(process_tree.read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[19])
        except (OSError, IndexError, ValueError):
            return None
    import psutil  # noqa: PLC0415 - only where there is no /proc

    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def _is_zombie(pid: int) -> bool:
    if _PROC:
        status = process_tree.stat(pid)
        return status is None or status[2] in {"Z", "X"}
    import psutil  # noqa: PLC0415 - only where there is no /proc

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return True


def _command_line(pid: int) -> bytes:
    if _PROC:
        return process_tree.name_of(pid)
    import psutil  # noqa: PLC0415 - only where there is no /proc

    try:
        return os.fsencode(" ".join(psutil.Process(pid).cmdline()))
    except psutil.Error:
        return b""


def _carrying_by_psutil(variable: str, value: str) -> list[int]:
    import psutil  # noqa: PLC0415 - only where there is no /proc

    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(variable) == value:
                found.append(process.pid)
        except (psutil.Error, OSError):  # noqa: PERF203 - one that is gone hides no other
            continue
    return found
