"""Reading an event log from its file: once, or while it grows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.events.lines import MAX_LINE_BYTES, EventReading, LineReader, plain_utf8
from caesar_agent.task_directory import open_regular

MAX_EVENTS_BYTES = 64 * 2**20
"""Bytes of a log that are read at most: the last 64 MiB."""

MAX_EVENTS = 250_000
"""Lines that are read at most: the last ones. An event costs some 1.4 KB of memory."""

MAX_COUNTED_BYTES = 256 * 2**20
"""Bytes before the end that is read in which lines are counted at most: 256 MiB.

A sparse file of a terabyte takes nothing to make and an hour to count."""

_CHUNK = 2**20

_ANCHOR = 64
"""Bytes before the place where reading stopped that must still be there."""


def read_events(log: Path | bytes, *, task_id: str | None = None) -> EventReading:
    """Read an event log as it is now.

    Lines that are no events are skipped, each with a diagnostic. Events of types that
    this version does not know are kept as plain ``Event``.

    Args:
        log: the file, which need not exist, or its bytes. Of a file larger than
            ``MAX_EVENTS_BYTES``, or of more lines than ``MAX_EVENTS``, only the end
            is read.
        task_id: events of other tasks are skipped with a diagnostic; None takes all.

    Returns:
        Events and diagnostics. Never raises for what the log holds or is.
    """
    if isinstance(log, bytes):
        reader = LineReader(task_id)
        _take_all(reader, log)
        return reader.result()
    reader = LineReader(task_id, os.fspath(log))
    descriptor, problem = open_regular(log)
    if descriptor is None:
        return EventReading((), (problem,) if problem else ())
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        skipped = max(0, size - MAX_EVENTS_BYTES)
        counted = skipped <= MAX_COUNTED_BYTES
        if skipped:
            reader.line = _count_lines(descriptor, skipped) if counted else 0
            file.seek(skipped)
        data = file.read(MAX_EVENTS_BYTES)
    if skipped:
        # The line in which reading begins is cut; the next one is whole.
        first = data.find(b"\n") + 1
        reader.line += 1
        uncounted = "" if counted else "; line numbers count from there"
        reader.note("events-cut", f"the first {skipped + first} bytes were not read{uncounted}")
        data = data[first:]
    _take_all(reader, data)
    return reader.result()


def mentions(path: Path, word: bytes) -> bool:
    """Tell whether what ``read_events`` would read of a file holds some bytes; far cheaper."""
    descriptor, _ = open_regular(path)
    if descriptor is None:
        return False
    try:
        size = os.fstat(descriptor).st_size
        position, seam = max(0, size - MAX_EVENTS_BYTES), b""
        while position < size:
            chunk = os.pread(descriptor, min(_CHUNK, size - position), position)
            if not chunk:
                break
            if word in seam + chunk:
                return True
            position += len(chunk)
            seam = chunk[-len(word) :]
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _take_all(reader: LineReader, data: bytes) -> None:
    data, unusual = plain_utf8(data)
    if unusual:
        reader.note(unusual, "the log is not plain UTF-8; it was read all the same", line=1)
    *lines, unfinished = data.split(b"\n")
    skipped = len(lines) - MAX_EVENTS
    if skipped > 0:
        reader.line += skipped
        reader.note("events-cut", f"the first {reader.line} lines were not read")
        del lines[:skipped]
    for line in lines:
        reader.take(line)
    reader.take_unfinished(unfinished)


def _count_lines(descriptor: int, size: int) -> int:
    lines = position = 0
    while position < size:
        chunk = os.pread(descriptor, min(_CHUNK, size - position), position)
        if not chunk:
            break
        lines += chunk.count(b"\n")
        position += len(chunk)
    return lines


class EventTail:
    """Reads what an event log has gained since the last time.

    Survives that the log is not there yet, is truncated or is replaced: it then reads
    from the start again and says so. A line counts once it has its newline.

    Args:
        path: the log.
        task_id: as for ``read_events``.
    """

    def __init__(self, path: Path, *, task_id: str | None = None) -> None:
        self.path = path
        self._reader = LineReader(task_id, os.fspath(path))
        self._file: tuple[int, int] | None = None
        self._position = 0
        self._anchor = b""
        self._held = bytearray()
        self._too_long = False
        self._problem: Diagnostic | None = None

    def read(self) -> EventReading:
        """Return what is new; at most ``MAX_EVENTS_BYTES`` at once, never waits."""
        descriptor, problem = open_regular(self.path)
        if descriptor is None:
            # A problem that lasts is told once.
            told, self._problem = self._problem, problem
            return EventReading((), (problem,) if problem and problem != told else ())
        self._problem = None
        try:
            status = os.fstat(descriptor)
            self._notice_restart(descriptor, (status.st_dev, status.st_ino), status.st_size)
            end = min(status.st_size, self._position + MAX_EVENTS_BYTES)
            while self._position < end:
                chunk = os.pread(descriptor, min(_CHUNK, end - self._position), self._position)
                if not chunk:
                    break
                self._position += len(chunk)
                self._anchor = (self._anchor + chunk)[-_ANCHOR:]
                self._take(chunk)
        finally:
            os.close(descriptor)
        return self._reader.result()

    def _notice_restart(self, descriptor: int, file: tuple[int, int], size: int) -> None:
        if self._file is not None:
            start = self._position - len(self._anchor)
            kept = size >= self._position and file == self._file
            if kept and os.pread(descriptor, len(self._anchor), start) == self._anchor:
                return
            self._reader.line = 0
            if self._position:
                self._reader.note(
                    "events-restarted",
                    "the log was truncated or replaced; read from its start again",
                )
        self._file, self._position, self._anchor = file, 0, b""
        self._held, self._too_long = bytearray(), False

    def _take(self, chunk: bytes) -> None:
        end = chunk.rfind(b"\n") + 1
        if end:
            whole = bytes(self._held) + chunk[:end]
            self._held.clear()
            if self._too_long:
                self._too_long = False
                self._reader.line += 1
                whole = whole[whole.find(b"\n") + 1 :]
            self._reader.take_lines(whole)
        if not self._too_long:
            self._held += chunk[end:]
        if len(self._held) > MAX_LINE_BYTES:
            # Told when it is found, not when it ends: it may never end.
            self._reader.note(
                "event-line-too-long",
                f"more than {MAX_LINE_BYTES} bytes without a newline",
                line=self._reader.line + 1,
            )
            self._held.clear()
            self._too_long = True


def follow(
    path: Path,
    *,
    stop: Callable[[], bool],
    task_id: str | None = None,
    wait: Callable[[float], object] = time.sleep,
    interval: float = 0.2,
) -> Iterator[EventReading]:
    """Yield what an event log gains, until told to stop.

    Args:
        path: the log; need not be there yet.
        stop: asked before each look. After it first says yes there is one last look,
            so that what was written before is not missed.
        task_id: as for ``read_events``.
        wait: called with ``interval`` between two looks.
        interval: seconds.

    Yields:
        What was new at each look, when there was anything.
    """
    tail = EventTail(path, task_id=task_id)
    while True:
        last = stop()
        reading = tail.read()
        if reading.events or reading.diagnostics:
            yield reading
        if last:
            return
        wait(interval)
