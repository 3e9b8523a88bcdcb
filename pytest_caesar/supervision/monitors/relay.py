"""A relay: stands outside a sandbox for the monitor that is process 1 inside it.

What the harness says goes in, what the monitor says comes out. The end that counts is the
kernel's: when process 1 is gone, so is everything that was inside.
"""

from __future__ import annotations

import os
import socket

from pytest_caesar.files.removal import remove_folder
from pytest_caesar.supervision.monitors.messages import Link
from pytest_caesar.supervision.monitors.monitor import (
    KILL_WAIT,
    LEFTOVER_GRACE,
    ORPHAN_GRACE,
    SETTLE,
)
from pytest_caesar.supervision.monitors.process_tree import (
    become_subreaper,
    descendants,
    name_of,
    send_signal,
)
from pytest_caesar.supervision.monitors.starting import start
from pytest_caesar.supervision.monitors.waiting import drain, now, open_process, wait

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # the same without enum

PATIENCE = SETTLE + LEFTOVER_GRACE + KILL_WAIT + 3.0
"""Seconds that the monitor inside gets after the last SIGKILL was due, before all are killed."""
MAX_SAID = 4096
"""Bytes that are kept of what the sandbox's program says on its error stream."""


class Relay:
    """Passes messages between the harness and the monitor in a sandbox."""

    def __init__(self, link: Link, parent: int, wake: int) -> None:
        self.link = link
        self.wake = wake
        self.me = os.getpid()
        self.harness = open_process(parent)
        self.program = 0
        self.inner: Link | None = None
        self.ended: tuple[Any, ...] | None = None
        self.failed: tuple[Any, ...] | None = None
        self.ready = False
        self.why = ""
        self.bound = 0.0
        become_subreaper()

    def run(self, request: dict[str, Any], streams: list[int]) -> None:
        """Start the sandbox with the monitor in it, pass messages until all of it is gone.

        Args:
            request: of the harness; ``sandbox`` is the command line in front of the monitor's,
                ``monitor`` the monitor's, to which the numbers of descriptors are added.
            streams: stdin, stdout, stderr of the agent, and where listening sockets are
                handed out, if any.
        """
        begun = now()
        self.link.send(("ready", self.me, begun))
        said, says = os.pipe()
        os.set_blocking(said, False)
        problem = self._start(request, streams, says)
        os.close(says)
        for fd in streams:
            os.close(fd)
        if problem is not None:
            self.link.send(("failed", *problem))
            return
        self.bound = begun + request["timeout"] + request["grace"] + PATIENCE
        self._pass_on(request["grace"])
        survivors = self._clear()
        words = _last_words(said)
        if self.failed is not None:
            self.link.send(self.failed)
        elif not self.ready and not self.why:
            self.link.send(("failed", "sandbox", 0, words))
        else:
            _, code, number, why, left, _ = self.ended or ("", None, None, self.why, [], [])
            self.link.send(("ended", code, number, why or self.why, left, survivors))
        if self.why == "orphaned" and request["home"]:
            remove_folder(request["home"])

    def _start(
        self, request: dict[str, Any], streams: list[int], says: int
    ) -> tuple[str, int] | None:
        ours, theirs = socket.socketpair()
        inner = {name: request[name] for name in ("program", "argv", "env", "cwd", "timeout")}
        inner |= {"grace": request["grace"], "home": b"", "listen": request["listen"]}
        with theirs:
            fds = [theirs.fileno(), *streams]
            for fd in fds:
                os.set_inheritable(fd, True)  # noqa: FBT003 - the standard library takes no keyword
            numbers = [str(fd).encode() for fd in fds]
            command = [*request["sandbox"], *request["monitor"], *numbers]
            nothing = os.open(os.devnull, os.O_RDWR)
            self.program, problem = start(
                {"program": command[0], "argv": command, "env": request["around"], "cwd": b"/"},
                nothing,
                nothing,
                says,
            )
            os.close(nothing)
        if problem is not None:
            ours.close()
            return "sandbox", problem[1]
        self.inner = Link(ours)
        self.inner.send(inner)
        return None

    def _pass_on(self, grace: float) -> None:
        assert self.inner is not None
        following: list[Any] = [self.link, self.wake]
        if self.harness >= 0:
            following.append(self.harness)
        while True:
            inner = [] if self.inner.closed else [self.inner]
            waiting = self.bound - now()
            if not (self.link.buffered or self.inner.buffered):
                wait([*following, *inner], [], waiting)
            drain(self.wake)
            while (message := self.inner.receive(0)) is not None:
                self._heard(message)
            while not self.link.closed and (message := self.link.receive(0)) is not None:
                self._told("asked", message[1])
            gone = self.link.closed or (self.harness >= 0 and wait([self.harness], [], 0))
            if gone and self.why != "orphaned":
                following = [self.wake]
                self._told("orphaned", min(grace, ORPHAN_GRACE))
            if now() >= self.bound:
                self._kill()
            if self._is_gone():
                while (message := self.inner.receive(0)) is not None:
                    self._heard(message)
                return

    def _heard(self, message: tuple[Any, ...]) -> None:
        if message[0] == "ready":
            self.ready = True
        elif message[0] == "started":
            self.link.send(("started", self.program))
        elif message[0] == "failed":
            self.failed = message
        elif message[0] == "ended":
            self.ended = message

    def _told(self, why: str, grace: float) -> None:
        assert self.inner is not None
        self.why = why
        self.inner.send(("end", grace), 1.0)
        self.bound = min(self.bound, now() + grace + PATIENCE)

    def _is_gone(self) -> bool:
        try:
            pid, _ = os.waitpid(self.program, os.WNOHANG)
        except OSError:
            return True
        return pid != 0

    def _kill(self) -> None:
        """Kill the sandbox's program and process 1, with which the kernel kills all the others."""
        for pid, parent in descendants(self.me):
            send_signal(pid, (parent, self.me), signal.SIGKILL)
        self.bound = now() + 0.05

    def _clear(self) -> list[tuple[int, bytes]]:
        """Make sure that nothing is left; return what cannot be ended."""
        until = now() + KILL_WAIT
        while left := self._left():
            if now() >= until:
                break
            self._kill()
            drain(self.wake)
            wait([self.wake], [], 0.01)
        return [(pid, name_of(pid)) for pid in left]

    def _left(self) -> list[int]:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except OSError:
                break
            if not pid:
                break
        return [pid for pid, _ in descendants(self.me)]


def _last_words(said: int) -> bytes:
    words = b""
    try:
        while len(words) < MAX_SAID and (data := os.read(said, MAX_SAID)):
            words += data
    except OSError:
        pass
    os.close(said)
    return words[:MAX_SAID]
