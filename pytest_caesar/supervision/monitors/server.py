"""The reaper: forks a monitor for each request until the harness is gone."""

from __future__ import annotations

import os
import signal
import socket
import sys

from pytest_caesar.supervision.monitors.guard import guard
from pytest_caesar.supervision.monitors.messages import Link
from pytest_caesar.supervision.monitors.monitor import (
    KILL_WAIT,
    LEFTOVER_GRACE,
    ORPHAN_GRACE,
    Monitor,
)
from pytest_caesar.supervision.monitors.process_tree import (
    become_subreaper,
    children,
    descendants,
    send_signal,
)
from pytest_caesar.supervision.monitors.starting import DEAF
from pytest_caesar.supervision.monitors.waiting import (
    LONGEST_POLL,
    arm,
    drain,
    now,
    open_process,
    wait,
)

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from typing import Any, NoReturn

START = (
    "import sys; sys.path.append(sys.argv[3]); "
    "from pytest_caesar.supervision.monitors.server import main; main()"
)
"""Program of the reaper (``python -I -S -c``); arguments: socket, process id, import root."""


def main() -> None:
    """Serve on the socket and for the process that the arguments name."""
    serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))


def serve(control: socket.socket, parent: int) -> None:
    """Fork a monitor for each request until the harness is gone and every monitor has ended."""
    become_subreaper()
    for name in DEAF:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    wake = arm()
    harness = open_process(parent)
    monitors: set[int] = set()
    following: list[Any] = [control, wake] + ([harness] if harness >= 0 else [])
    while True:
        ready = wait(following, [], LONGEST_POLL)
        drain(wake)
        _collect(monitors)
        if harness in ready:
            break
        if control.fileno() not in ready:
            continue
        kind, fds = _receive(control)
        if not kind:
            break
        try:
            pid = os.fork()
            if pid == 0:
                _serve_one(control, kind, fds, parent)
            monitors.add(pid)
        except OSError as error:
            with socket.socket(fileno=os.dup(fds[0])) as end:
                Link(end).send(("failed", "fork", error.errno), 1.0)
        for fd in fds:
            os.close(fd)
    control.close()
    until = now() + ORPHAN_GRACE + LEFTOVER_GRACE + KILL_WAIT
    while monitors and now() < until:
        wait([wake], [], until - now())
        drain(wake)
        _collect(monitors)
    _end_strays(set())


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    try:
        kind, fds, _, _ = socket.recv_fds(control, 1, 5)
    except OSError:
        return b"", []
    for fd in fds:
        # Received descriptors survive an exec; the agent must not get hold of the link.
        os.set_inheritable(fd, False)  # noqa: FBT003 - the standard library takes no keyword
    return kind, fds


def _serve_one(control: socket.socket, kind: bytes, fds: list[int], parent: int) -> NoReturn:
    try:
        control.close()
        link = Link(socket.socket(fileno=fds[0]))
        wake = arm()
        if kind == b"G":
            guard(link, parent, wake)
        else:
            request = link.receive(60.0)
            for entrance in request["groups"] if request is not None else ():
                _enter(entrance)
            if request is not None and request["sandbox"]:
                from pytest_caesar.supervision.monitors.relay import Relay  # noqa: PLC0415 - seldom

                Relay(link, parent, wake).run(request, fds[1:])
            elif request is not None:
                Monitor(link, parent, wake).run(request, *fds[1:4])
        os._exit(0)
    finally:
        os._exit(1)


def _enter(entrance: bytes) -> None:
    """Be in a control group, with all that is started from here on."""
    fd = os.open(entrance, os.O_WRONLY)
    os.write(fd, b"0")
    os.close(fd)


def _collect(monitors: set[int]) -> None:
    """Reap what ended; when a monitor did not end as it should, end what it leaves to us."""
    broken = False
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except OSError:
            break
        if not pid:
            break
        if pid in monitors:
            monitors.discard(pid)
            broken = broken or status != 0
    if broken:
        _end_strays(monitors)


def _end_strays(monitors: set[int]) -> None:
    me = os.getpid()
    until = now() + KILL_WAIT
    while now() < until:
        strays = [pid for pid in children(me) if pid not in monitors]
        if not strays:
            return
        for stray in strays:
            for pid, parent in descendants(stray):
                send_signal(pid, (parent, me), signal.SIGKILL)
            send_signal(stray, (me,), signal.SIGKILL)
            try:
                os.waitpid(stray, os.WNOHANG)
            except OSError:
                continue
        wait([], [], 0.005)
