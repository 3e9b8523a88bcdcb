"""Files with holes, copied as they are: terabytes of nothing would fill the disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import Final

_CHUNK: Final = 1 << 20
"""Bytes that are read in one go."""


def data_of(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield what a file holds with the offset of each piece, and nothing for its holes.

    Args:
        descriptor: the file, open for reading.
        size: bytes of it that are looked at.
    """
    position = 0
    while (position := _next_data(descriptor, position, size)) < size:
        end = _next_hole(descriptor, position, size)
        chunk = os.pread(descriptor, min(_CHUNK, max(end - position, 1)), position)
        if not chunk:
            return  # it was made shorter meanwhile
        yield position, chunk
        position += len(chunk)


def write_at(descriptor: int, data: bytes, position: int) -> None:
    """Write all of ``data``; raises ``OSError`` where the disk is full."""
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, position)
        view, position = view[written:], position + written


def _next_data(descriptor: int, position: int, size: int) -> int:
    """Return where data goes on behind a hole; ``size`` where none does."""
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA) if position < size else size
    except OSError as error:
        # Not every file system can tell; then all may be data.
        return size if error.errno == errno.ENXIO else position


def _next_hole(descriptor: int, position: int, size: int) -> int:
    try:
        return min(os.lseek(descriptor, position, os.SEEK_HOLE), size)
    except OSError:
        return size
