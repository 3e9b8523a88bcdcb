"""What launchers and the harness say to each other: lists of byte strings, each with its length."""

from __future__ import annotations

import socket

MAX_MESSAGE = 64 * 1024 * 1024
"""Bytes of one message that are taken, its stdin included."""

MAX_PARTS = 100_000
"""Byte strings of one message that are taken."""


class MessageError(Exception):
    """What came over the socket is no message."""


def send(connection: socket.socket, parts: list[bytes]) -> None:
    """Send one message.

    Raises:
        OSError: nobody listens any more.
    """
    body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    connection.sendall(len(parts).to_bytes(4, "big") + body)


def receive(connection: socket.socket) -> list[bytes] | None:
    """Receive one message, or None when the other side is gone.

    Raises:
        MessageError: it is too large.
        OSError: the connection broke, or nothing came in time.
    """
    head = _exactly(connection, 4)
    if head is None:
        return None
    count, left = int.from_bytes(head, "big"), MAX_MESSAGE
    if count > MAX_PARTS:
        raise MessageError
    parts = []
    for _ in range(count):
        size = _exactly(connection, 4)
        if size is None:
            return None
        left -= int.from_bytes(size, "big")
        if left < 0:
            raise MessageError
        part = _exactly(connection, int.from_bytes(size, "big"))
        if part is None:
            return None
        parts.append(part)
    return parts


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(min(65536, size - len(data)))
        if not piece:
            return None
        data += piece
    return bytes(data)
