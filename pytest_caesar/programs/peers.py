"""Who calls: the process at the other end of a socket, and whose descendant it is."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
from collections.abc import Collection
from pathlib import Path

import psutil

LINUX = sys.platform == "linux"
"""Where ``SO_PEERCRED`` tells."""

MAX_DEPTH = 512
"""Generations that are looked at."""

_LOCAL_PEERPID = 2
"""Option of a socket on macOS. Source: ``sys/un.h``."""


def peer_of(connection: socket.socket) -> int:
    """Return the process that connected, or 0 where the system does not tell."""
    try:
        if LINUX:
            size = struct.calcsize("3i")
            told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            return int(struct.unpack("3i", told)[0])
        told = connection.getsockopt(0, _LOCAL_PEERPID, 4)  # pragma: no cover - macOS
        return int(struct.unpack("i", told)[0])  # pragma: no cover - macOS
    except OSError:
        return 0


def descends(pid: int, roots: Collection[int]) -> bool:
    """Tell whether a process is one of these, or below one of them."""
    for _ in range(MAX_DEPTH):
        if pid in roots:
            return True
        if pid <= 1:
            return False
        pid = _parent(pid)
    return False


def _parent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        with contextlib.suppress(psutil.Error):
            return psutil.Process(pid).ppid()
        return 0
    # The name in brackets may hold blanks and brackets itself.
    return int(text[text.rfind(b")") + 2 :].split()[1])
