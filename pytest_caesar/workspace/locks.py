"""One writer in one tree."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from caesar_agent.task_directory import open_folder, write_atomic
from pytest_caesar.workspace.errors import BusyError
from pytest_caesar.workspace.naming import shown
from pytest_caesar.workspace.state_before import read_plain_file

MAX_NOTE_BYTES = 4096
"""Bytes of a note that are read."""


_taken: Counter[str] = Counter()
"""How often this process has locked a folder, by its path."""


@dataclass(slots=True, eq=False)
class WriteLock:
    """A lock that ends with ``release``, with the value, or with the process.

    Attributes:
        descriptor: the locked folder, opened; -1 once released.
        note: the file that says who holds the lock.
    """

    descriptor: int
    note: Path

    def __del__(self) -> None:
        release(self)


def acquire(folder: Path, task_id: str) -> WriteLock:
    """Take the write lock of a folder.

    Raises:
        BusyError: another task holds it.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    note = _note_file(folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise BusyError(folder=str(folder), task_id=task_id, holder=_holder(note)) from error
    _taken[os.path.realpath(folder)] += 1
    with contextlib.suppress(OSError):
        _write(note, {"task_id": task_id, "pid": os.getpid()})
    return WriteLock(descriptor, note)


def is_held(folder: Path) -> bool:
    """Tell whether a task works in a folder, of this process or of another one."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def times_taken(folder: Path) -> int:
    """Return how often tasks of this process have begun to work in a folder."""
    return _taken[os.path.realpath(folder)]


def release(lock: WriteLock | None) -> None:
    """Give a lock back; None and released ones are fine."""
    if lock is None or lock.descriptor < 0:
        return
    descriptor, lock.descriptor = lock.descriptor, -1
    with contextlib.suppress(OSError):
        lock.note.unlink(missing_ok=True)
    # Unlocked by name: a child that was forked meanwhile still has the same open folder.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _note_file(folder: Path) -> Path:
    name = sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return Path(tempfile.gettempdir()) / f"caesar-writers-{os.getuid()}" / f"{name}.json"


def _write(note: Path, value: dict[str, object]) -> None:
    """Write a note where agents, and other users before us, may have put what they like."""
    note.parent.mkdir(mode=0o700, exist_ok=True)
    with open_folder(note.parent) as folder:
        if os.fstat(folder).st_uid == os.geteuid():
            data = json.dumps(value).encode()
            write_atomic(Path(note.name), data, dir_fd=folder, durable=False)


def _holder(note: Path) -> str:
    try:
        found = json.loads(read_plain_file(note, MAX_NOTE_BYTES) or b"")
        return f"task {shown(str(found['task_id'])[:80])} (process {int(found['pid'])})"
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return "another task"
