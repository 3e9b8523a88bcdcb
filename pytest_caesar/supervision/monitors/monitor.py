"""One monitor: the parent of one agent, until the agent's whole tree is gone."""

from __future__ import annotations

import os

from pytest_caesar.files.removal import remove_folder
from pytest_caesar.supervision.monitors.messages import Link
from pytest_caesar.supervision.monitors.process_tree import (
    become_subreaper,
    children,
    descendants,
    name_of,
    quietly,
    send_signal,
    table,
    wake_unattended,
)
from pytest_caesar.supervision.monitors.starting import start
from pytest_caesar.supervision.monitors.waiting import drain, now, open_process, wait

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # the same without enum

SETTLE = 0.2
"""Seconds that helpers of an agent that ended by itself get to end too (a ``tee``, say)."""
LEFTOVER_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL for what an agent left behind."""
ORPHAN_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL when the harness itself is gone."""
KILL_WAIT = 5.0
"""Seconds that SIGKILL gets to take effect; what is left then cannot be killed."""
SEE_OFF = 60.0
"""Seconds that the harness gets to take the ending; it is kept from standing still meanwhile."""
MAX_LEFT = 256
"""Processes that are named; more are ended all the same."""

_OUR_OWN = __name__.rpartition(".")[0].encode()
_waitid: Any = getattr(os, "waitid", None)


class Monitor:
    """Watches one process tree until it is gone.

    Args:
        link: to the harness.
        parent: process id of the harness, or 0 where it cannot be seen.
        wake: where SIGCHLD is noted.
        alone: it is process 1, to whom every orphan falls.
    """

    def __init__(self, link: Link, parent: int, wake: int, *, alone: bool = False) -> None:
        self.link = link
        self.wake = wake
        self.me = os.getpid()
        self.exact = alone or become_subreaper()
        self.parent = parent
        self.harness = open_process(parent)
        self.agent = 0
        self.status: tuple[int | None, int | None] | None = None
        self.why = ""
        self.kill_at = 0.0
        self.left: dict[int, tuple[bytes, bool]] = {}

    def run(self, request: dict[str, Any], stdin: int, stdout: int, stderr: int) -> None:
        """Start the agent, wait for its end, end what is left, tell the harness."""
        begun = now()
        self.link.send(("ready", self.me, begun))
        self.agent, problem = start(request, stdin, stdout, stderr)
        if problem is not None:
            self.link.send(("failed", *problem))
            return
        for fd in (stdin, stdout, stderr):
            os.close(fd)
        self.link.send(("started", self.agent))
        self._watch(begun + request["timeout"], request["grace"])
        survivors = self._clear()
        code, number = self.status or (None, None)
        left = [(pid, name, group) for pid, (name, group) in self.left.items()]
        self.link.send(("ended", code, number, self.why, left, survivors))
        if self.why == "orphaned" and request["home"]:
            remove_folder(request["home"])
        self._see_off()

    def _see_off(self) -> None:
        """Stay until the harness took the ending; the agent's last act may have been to stop it.

        A stop takes effect only when the stopped process would run again, which may be after
        the agent's end. The harness closes the link once it has run on.
        """
        until = now() + SEE_OFF
        interval = 0.005
        while self.harness >= 0 and not self.link.closed and now() < until:
            wake_unattended(self.parent, self.harness)
            if self.harness in wait([self.link, self.harness], [], interval):
                return
            self.link.receive(0)
            interval = min(interval * 2, 0.5)

    def _watch(self, deadline: float, grace: float) -> None:
        give_up_at = 0.0
        following: list[Any] = [self.link, self.wake]
        if self.harness >= 0:
            following.append(self.harness)
        while not self._ended():
            until = self.kill_at if self.why else deadline
            # What was sent right behind the request lies in the buffer, and wakes nobody.
            ready = [] if self.link.buffered else wait(following, [], until - now())
            drain(self.wake)
            if self.link.buffered or self.link.fileno() in ready:
                while (message := self.link.receive(0)) is not None:
                    self._end("asked", message[1])
            if self.link.closed or self.harness in ready:
                following = [self.wake]
                self._end("orphaned", min(grace, ORPHAN_GRACE))
            if now() >= deadline:
                self._end("deadline", grace)
            if self.why and now() >= self.kill_at:
                self._note(self._living())
                self._signal_all(signal.SIGKILL)
                give_up_at = give_up_at or now() + KILL_WAIT
                if now() >= give_up_at:
                    return
                # Once more after a while, should something have been forked past the sweep.
                self.kill_at = now() + 0.05

    def _end(self, why: str, grace: float) -> None:
        if self.why and why == "deadline":
            return
        kill_at = now() + max(grace, 0.0)
        self.kill_at = min(self.kill_at, kill_at) if self.why else kill_at
        if not self.why:
            self.why = why
            self._signal_group(signal.SIGTERM)
            self._signal_group(signal.SIGCONT)

    def _ended(self) -> bool:
        """Look for the agent's end without reaping it, so that its group's id stays taken."""
        if self.status is None:
            if _waitid is not None:
                found = _waitid(os.P_PID, self.agent, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if found is not None:
                    exited = found.si_code == os.CLD_EXITED
                    self.status = (found.si_status, None) if exited else (None, found.si_status)
            else:
                pid, status = os.waitpid(self.agent, os.WNOHANG)
                if pid:
                    code = os.waitstatus_to_exitcode(status)
                    self.status = (code, None) if code >= 0 else (None, -code)
        if self.status is None:
            self._reap()
        return self.status is not None

    def _reap(self) -> None:
        """Reap what was adopted; without adoption the agent is the only child."""
        if not self.exact:
            return
        for pid in children(self.me):
            if pid != self.agent:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except OSError:
                    continue

    def _living(self) -> dict[int, int]:
        """Return what of the tree lives, with its parent; the ended agent itself is not in it."""
        self._reap()
        found = {}
        for pid, parent in descendants(self.me):
            if pid == self.agent and self.status is not None:
                continue
            found[pid] = parent
        if not self.exact:
            rows = table()
            for pid, (parent, group, state) in rows.items():
                if group == self.agent and state != "Z" and pid != self.agent:
                    found.setdefault(pid, parent)
        return found

    def _clear(self) -> list[tuple[int, bytes]]:
        """End what the agent left behind; return what cannot be ended."""
        if not self.why:
            self._until(SETTLE, ())
        living = self._living()
        if living:
            self._note(living)
            self._signal_all(signal.SIGTERM)
            self._signal_all(signal.SIGCONT)
            grace = (
                min(LEFTOVER_GRACE, max(self.kill_at - now(), 0.0)) if self.why else LEFTOVER_GRACE
            )
            self._until(grace, ())
            self._until(KILL_WAIT, (signal.SIGKILL,))
        living = self._living()
        try:  # noqa: SIM105 - contextlib is not imported for it
            os.waitpid(self.agent, os.WNOHANG)
        except OSError:
            pass
        return [(pid, name_of(pid)) for pid in living]

    def _until(self, seconds: float, signals: tuple[int, ...]) -> None:
        """Wait until the tree is gone, sending ``signals`` each time it is looked at."""
        until = now() + seconds
        interval = 0.001
        while living := self._living():
            for number in signals:
                self._note(living)
                self._signal_all(number)
            if now() >= until:
                return
            # Drained first: looking may itself have started and ended a ps.
            drain(self.wake)
            wait([self.wake], [], min(interval, max(until - now(), 0.0)))
            interval = min(interval * 2, 0.02)

    def _note(self, living: dict[int, int]) -> None:
        for pid in living:
            if len(self.left) >= MAX_LEFT:
                return
            if pid not in self.left and (name := name_of(pid)):
                try:
                    group = os.getpgid(pid) == self.agent
                except OSError:
                    continue
                # At a forced end the group was told to end too, and monitors of an agent that
                # delegates itself are busy ending theirs: neither is left behind.
                if not (self.why and (group or _OUR_OWN in name)):
                    self.left[pid] = (name, group)

    def _signal_group(self, number: int) -> None:
        if _waitid is not None or self.status is None:
            quietly(os.killpg, self.agent, number)

    def _signal_all(self, number: int) -> None:
        self._signal_group(number)
        for pid, parent in self._living().items():
            send_signal(pid, (parent, self.me), number)
