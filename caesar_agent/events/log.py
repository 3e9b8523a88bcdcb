"""Appending to ``events.jsonl``, where several programs write at once."""

from __future__ import annotations

import fcntl
import os
import re
import stat
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from caesar_agent.documents.event import Event
from caesar_agent.documents.timestamps import format_timestamp, utc_now
from caesar_agent.errors import EventLogError
from caesar_agent.task_directory import TaskDirectory

LOCK_ATTEMPTS = 1000
"""How often the lock of the log is asked for before giving up: some ten seconds.

Counted, not timed, so that a clock that stands still does not make it wait for ever."""

LOCK_PAUSE = 0.01
"""Pause between two attempts, in seconds; an append holds the lock far shorter."""

MAX_COUNTED_SEQ = 2**52
"""Numbers from here on are not counted from, or one hostile line would use them all up."""

MAX_LOOK_BYTES = 256 * 2**20
"""Bytes that are searched for numbers at most, at the end of the log: 256 MiB.

A sparse file of a terabyte must not keep the lock for minutes."""

_CHUNK = 2**20
_SEQ = re.compile(rb'"seq"\s*:\s*([0-9.eE+]{1,24})')


class EventLog:
    """The event log of one task, to append to.

    Keep one instance for a log: it remembers how far it has looked, so that an append
    reads only what others have written since. Several instances, also in several
    processes, may append at once.

    Args:
        path: ``$CAESAR_EVENTS_PATH``; made with mode 0600 when it is not there.
        task_id: the task of the events; None when each append says it.
        now: clock of the ``at`` fields.
        directory: whose log it is, for an orchestrator that writes after an agent: neither
            a link on the way nor a second name of a file leads an append elsewhere.
    """

    def __init__(
        self,
        path: Path,
        *,
        task_id: str | None = None,
        now: Callable[[], datetime] = utc_now,
        directory: TaskDirectory | None = None,
    ) -> None:
        self.path = path
        self._directory = directory
        self._task_id = task_id
        self._now = now
        self._file: tuple[int, int] | None = None
        self._looked = 0
        self._next = 0
        self._locked_out = False

    def append(self, *, type: str, **fields: Any) -> Event:  # noqa: A002 - the name in the contract
        """Append one event with the next free number, in one write under a lock.

        What another writer left unfinished gets its newline first.

        Args:
            type: what happened.
            fields: the fields of that type; also ``at`` and ``task_id``, which are
                filled in otherwise. None means absent.

        Returns:
            The event as it was written.

        Raises:
            DocumentError: a field is missing or wrong; nothing is written.
            EventLogError: the log is a link or no regular file, or stays locked.
            OSError: it cannot be opened or written.
        """
        value = {"protocol": Event.version, "seq": 0, "at": "", "task_id": self._task_id}
        value |= {"type": type, **fields}
        value["at"] = value["at"] or format_timestamp(self._now())
        # Refused before the log is touched.
        Event.from_value(value)
        descriptor = self._open()
        try:
            self._lock(descriptor)
            size = self._look(descriptor)
            event = Event.from_value(value | {"seq": self._next})
            line = event.to_line().encode() + b"\n"
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line
            _write(descriptor, line)
            self._looked = size + len(line)
            self._next += 1
        finally:
            os.close(descriptor)
        return event

    def _open(self) -> int:
        if self._directory is None:
            return self._open_in(self.path, None)
        with self._directory.opened() as folder:
            descriptor = self._open_in(Path(self.path.name), folder)
        if os.fstat(descriptor).st_nlink > 1:
            os.close(descriptor)
            raise self._refused("the file has another name too, where it is somebody else's")
        return descriptor

    def _open_in(self, path: Path, folder: int | None) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            # Opening a FIFO for reading and writing would succeed and never be read.
            if not stat.S_ISREG(os.lstat(path, dir_fd=folder).st_mode):
                raise self._refused("it is a link or no regular file")
        except FileNotFoundError:
            pass
        descriptor = os.open(path, flags, 0o600, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._refused("it is no regular file")
        return descriptor

    def _lock(self, descriptor: int) -> None:
        # Who has waited once in vain does not wait again for each of a thousand events.
        for attempt in range(1 if self._locked_out else self._patience()):
            if attempt:
                time.sleep(LOCK_PAUSE)
            if _try_lock(descriptor):
                self._locked_out = False
                return
        self._locked_out = True
        raise self._refused("another process keeps it locked")

    def _patience(self) -> int:
        """Return how often the lock is asked for; an orchestrator has a deadline to watch beside."""
        return LOCK_ATTEMPTS if self._directory is None else max(1, LOCK_ATTEMPTS // 10)

    def _refused(self, problem: str) -> EventLogError:
        return EventLogError(path=str(self.path), problem=problem)

    def _look(self, descriptor: int) -> int:
        """Take notice of the numbers that others have given; return the size of the log."""
        status = os.fstat(descriptor)
        file, size = (status.st_dev, status.st_ino), status.st_size
        if file != self._file or size < self._looked:
            self._file, self._looked, self._next = file, 0, 0
        self._looked = max(self._looked, size - MAX_LOOK_BYTES)
        rest = b""
        while self._looked < size:
            chunk = os.pread(descriptor, min(_CHUNK, size - self._looked), self._looked)
            if not chunk:
                break
            self._looked += len(chunk)
            lines = rest + chunk
            for match in _SEQ.finditer(lines):
                self._count(match[1])
            # What stands at the seam is looked at twice rather than missed.
            rest = lines[-64:]
        return size

    def _count(self, digits: bytes) -> None:
        try:
            seq = int(digits) if digits.isdigit() else int(float(digits))
        except (ValueError, OverflowError):
            return
        if self._next <= seq < MAX_COUNTED_SEQ:
            self._next = seq + 1


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(descriptor: int, data: bytes) -> None:
    written = os.write(descriptor, data)
    while written < len(data):
        # Only a full disk or a limit on file sizes gets here; the next write says so.
        written += os.write(descriptor, data[written:])
