"""The harness's end of the reaper: one small process that outlives it just long enough.

It is started when the first agent is, costs one bare interpreter, and forks a monitor for each
agent (see ``monitors``). When this process ends, in whatever way, the monitors end their agents.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Final

import pytest_caesar.supervision.supported_system  # noqa: F401 - before the rest fails
from caesar_agent.clock import monotonic, pause
from caesar_agent.errors import CaesarError
from pytest_caesar.supervision.environment import LOADER_VARIABLES
from pytest_caesar.supervision.monitors import process_tree, server
from pytest_caesar.supervision.monitors.messages import Link
from pytest_caesar.supervision.monitors.waiting import LONGEST_POLL, open_process
from pytest_caesar.supervision.plain_sockets import socket_pair

FAREWELL: Final = 2.0
"""Seconds that the reaper gets to end when the session ends; it ends by itself afterwards, and
is ended where an agent holds it stopped."""
PARENT_POLL: Final = 0.5
"""Seconds between two looks at the parent where the kernel does not tell of its end."""


class ReaperError(CaesarError):
    """The reaper could not be started, or it is gone.

    Attributes:
        reason: what the system said.
    """

    reason: str

    def message(self) -> str:
        """Say it in a sentence, with what to do."""
        return (
            f"the process that watches over agents could not be started with {sys.executable!r}: {self.reason}; "
            "without it an agent could outlive the tests, so none is started"
        )


class GoneError(ReaperError):
    """The reaper was ended from outside; another one can be started."""


class HarnessEndingError(CaesarError):
    """The process that started this one is gone, so no agent is started any more."""

    def message(self) -> str:
        """Say it in a sentence, with what to do."""
        return "the process that controls this test session is gone: no agent is started any more"


class Reaper:
    """A running reaper process; one for each process that uses it."""

    def __init__(self) -> None:
        ours, theirs = socket_pair()
        try:
            with theirs:
                self._process = Popen(
                    self._command(theirs.fileno()),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    # Of a session of its own, so that Ctrl-C in the terminal does not reach it.
                    start_new_session=True,
                    env=_interpreter_environment(),
                    cwd="/",
                )
        except (OSError, TypeError) as error:
            ours.close()
            raise ReaperError(reason=str(error)) from error
        self.owner = os.getpid()
        self._control = ours
        self._links: set[Link] = set()

    @staticmethod
    def _command(control: int) -> list[str]:
        root = str(Path(server.__file__).parents[3])
        fixed = [sys.executable, "-I", "-S", "-c", server.START]
        return [*fixed, str(control), str(os.getpid()), root]

    @property
    def alive(self) -> bool:
        """Whether it still serves; a hostile agent may have ended it."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def wake(self) -> None:
        """Let it go on, should an agent have stopped it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)

    def open(self, kind: bytes, fds: tuple[int, ...]) -> Link:
        """Have a monitor forked and return the link to it; closing the link ends what it watches."""
        try:
            ours, theirs = socket_pair()
        except OSError as error:
            raise ReaperError(reason=str(error)) from error
        self.wake()
        try:
            with theirs:
                socket.send_fds(self._control, [kind], [theirs.fileno(), *fds])
        except OSError as error:
            ours.close()
            raise GoneError(reason=str(error)) from error
        link = Link(ours)
        self._links.add(link)
        return link

    def release(self, link: Link) -> None:
        """Close a link; what is still watched over it is ended."""
        self._links.discard(link)
        link.close()

    def drop_all(self) -> None:
        """Close every link without waiting: each monitor ends its tree."""
        for link in tuple(self._links):
            # The descriptor itself stays open for the thread that polls it.
            try:
                link.socket.shutdown(socket.SHUT_RDWR)
            except OSError:  # noqa: PERF203 - one that is closed keeps no other open
                continue

    def close(self) -> None:
        """Let the reaper end, and wait for that a bounded while.

        Monitors that are still busy then end their trees without it.
        """
        self.drop_all()
        self._control.close()
        self.wake()
        until = monotonic() + FAREWELL
        while self._process.poll() is None and monotonic() < until:
            pause(0.002)
        if self._process.poll() is None and self._is_stopped():
            self._process.kill()
            self._process.wait()
        # Past the bound it ends by itself; the interpreter need not warn of it.
        self._process.returncode = self._process.returncode or 0

    def _is_stopped(self) -> bool:
        status = process_tree.stat(self.pid)
        return status is not None and status[2] in "Tt"

    def bury(self) -> None:
        """Give up a reaper that was ended from outside; its monitors still serve their links."""
        self._control.close()

    def forget(self) -> None:
        """Give up every descriptor in a forked child, whose parent goes on using them."""
        self._control.close()
        for link in self._links:
            link.close()
        self._links.clear()
        self._process.returncode = 0


def _interpreter_environment() -> dict[str, str]:
    """Return what some interpreters do not start without; nothing of a task is in it."""
    return {name: os.environ[name] for name in LOADER_VARIABLES if name in os.environ}


class _Shared:
    """The reaper of this process, made when it is first needed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reaper: Reaper | None = None
        self.ending = False
        self.watched = 0

    def get(self, instead_of: Reaper | None = None) -> Reaper:
        with self.lock:
            if self.ending:
                raise HarnessEndingError
            if self.reaper is not None and (self.reaper is instead_of or not self.reaper.alive):
                self.reaper.bury()
                self.reaper = None
            if self.reaper is None:
                self.reaper = Reaper()
                atexit.unregister(self.close)
                atexit.register(self.close)
            return self.reaper

    def close(self) -> None:
        reaper, self.reaper = self.reaper, None
        if reaper is not None and reaper.owner == os.getpid():
            atexit.unregister(self.close)
            reaper.close()

    def after_fork(self) -> None:
        # The lock may be held by a thread that does not exist here.
        self.lock = threading.Lock()
        self.watched = 0
        reaper, self.reaper = self.reaper, None
        if reaper is not None:
            reaper.forget()


_shared = _Shared()
os.register_at_fork(after_in_child=_shared.after_fork)


def shared_reaper(*, instead_of: Reaper | None = None) -> Reaper:
    """Return this process's reaper, starting it when there is none.

    Args:
        instead_of: one that was found to be gone, which is not given again.

    Raises:
        ReaperError: it cannot be started.
        HarnessEndingError: the controlling process is gone (see ``watch_parent``).
    """
    return _shared.get(instead_of)


def prepare() -> None:
    """Start the reaper without waiting for it, so that it gets ready beside other work."""
    _shared.get()


def close() -> None:
    """End the reaper and whatever it still watches; a later agent starts another one."""
    _shared.close()


def reaper_pid() -> int:
    """Return the process id of this process's reaper, or 0 when there is none."""
    reaper = _shared.reaper
    return reaper.pid if reaper is not None else 0


@contextlib.contextmanager
def guarded(variable: str, value: str) -> Iterator[None]:
    """Have processes that carry ``variable=value`` ended should this process die meanwhile."""
    reaper = shared_reaper()
    link = reaper.open(b"G", ())
    try:
        link.send(("mark", [os.fsencode(f"{variable}={value}")]), 1.0)
        yield
        link.send(("bye",), 1.0)
    finally:
        reaper.release(link)


def watch_parent() -> None:
    """End every agent as soon as the parent of this process is gone, and start no more.

    For workers of pytest-xdist, whose controller may be killed. Calling it again does nothing.
    """
    parent = os.getppid()
    if _shared.watched == parent:
        return
    _shared.watched = parent
    threading.Thread(target=_follow, args=(parent,), name="caesar-parent", daemon=True).start()


def _follow(parent: int) -> None:
    handle = open_process(parent)
    while os.getppid() == parent:
        if handle >= 0:
            select.select([handle], [], [], LONGEST_POLL)
        else:
            pause(PARENT_POLL)
    _shared.ending = True
    reaper = _shared.reaper
    if reaper is not None:
        reaper.drop_all()
