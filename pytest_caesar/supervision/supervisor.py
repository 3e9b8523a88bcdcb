"""One child process, from start to confirmed end."""

from __future__ import annotations

import math
import os
import signal
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from caesar_agent.clock import monotonic
from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.supervision import processes
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.monitor_results import (
    Asked,
    Ending,
    lost_finding,
    outcome_of,
    unkillable_finding,
)
from pytest_caesar.supervision.monitors import process_tree
from pytest_caesar.supervision.monitors.messages import Link
from pytest_caesar.supervision.monitors.monitor import (
    KILL_WAIT,
    LEFTOVER_GRACE,
    ORPHAN_GRACE,
    SETTLE,
)
from pytest_caesar.supervision.monitors.process_tree import can_adopt
from pytest_caesar.supervision.outcome import LeakedProcess, Outcome
from pytest_caesar.supervision.pace import interval, watched
from pytest_caesar.supervision.processes import Process
from pytest_caesar.supervision.reaper import GoneError, Reaper, ReaperError, shared_reaper
from pytest_caesar.supervision.sandboxing import Sandboxing
from pytest_caesar.supervision.start_errors import (
    SandboxStartError,
    check_arguments,
    explain,
    find_program,
)

GRACE: Final = 5.0
"""Seconds between SIGTERM and SIGKILL; the contract's reference gives as many."""
LINGER: Final = 5.0
"""Seconds that an agent may go on after its report was last written before it is ended."""
POLL: Final = 0.05
"""Seconds between two looks at ``cancelled``, ``delivered`` and ``on_poll``, longer for many agents
at once (``pace``); an end is noticed at once."""
START_WAIT: Final = 60.0
"""Seconds that a start may take: a busy machine, never an agent, can need them."""
MAX_WAKES: Final = 20
"""Looks at which a monitor may be found stopped: a second. One SIGCONT is enough, but for an
agent that stops it again and again, or holds it as a debugger does."""
SLACK: Final = SETTLE + LEFTOVER_GRACE + 2 * KILL_WAIT + 5.0
"""Seconds after the latest possible SIGKILL by which the monitor must have answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """What to run.

    Attributes:
        argv: program and arguments; a bare program is looked for on the PATH of ``env``.
        cwd: working folder.
        env: the whole environment.
        stdin: what it reads, then the end; a descriptor that it reads from, which stays open
            here; None for nothing at all.
        stdout: descriptor that it writes to; both may be the same.
        stderr: likewise.
        task_directory: value of ``CAESAR_TASK_DIR``, by which strangers are recognised.
        home: a folder to remove with all in it should this process be gone before; None
            for none.
        sandbox: in what it runs, or None.
        groups: files to write to so as to be in a control group.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes | int | None = None
    stdout: int
    stderr: int
    task_directory: Path
    home: Path | None = None
    sandbox: Sandboxing | None = None
    groups: tuple[Path, ...] = ()


def supervise(
    spec: ProcessSpec,
    *,
    timeout: float,
    grace: float = GRACE,
    linger: float = LINGER,
    delivered: Callable[[], object] | None = None,
    cancelled: Cancellation | None = None,
    on_poll: Callable[[], None] | None = None,
    on_start: Callable[[int], None] | None = None,
) -> Outcome:
    """Run a program until it and all that it started are gone.

    The run ends when the program has ended, whoever still holds its streams.

    Args:
        spec: what to run.
        timeout: seconds until it is ended; any positive number, infinity included.
        grace: seconds between SIGTERM and SIGKILL.
        linger: seconds that it may go on after it has delivered.
        delivered: tells whether the report is there; the linger starts anew
            whenever it returns another true value (the file's time, say).
        cancelled: set it to have the program ended.
        on_poll: called some twenty times a second; what it raises ends the run.
        on_start: called once with the process that all of the agent's are below.

    Raises:
        AgentStartError: it could not be started; the subclass and text tell why.
        ReaperError: the watching process could not be started.
        ValueError: ``timeout`` is not positive.

    Source: OACP specification, the cycle; DESIGN, "Streams".
    """
    if math.isnan(timeout) or timeout <= 0:
        message = f"timeout must be positive, not {timeout!r}"
        raise ValueError(message)
    if cancelled is not None and cancelled.is_set():
        return Outcome(status="cancelled")
    check_arguments(spec.argv, spec.env, cwd=spec.cwd)
    program = find_program(spec.argv[0], cwd=spec.cwd, env=spec.env)
    run = _Run(spec, program, timeout, max(grace, 0.0))
    try:
        run.start()
        if on_start is not None and run.monitor is not None:
            on_start(run.monitor.pid)
        with watched():
            run.watch(linger, delivered, cancelled, on_poll)
    except BaseException:
        # Ctrl-C and test timeouts arrive here too: first the tree, then the news.
        run.abandon()
        raise
    finally:
        run.release()
        if spec.sandbox is not None:
            spec.sandbox.close()
    return run.outcome()


@dataclass(slots=True)
class _Run:
    spec: ProcessSpec
    program: str
    timeout: float
    grace: float
    begun: float = field(default_factory=monotonic)
    bound: float = math.inf
    agent: Process | None = None
    monitor: Process | None = None
    seen: dict[int, Process] = field(default_factory=dict)
    ended: tuple[Any, ...] | None = None
    asked: Asked = ""
    asked_grace: float = math.inf
    kill_at: float = math.inf
    delivered: bool = False
    due: float = math.inf
    woken: int = 0
    strangers: list[LeakedProcess] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _reaper: Reaper | None = None
    _link: Link | None = None

    def start(self) -> None:
        spec = self.spec
        request = {
            "program": os.fsencode(self.program),
            "argv": [os.fsencode(argument) for argument in spec.argv],
            "env": {os.fsencode(name): os.fsencode(value) for name, value in spec.env.items()},
            "cwd": os.fsencode(spec.cwd),
            "timeout": float(self.timeout),
            "grace": self.grace,
            "home": b"" if spec.home is None else os.fsencode(spec.home),
            "sandbox": [],
            "groups": [os.fsencode(path) for path in spec.groups],
        }
        if spec.sandbox is not None:
            request |= spec.sandbox.request()
        # An earlier agent may have ended the reaper just now: then once more, with another one.
        ready = self._first_answer(request) or self._first_answer(request)
        if ready is None:
            raise ReaperError(reason="it ended at once, or did not answer")
        if ready[0] == "failed":
            self._refuse(ready)
        self.monitor = Process.of(ready[1])
        self.begun = monotonic()
        # The monitor's own deadline, on the same clock: what came after it answers SIGTERM.
        self.due = ready[2] + self.timeout
        self.bound = self.begun + self.timeout + self.grace + SLACK

    def _refuse(self, answer: tuple[Any, ...]) -> NoReturn:
        """Raise what kept the agent from starting."""
        self.ended = answer
        spec = self.spec
        if answer[1] == "sandbox":
            assert spec.sandbox is not None
            raise SandboxStartError.told(
                spec.sandbox.name, answer[2], answer[3:], program=self.program, cwd=spec.cwd
            )
        texts = (*spec.argv, *spec.env, *spec.env.values())
        raise explain(
            answer[1],
            answer[2],
            program=self.program,
            argv=spec.argv,
            cwd=spec.cwd,
            size=sum(len(os.fsencode(text)) for text in texts),
        )

    def _first_answer(self, request: dict[str, Any]) -> tuple[Any, ...] | None:
        """Have a monitor forked, give it the request, and return what it says first."""
        try:
            stdin = _open_stdin(self.spec.stdin)
        except OSError as error:
            raise explain(
                "stdin",
                error.errno or 0,
                program=self.program,
                argv=self.spec.argv,
                cwd=self.spec.cwd,
                size=len(self.spec.stdin) if isinstance(self.spec.stdin, bytes) else 0,
            ) from error
        try:
            self._reaper = shared_reaper(instead_of=self._reaper)
            outlets = self.spec.sandbox.outlets() if self.spec.sandbox else ()
            fds = (stdin, self.spec.stdout, self.spec.stderr, *outlets)
            link = self._link = self._reaper.open(b"R", fds)
        except GoneError:
            return None
        finally:
            os.close(stdin)
        answer: tuple[Any, ...] | None = None
        if link.send(request, START_WAIT):
            answer = link.receive(START_WAIT)
        if answer is None:
            self.release()
        return answer

    def watch(
        self,
        linger: float,
        delivered: Callable[[], object] | None,
        cancelled: Cancellation | None,
        on_poll: Callable[[], None] | None,
    ) -> None:
        assert self._link is not None
        link = self._link
        last: object = None
        since = 0.0
        while True:
            message = link.receive(interval(POLL))
            if message is not None:
                if self._ends_with(message):
                    break
                continue
            if link.closed or monotonic() > self.bound or self._monitor_stays_stopped():
                self._monitor_is_lost()
                break
            if on_poll is not None:
                on_poll()
            self._note_descendants()
            if cancelled is not None and cancelled.is_set():
                self._cancel(min(self.grace, cancelled.grace))
            if self.asked:
                continue
            token = delivered() if delivered is not None else None
            # What is handed in during the grace answers SIGTERM; it was not there in time.
            self.delivered = bool(token) if monotonic() < self.due else self.delivered
            if token != last:
                last, since = token, monotonic()
            elif token and monotonic() - since >= linger:
                self._ask("lingering", self.grace)
        self._end_strangers()

    def _ends_with(self, message: tuple[Any, ...]) -> bool:
        if message[0] == "started":
            self.agent = Process.of(message[1])
            if self.spec.sandbox is not None:
                self.spec.sandbox.take()
            return False
        if message[0] == "failed":
            self._refuse(message)
        self.ended = message
        return True

    def abandon(self) -> None:
        """End the tree without grace and wait, bounded, until it is gone; never raises."""
        if self._link is None or self.ended is not None:
            return
        try:
            self._ask("abandoned", min(self.grace, ORPHAN_GRACE))
            until = monotonic() + SLACK
            latest = self._link.latest
            if latest is not None and latest[0] in {"ended", "failed"}:
                self.ended = latest  # the exception came in the midst of its receipt
            while self.ended is None and not self._link.closed and monotonic() < until:
                if self._monitor_stays_stopped():
                    break
                message = self._link.receive(POLL)
                if message is not None and message[0] in {"ended", "failed"}:
                    self.ended = message
            if self.ended is None:
                self._monitor_is_lost()
            self._end_strangers()
        except BaseException:  # noqa: BLE001 - a second Ctrl-C: the closing link ends the tree
            return

    def release(self) -> None:
        if self._reaper is not None and self._link is not None:
            self._reaper.release(self._link)
        self._link = None

    def outcome(self) -> Outcome:
        duration_ms = round((monotonic() - self.begun) * 1000)
        if self.ended is None:
            status = "cancelled" if self.asked == "cancelled" else "failed"
            return Outcome(
                status=status,  # type: ignore[arg-type]
                duration_ms=duration_ms,
                leaked=tuple(self.strangers),
                diagnostics=tuple(self.diagnostics),
            )
        return outcome_of(
            Ending(*self.ended[1:]),
            asked=self.asked,
            delivered=self.delivered,
            duration_ms=duration_ms,
            strangers=self.strangers,
            diagnostics=self.diagnostics,
        )

    def _cancel(self, grace: float) -> None:
        """Have the agent ended, or ended sooner than it was asked before."""
        if grace < self.asked_grace:
            self._ask(self.asked or "cancelled", grace)

    def _ask(self, why: Asked, grace: float) -> None:
        assert self._link is not None
        self.asked = why
        self._link.send(("end", grace), 1.0)
        self.asked_grace = grace
        if why == "cancelled":
            self.kill_at = monotonic() + grace
        self.bound = min(self.bound, monotonic() + grace + SLACK)

    def _note_descendants(self) -> None:
        """Remember the tree where the kernel does not: without a subreaper orphans are lost."""
        if self.agent is not None and not can_adopt():
            for process in processes.below(self.agent.pid):
                self.seen[process.pid] = process

    def _end_strangers(self) -> None:
        found = {process.pid: process for process in self.seen.values() if process.alive}
        found.update({process.pid: process for process in self._overlooked()})
        carrying = processes.carrying("CAESAR_TASK_DIR", str(self.spec.task_directory))
        by = {process.pid: "environment" for process in carrying}
        found.update({process.pid: process for process in carrying})
        if not found:
            return
        names = {pid: process.name for pid, process in found.items()}
        grace = min(LEFTOVER_GRACE, max(self.kill_at - monotonic(), 0.0))
        left = processes.end(found.values(), grace=grace, patience=KILL_WAIT)
        for pid in found:
            how: Any = by.get(pid, "descendant")
            self.strangers.append(LeakedProcess(pid=pid, name=names[pid], found_by=how))
        self.diagnostics += [
            unkillable_finding(process.pid, names[process.pid]) for process in left
        ]

    def _overlooked(self) -> list[Process]:
        """Return what is below the monitor after its word that nothing is.

        An agent of the same user can take descriptors from it (prlimit), and so its view of /proc.
        """
        if self.monitor is None or self.ended is None or not can_adopt():
            return []
        told = {pid for pid, _ in Ending(*self.ended[1:]).survivors}
        return [process for process in processes.below(self.monitor.pid) if process.pid not in told]

    def _monitor_stays_stopped(self) -> bool:
        """Wake a monitor that its agent has stopped; tell whether it is stopped again and again."""
        if self.monitor is None:
            return False
        status = process_tree.stat(self.monitor.pid)
        if status is None or status[2] not in "Tt":
            return False
        self.woken += 1
        self.monitor.send(signal.SIGCONT)
        return self.woken > MAX_WAKES

    def _monitor_is_lost(self) -> None:
        """End by hand what the monitor can no longer end: it was stopped or killed."""
        found = list(self.seen.values())
        if self.agent is not None:
            found += [self.agent, *processes.below(self.agent.pid)]
        if self.monitor is not None:
            found += processes.below(self.monitor.pid)
            self.monitor.send(signal.SIGKILL)
        processes.end(found, grace=0, patience=KILL_WAIT)
        self.diagnostics.append(lost_finding())


def _open_stdin(data: bytes | int | None) -> int:
    """Return a descriptor to read from: nothing, or a file, which never blocks its writer."""
    if isinstance(data, int):
        return os.dup(data)
    if data is None:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return os.dup(file.fileno())
