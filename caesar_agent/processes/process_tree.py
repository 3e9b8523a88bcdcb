"""The processes below one process, found without any library."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """A process and its descendants, as they were when it was looked at.

    Attributes:
        members: process id to the moment of its start, so that a number which was
            given to another process meanwhile is not mistaken for it; the moment is
            "" where the system does not tell.
    """

    members: dict[int, str]

    @classmethod
    def of(cls, root: int) -> ProcessTree:
        """Look at a process and everything below it."""
        table = _table()
        children: dict[int, list[int]] = {}
        for pid, (parent, _) in table.items():
            children.setdefault(parent, []).append(pid)
        members: dict[int, str] = {}
        todo = [root]
        while todo:
            pid = todo.pop()
            if pid in members:
                continue
            members[pid] = table.get(pid, (0, ""))[1]
            todo += children.get(pid, [])
        return cls(members)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to each member that is still there."""
        for pid in self._still_there():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def alive(self, *, beside: int) -> bool:
        """Tell whether any member but one is still there."""
        return any(pid != beside for pid in self._still_there())

    def _still_there(self) -> list[int]:
        found = []
        for pid, start in self.members.items():
            seen = _look(pid)
            if seen is not None and (start in ("", seen[1])):
                found.append(pid)
        return found


def _table() -> dict[int, tuple[int, str]]:
    """Return parent and moment of start of every process that can be seen."""
    if (PROC / "self" / "stat").exists():
        pids = [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208 - many names
        return {pid: entry for pid in pids if (entry := _look(pid)) is not None}
    listing = subprocess.run(  # pragma: no cover - macOS
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False
    ).stdout
    rows = (line.split() for line in listing.splitlines())  # pragma: no cover - macOS
    return {int(row[0]): (int(row[1]), "") for row in rows if len(row) == 2}  # pragma: no cover


def _look(pid: int) -> tuple[int, str] | None:
    """Return parent and moment of start of a process; None when it is gone or a zombie."""
    if not (PROC / "self" / "stat").exists():  # pragma: no cover - macOS
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            pass
        return (0, "")
    try:
        text = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # The name in brackets may hold blanks and brackets itself.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return int(fields[1]), fields[19].decode()
