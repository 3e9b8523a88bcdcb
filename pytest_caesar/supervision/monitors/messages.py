"""Messages between the harness and a monitor.

They are marshalled: both ends are the same interpreter, and one started the other.
"""

from __future__ import annotations

import marshal
import struct

from pytest_caesar.supervision.monitors.waiting import now, wait

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    import socket
    from typing import Any

_HEADER = struct.Struct("!I")


class Link:
    """One end of a socket on which marshalled messages travel.

    Attributes:
        closed: the other end is gone.
        latest: the message that was received last, also where an exception (a test's own
            timeout) came before it was returned.
    """

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)  # noqa: FBT003 - the standard library takes no keyword
        self.socket = end
        self.closed = False
        self.latest: Any = None
        self._buffer = bytearray()

    def fileno(self) -> int:
        """Return the descriptor, so that a poll takes the link itself."""
        return self.socket.fileno()

    @property
    def buffered(self) -> bool:
        """Whether a whole message was read already, so that no poll tells of it."""
        return self._whole() > 0

    def send(self, message: Any, timeout: float = 30.0) -> bool:
        """Send a message; False when the other end is gone or does not read for ``timeout``."""
        data = marshal.dumps(message)
        view = memoryview(_HEADER.pack(len(data)) + data)
        until = now() + timeout
        while view:
            try:
                view = view[self.socket.send(view) :]
            except BlockingIOError:  # noqa: PERF203 - a full socket is waited for
                left = until - now()
                if left <= 0 or not wait([], [self], left):
                    return False
            except OSError:
                return False
        return True

    def receive(self, timeout: float) -> Any:
        """Return the next message, or None when none is whole after ``timeout`` or ever will be."""
        until = now() + timeout
        while True:
            message = self._take()
            if message is not None or self.closed:
                return message
            left = until - now()
            if not wait([self], [], max(left, 0.0)) and left <= 0:
                return None
            self._fill()

    def _take(self) -> Any:
        end = self._whole()
        if not end:
            return None
        self.latest = message = marshal.loads(self._buffer[_HEADER.size : end])  # noqa: S302 - see the module's docstring
        del self._buffer[:end]
        return message

    def _whole(self) -> int:
        """Return where the first message ends, or 0 when none is there as a whole."""
        if len(self._buffer) < _HEADER.size:
            return 0
        end = _HEADER.size + int(_HEADER.unpack_from(self._buffer)[0])
        return end if len(self._buffer) >= end else 0

    def _fill(self) -> None:
        try:
            data = self.socket.recv(1 << 18)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        self._buffer += data
        self.closed = not data

    def close(self) -> None:
        """Close this end; the other one notices."""
        self.closed = True
        self.socket.close()
