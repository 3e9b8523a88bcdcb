"""What a program prints: read in pieces, passed on, its end kept."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from typing import TextIO

MAX_OUTPUT_BYTES = 1 << 20
"""How much of each stream is kept, from its end; all of it is passed on as it comes."""

CHUNK_BYTES = 1 << 16
"""Read at once from a pipe."""

LAST_CHUNKS = 32
"""Reads of a pipe after its writer has ended: twice what the largest pipe holds, so that a
process which inherited the pipe and goes on writing cannot hold the agent."""

Echo = Callable[[bytes], None]


class Tail:
    """The last ``MAX_OUTPUT_BYTES`` of a stream.

    Attributes:
        truncated: there were more.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self.truncated = False

    def add(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self._data += chunk
        # Cut at twice the size, so that a long stream is not moved at every chunk.
        if len(self._data) > 2 * MAX_OUTPUT_BYTES:
            del self._data[:-MAX_OUTPUT_BYTES]
            self.truncated = True

    def text(self) -> str:
        """Return them as text, U+FFFD for what is not UTF-8."""
        if len(self._data) > MAX_OUTPUT_BYTES:
            del self._data[:-MAX_OUTPUT_BYTES]
            self.truncated = True
        return self._data.decode("utf-8", "replace")


def drain(descriptor: int, tail: Tail, echo: Echo) -> None:
    """Pass on what the program left in the pipe when it ended."""
    for _ in range(LAST_CHUNKS):
        if not read(descriptor, tail, echo, at_end=True):
            return


def read(descriptor: int, tail: Tail, echo: Echo, *, at_end: bool = False) -> bool:
    """Pass one chunk on; say whether there may be more."""
    try:
        chunk = os.read(descriptor, CHUNK_BYTES)
    except BlockingIOError:
        return not at_end
    if chunk:
        tail.add(chunk)
        echo(chunk)
    return bool(chunk)


def echo_to(stream: TextIO | None) -> Echo:
    """Return what passes bytes on to a text stream, as they are where it takes bytes."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    binary = getattr(stream, "buffer", None)
    broken = stream is None

    def echo(chunk: bytes) -> None:
        nonlocal broken
        if broken or stream is None:
            return
        try:
            if binary is None:
                stream.write(decoder.decode(chunk))
            else:
                # What was printed before stands before.
                stream.flush()
                binary.write(chunk)
            stream.flush()
        except (OSError, ValueError):
            # Nobody reads any more: the program goes on, as do we.
            broken = True

    return echo
