"""Sockets of the harness itself, also where a test forbids sockets (pytest-socket) or fakes them."""

from __future__ import annotations

import _socket
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_BASE = next(
    kind
    for kind in socket.socket.__mro__
    if kind.__module__ == "socket" and kind.__name__ == "socket"
)
"""The class of the standard library, whatever stands under its name now."""


class PlainSocket(_BASE):  # type: ignore[misc, valid-type]
    """A socket as the standard library makes it, and accepts it."""

    def accept(self) -> tuple[PlainSocket, Any]:
        """Wait for a connection; as ``socket.socket.accept``."""
        descriptor, address = self._accept()
        accepted = PlainSocket(self.family, self.type, self.proto, fileno=descriptor)
        if socket.getdefaulttimeout() is None and self.gettimeout():
            accepted.setblocking(True)  # noqa: FBT003 - as the standard library has it
        return accepted, address


def socket_pair() -> tuple[PlainSocket, PlainSocket]:
    """Return two sockets that are connected with each other; as ``socket.socketpair``."""
    made = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM, 0)
    first, second = (
        PlainSocket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, one.detach()) for one in made
    )
    return first, second


@contextmanager
def pairs_allowed() -> Iterator[None]:
    """Let ``socket.socketpair`` work where sockets are forbidden: every event loop needs one.

    A pair leads nowhere, so the network stays as closed as it was.
    """
    before = socket.socketpair
    if socket.socket is not _BASE:
        socket.socketpair = lambda *_arguments, **_more: socket_pair()
    try:
        yield
    finally:
        socket.socketpair = before


def loopback_listener(port: int) -> PlainSocket:
    """Return a socket that listens on 127.0.0.1; 0 takes a free port. As ``create_server``."""
    made = PlainSocket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        made.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
        made.listen(64)
    except BaseException:
        made.close()
        raise
    return made
