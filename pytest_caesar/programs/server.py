"""Takes the calls of launchers; each of them in a thread of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from caesar_agent.clock import monotonic, pause
from pytest_caesar.programs.messages import MessageError, receive, send
from pytest_caesar.programs.peers import descends, peer_of
from pytest_caesar.supervision.plain_sockets import PlainSocket

ROOT_WAIT = 1.0
"""Seconds in which the process of an agent that calls already may become known."""

SETTLE = 5.0
"""Seconds in which calls of an agent that is gone must have been noted; they lie in a buffer."""


class Conversation(Protocol):
    """One call, from its first message to its end."""

    def started(self, message: list[bytes]) -> list[bytes]:
        """Take the first message and return the answer; what is raised ends the call."""

    def ended(self, message: list[bytes]) -> None:
        """Take the message about the end."""


class Server:
    """A socket in a folder, at which launchers report.

    Args:
        path: of the socket.
        open_call: makes what notes one call.

    Attributes:
        refused: how many calls came from a process of no agent.
    """

    def __init__(self, path: Path, open_call: Callable[[], Conversation]) -> None:
        self.refused = 0
        self._open = open_call
        self._roots: dict[int, int] = {}
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._path = path
        self._socket = PlainSocket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        path.chmod(0o600)
        self._socket.listen(128)
        self._main = threading.Thread(target=self._accept, name="caesar programs", daemon=True)
        self._main.start()

    def admit(self, root: int) -> None:
        """Take calls of this process and all below it."""
        with self._lock:
            self._roots[root] = self._roots.get(root, 0) + 1

    def dismiss(self, root: int) -> None:
        """Take no more calls from there."""
        with self._lock:
            left = self._roots.get(root, 0) - 1
            if left > 0:
                self._roots[root] = left
            else:
                self._roots.pop(root, None)

    def settle(self) -> None:
        """Wait until every call that was made is noted, its end included."""
        with contextlib.suppress(OSError), PlainSocket(socket.AF_UNIX) as mark:
            mark.settimeout(SETTLE)
            mark.connect(str(self._path))
            # Calls are taken in their order: when this one is answered, all before it were.
            send(mark, [b"settle"])
            receive(mark)
        until = monotonic() + SETTLE
        for thread in list(self._threads):
            while thread.is_alive() and monotonic() < until:
                pause(0.002)

    def close(self) -> None:
        """Take no more calls."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._main.join(timeout=1)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            with self._lock:
                self._threads = [one for one in self._threads if one.is_alive()]
                self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, MessageError):
            peer = peer_of(connection)
            first = receive(connection)
            if first is None:
                return
            if first == [b"settle"]:
                with self._lock:
                    self._threads.remove(threading.current_thread())
                send(connection, [])
                return
            if not self._known(peer):
                self.refused += 1
                return
            call = self._open()
            send(connection, call.started(first))
            last = receive(connection)
            if last is not None:
                call.ended(last)
                send(connection, [])

    def _known(self, peer: int) -> bool:
        """Tell whether a process belongs to an agent, which may have started just now."""
        until = monotonic() + ROOT_WAIT
        while True:
            with self._lock:
                roots = set(self._roots)
            if descends(peer, roots):
                return True
            # An agent that has just started calls before its process is known.
            if monotonic() >= until or not descends(peer, {os.getpid()}):
                return False
            pause(0.005)
