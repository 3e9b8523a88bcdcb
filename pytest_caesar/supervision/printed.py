"""What a program prints, bounded: the end is kept, where failures stand."""

from __future__ import annotations

import fcntl
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

MAX_OUTPUT: Final = 16 * 1024
"""Bytes of what a program prints that are kept: the last ones, where failures stand."""

MAX_FILE: Final = 64 * 1024 * 1024
"""Bytes of what a program prints that may lie on the disk before all but the end is dropped."""


@dataclass(slots=True)
class Printed:
    """What a program prints: in a file without a name, of which only the end is kept.

    Attributes:
        fd: what the program writes to.
        dropped: bytes that are gone.
        keep: bytes of the end that are kept.
    """

    fd: int
    keep: int = MAX_OUTPUT
    dropped: int = 0
    _tail: bytes = field(default=b"", repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    @contextmanager
    def capture(cls, keep: int = MAX_OUTPUT) -> Iterator[Printed]:
        """Make the file, which ends with the block."""
        with tempfile.TemporaryFile() as file:
            # Appending, so that what is written after a cut begins at the new end.
            flags = fcntl.fcntl(file, fcntl.F_GETFL)
            fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_APPEND)
            yield cls(file.fileno(), keep)

    def drop_surplus(self) -> None:
        """Let go of all but the end, once it is a great deal."""
        with self._lock:
            size = os.fstat(self.fd).st_size
            if size > MAX_FILE:
                self._tail = self._end(size)
                self.dropped += size
                os.ftruncate(self.fd, 0)

    def settle(self) -> None:
        """Let go of all but the end, once the program is gone."""
        with self._lock:
            size = os.fstat(self.fd).st_size
            if size > self.keep:
                end = self._end(size)
                self.dropped += size - len(end)
                self._tail = b""
                os.ftruncate(self.fd, 0)
                while end:
                    end = end[os.write(self.fd, end) :]

    def tail(self) -> tuple[str, bool]:
        """Return the end as text, and whether something stood before it."""
        with self._lock:
            size = os.fstat(self.fd).st_size
            end = self._end(size)
            cut = self.dropped + size > len(end)
        while cut and end and end[0] & 0xC0 == 0x80:  # a character that was cut in two
            end = end[1:]
        return end.decode("utf-8", "replace"), cut

    def text(self) -> str:
        """Return the end as text, with a word on what stood before it."""
        with self._lock:
            size = os.fstat(self.fd).st_size
            end = self._end(size)
            left_out = self.dropped + size - len(end)
        told = end.decode("utf-8", "replace")
        return f"(… {left_out} bytes before)\n{told}" if left_out > 0 else told

    def _end(self, size: int) -> bytes:
        new = os.pread(self.fd, self.keep, max(0, size - self.keep))
        return (self._tail + new)[-self.keep :] if self.keep else b""
