"""Process trees, as the system shows them."""

# /proc is read many times a second, and pathlib would be imported for nothing else.
# ruff: noqa: PTH110, PTH112, PTH115, PTH123, PTH208, PERF203

from __future__ import annotations

import errno
import os
import sys

from pytest_caesar.supervision.monitors.waiting import now, wait

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator
    from typing import Any
else:
    import _signal as signal  # the same without enum

MAX_NAME = 1024
"""Bytes of a command line that are read to name a process."""
EXEC_TIME = 0.25
"""Seconds that a process may take to become another program; meanwhile it shows nothing."""
PS_WAIT = 5.0
"""Seconds that ps may take."""

_PR_SET_CHILD_SUBREAPER = 36
_PROC = sys.platform.startswith("linux") and os.path.isdir("/proc/self/task")
_KERNEL_LISTS_CHILDREN = os.path.exists("/proc/thread-self/children")

# Looked up by name: on macOS a type checker does not know them at all.
_pidfd_open: Any = getattr(os, "pidfd_open", None)
_pidfd_send_signal: Any = getattr(signal, "pidfd_send_signal", None)


def can_adopt() -> bool:
    """Tell whether this system has subreapers."""
    return sys.platform.startswith("linux")


def become_subreaper() -> bool:
    """Adopt whatever loses its parent below this process; False where the kernel cannot."""
    if not can_adopt():
        return False
    try:
        import ctypes  # noqa: PLC0415 - not every build has it

        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def read(path: str) -> bytes:
    """Return a file of /proc whole."""
    with open(path, "rb") as file:
        return file.read()


def children(pid: int) -> list[int]:
    """Return the direct children of a process, zombies included."""
    if not _KERNEL_LISTS_CHILDREN:
        return [child for child, (parent, _, _) in table().items() if parent == pid]
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            found += [int(word) for word in read(f"/proc/{pid}/task/{thread}/children").split()]
        except OSError:
            continue
    return found


def table() -> dict[int, tuple[int, int, str]]:
    """Return every process with its parent, its group and its state."""
    if not _PROC:
        return table_of_ps()
    rows = ((int(name), stat(int(name))) for name in os.listdir("/proc") if name.isdigit())
    return {pid: status for pid, status in rows if status is not None}


def table_of_ps() -> dict[int, tuple[int, int, str]]:
    """Return what ``table`` does where there is no /proc, or nothing when ps fails too."""
    output, itself = ps("-A", "-o", "pid=,ppid=,pgid=,stat=")
    rows = (line.split() for line in output.decode("ascii", "replace").splitlines())
    found = {int(row[0]): (int(row[1]), int(row[2]), row[3][0]) for row in rows if len(row) == 4}
    found.pop(itself, None)
    return found


def ps(*arguments: str) -> tuple[bytes, int]:
    """Return what ps prints, or nothing when it fails, and its own process id."""
    import subprocess  # noqa: PLC0415 - only where there is no /proc

    command = ["/bin/ps", *arguments]
    quiet = subprocess.DEVNULL
    try:
        with subprocess.Popen(command, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet) as run:
            try:
                return run.communicate(timeout=PS_WAIT)[0], run.pid
            except subprocess.TimeoutExpired:
                run.kill()
                return b"", run.pid
    except OSError:
        return b"", 0


def stat(pid: int) -> tuple[int, int, str] | None:
    """Return parent, group and state of a process, or None when it is gone."""
    try:
        fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        return int(fields[1]), int(fields[2]), fields[0].decode("ascii")
    except (OSError, ValueError, IndexError):
        return None


def descendants(root: int) -> Iterator[tuple[int, int]]:
    """Yield (process, parent) for everything below ``root``, parents first."""
    below: dict[int, list[int]] = {}
    if not _KERNEL_LISTS_CHILDREN:
        for child, (parent, _, _) in table().items():
            below.setdefault(parent, []).append(child)
    seen = {root}
    stack = [root]
    while stack:
        parent = stack.pop()
        for child in children(parent) if _KERNEL_LISTS_CHILDREN else below.get(parent, ()):
            if child not in seen:
                seen.add(child)
                stack.append(child)
                yield child, parent


def send_signal(pid: int, parents: tuple[int, ...], number: int) -> None:
    """Signal a process if it still is a child of one of ``parents``; its id may have been reused."""
    if _pidfd_open is None or _pidfd_send_signal is None or not _PROC:
        quietly(os.kill, pid, number)
        return
    try:
        handle = _pidfd_open(pid)
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EPERM, errno.EMFILE}:
            quietly(os.kill, pid, number)
        return
    try:
        status = stat(pid)
        if status is not None and status[0] in parents:
            quietly(_pidfd_send_signal, handle, number)
    finally:
        os.close(handle)


def name_of(pid: int) -> bytes:
    """Return the command line of a process, or its short name in brackets, or nothing."""
    if not _PROC:
        return ps("-p", str(pid), "-o", "command=")[0][:MAX_NAME].rstrip(b"\n")
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            line = file.read(MAX_NAME).rstrip(b"\0").replace(b"\0", b" ")
        return line or b"[" + read(f"/proc/{pid}/comm").strip() + b"]"
    except OSError:
        return b""


def wake_unattended(pid: int, handle: int) -> None:
    """Let a process go on that was stopped where no terminal is: nobody there did it on purpose.

    Args:
        pid: its process id.
        handle: its descriptor, or -1; without one nothing is done.
    """
    if _pidfd_send_signal is None or handle < 0:
        return
    try:
        fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if fields[0] == b"T" and fields[4] == b"0":
            quietly(_pidfd_send_signal, handle, signal.SIGCONT)
    except (OSError, IndexError):
        return


def quietly(call: Any, *arguments: Any) -> None:
    """Call; a process that is gone or not ours to signal is no mistake."""
    try:  # noqa: SIM105 - contextlib is not imported for it
        call(*arguments)
    except (ProcessLookupError, PermissionError):
        pass


def marked(marks: tuple[bytes, ...]) -> list[int]:
    """Return the processes whose environment holds one of ``marks`` (``NAME=value``)."""
    if not (marks and _PROC):
        return []
    me = os.getpid()
    wanted = set(marks)
    names = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != me]
    found: list[int] = []
    until = now() + EXEC_TIME
    while True:
        more, names = _marked(names, wanted)
        found += more
        if not names or now() >= until:
            return found
        wait([], [], 0.002)


def _marked(names: list[str], wanted: set[bytes]) -> tuple[list[int], list[str]]:
    """Return the processes that carry a mark, and those in the midst of an exec."""
    found = []
    changing = []
    for name in names:
        try:
            environment = read(f"/proc/{name}/environ")
            if wanted.intersection(environment.split(b"\0")):
                found.append(int(name))
            elif not environment and not read(f"/proc/{name}/cmdline"):
                os.readlink(f"/proc/{name}/exe")  # fails for kernel threads and the dead
                changing.append(name)
        except OSError:
            continue
    return found, changing
