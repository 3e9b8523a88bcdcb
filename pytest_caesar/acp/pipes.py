"""The pipes of one ACP agent: lines in, messages out, neither of which waits for the other."""

from __future__ import annotations

import contextlib
import json
import os
import select
from typing import Any, Final

from pytest_caesar.supervision.logs import Log

CHUNK: Final = 1024 * 1024
"""Bytes that one look reads at most."""

MAX_LINE: Final = 80 * 1024 * 1024
"""Bytes of a line that is read at most: a file that is written is one line."""

MAX_UNSENT: Final = 256 * 1024 * 1024
"""Bytes that wait for an agent which does not read them."""

MOST_AT_ONCE: Final = 65536
"""Bytes that are handed to a pipe in one call."""


class FloodError(Exception):
    """An agent does not read what it is sent; the text says how much waits."""


class Pipes:
    """Both pipes, and one by which another thread wakes who waits.

    Args:
        log: takes what is printed, byte for byte.
        sent: takes every message that is sent, a line each.

    Attributes:
        stdin, stdout: the descriptors that the agent reads from and writes to: pipes, since
            libraries of agents take nothing else.
        ended: nobody writes any more.
        too_long: lines that were longer than is read.
        log_problem: why the log could not be written, or "".
    """

    def __init__(self, *, log: Log, sent: Log) -> None:
        self.stdin, self._out = os.pipe()
        self._in, self.stdout = os.pipe()
        self._woken, self._wake = os.pipe()
        for fd in (self._out, self._in, self._woken, self._wake):
            os.set_blocking(fd, False)
        self.ended = False
        self.too_long = 0
        self.log_problem = ""
        self._log = log
        self._sent = sent
        self._line = bytearray()
        self._skipping = False
        self._unsent = bytearray()

    def wait(self, seconds: float) -> None:
        """Wait until there is something to read, or to write, or somebody wakes this one."""
        waiting = select.poll()
        waiting.register(self._woken, select.POLLIN)
        waiting.register(self._in, select.POLLIN)
        if self._unsent and self._out >= 0:
            waiting.register(self._out, select.POLLOUT)
        waiting.poll(seconds * 1000)
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)

    def wake(self) -> None:
        """End a wait; a full pipe has ended it already."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake, b".")

    def lines(self) -> list[bytes] | None:
        """Return the whole lines that were printed since the last look; None where nothing was."""
        try:
            data = os.read(self._in, CHUNK)
        except BlockingIOError:
            return None
        if not data:
            self.ended = True
            return None
        self._keep(data)
        *whole, rest = data.split(b"\n")
        found = []
        for line in whole:
            if not self._skipping:
                found.append(bytes(self._line) + line)
            self._line.clear()
            self._skipping = False
        if not self._skipping:
            self._line += rest
            if len(self._line) > MAX_LINE:
                self._line.clear()
                self._skipping = True
                self.too_long += 1
        return found

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, as soon as it is read.

        Raises:
            FloodError: too much waits already.
        """
        if self._out < 0:
            return
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        with contextlib.suppress(OSError):
            os.write(self._sent.fd, line)
        if len(self._unsent) + len(line) > MAX_UNSENT:
            raise FloodError(f"{len(self._unsent)} bytes wait there")
        self._unsent += line
        self.flush()

    def flush(self) -> None:
        """Write what the pipe takes; a reader that is gone gets nothing more."""
        try:
            while self._unsent and self._out >= 0:
                del self._unsent[: os.write(self._out, self._unsent[:MOST_AT_ONCE])]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()

    def close_stdin(self) -> None:
        """Tell the agent that nothing more comes."""
        if self._out >= 0:
            os.close(self._out)
            self._out = -1
            self._unsent.clear()

    def close(self) -> None:
        """Close everything."""
        self.close_stdin()
        for fd in (self.stdin, self.stdout, self._in, self._woken, self._wake):
            os.close(fd)

    def _keep(self, data: bytes) -> None:
        """Write what was printed into the log, all of it."""
        try:
            while data:
                data = data[os.write(self._log.fd, data) :]
        except OSError as error:
            self.log_problem = self.log_problem or str(error.strerror)
