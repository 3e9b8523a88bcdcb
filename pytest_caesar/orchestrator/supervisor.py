"""One child process, from start to confirmed end."""

from __future__ import annotations

import math
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.monotonic import monotonic
from pytest_caesar.orchestrator import processes
from pytest_caesar.orchestrator.outcome import LeakedProcess, Outcome
from pytest_caesar.orchestrator.processes import Process, readable
from pytest_caesar.orchestrator.reaper import HarnessEndingError, Reaper, ReaperError, shared_reaper
from pytest_caesar.orchestrator.start_errors import check_arguments, explain, find_program
from pytest_caesar.orchestrator.wardens.link import Link
from pytest_caesar.orchestrator.wardens.tree import can_adopt
from pytest_caesar.orchestrator.wardens.warden import (
    KILL_WAIT,
    LEFTOVER_GRACE,
    ORPHAN_GRACE,
    SETTLE,
)

GRACE: Final = 5.0
"""Seconds between SIGTERM and SIGKILL; the contract's reference gives as many."""
LINGER: Final = 5.0
"""Seconds that an agent may go on after its report was last written before it is ended."""
POLL: Final = 0.05
"""Seconds between two looks at ``cancelled``, ``delivered`` and ``on_poll``; an end is noticed at once."""
START_WAIT: Final = 60.0
"""Seconds that a start may take: a busy machine, never an agent, can need them."""
SLACK: Final = SETTLE + LEFTOVER_GRACE + KILL_WAIT + 5.0
"""Seconds after the latest possible SIGKILL by which the warden must have answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """What to run.

    Attributes:
        argv: program and arguments; a bare program is looked for on the PATH of ``env``.
        cwd: working folder.
        env: the whole environment.
        stdin: what it reads, then the end; None for nothing at all.
        stdout: descriptor that it writes to; both may be the same.
        stderr: likewise.
        task_directory: value of ``CAESAR_TASK_DIR``, by which strangers are recognised.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes | None = None
    stdout: int
    stderr: int
    task_directory: Path


def supervise(
    spec: ProcessSpec,
    *,
    timeout: float,
    grace: float = GRACE,
    linger: float = LINGER,
    delivered: Callable[[], object] | None = None,
    cancelled: threading.Event | None = None,
    on_poll: Callable[[], None] | None = None,
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
        run.watch(linger, delivered, cancelled, on_poll)
    except BaseException:
        # Ctrl-C and test timeouts arrive here too: first the tree, then the news.
        run.abandon()
        raise
    finally:
        run.release()
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
    warden: Process | None = None
    seen: dict[int, Process] = field(default_factory=dict)
    ended: tuple[Any, ...] | None = None
    asked: str = ""
    strangers: list[LeakedProcess] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _reaper: Reaper | None = None
    _link: Link | None = None

    def start(self) -> None:
        spec = self.spec
        argv = [os.fsencode(argument) for argument in spec.argv]
        env = {os.fsencode(name): os.fsencode(value) for name, value in spec.env.items()}
        request = {
            "program": os.fsencode(self.program),
            "argv": argv,
            "env": env,
            "cwd": os.fsencode(spec.cwd),
            "timeout": float(self.timeout),
            "grace": self.grace,
        }
        stdin = _open_stdin(spec.stdin)
        try:
            link = self._open((stdin, spec.stdout, spec.stderr))
        finally:
            os.close(stdin)
        # The deadline counts from here, not from the start of the watching process.
        self.begun = monotonic()
        answer = link.receive(START_WAIT) if link.send(request, START_WAIT) else None
        if answer is None:
            raise ReaperError(reason=f"it did not answer within {START_WAIT:.0f} s")
        if answer[0] == "failed":
            size = sum(map(len, argv)) + sum(len(name) + len(value) for name, value in env.items())
            raise explain(
                answer[1], answer[2], program=self.program, argv=spec.argv, cwd=spec.cwd, size=size
            )
        self.agent, self.warden = Process.of(answer[1]), Process.of(answer[2])
        self.begun = monotonic()
        self.bound = self.begun + self.timeout + self.grace + SLACK

    def _open(self, fds: tuple[int, int, int]) -> Link:
        self._reaper = shared_reaper()
        try:
            self._link = self._reaper.open(b"R", fds)
        except ReaperError:
            # It may have been ended by an earlier agent just now: one fresh start.
            self._reaper = shared_reaper()
            self._link = self._reaper.open(b"R", fds)
        return self._link

    def watch(
        self,
        linger: float,
        delivered: Callable[[], object] | None,
        cancelled: threading.Event | None,
        on_poll: Callable[[], None] | None,
    ) -> None:
        assert self._link is not None
        link = self._link
        last: object = None
        since = 0.0
        while True:
            message = link.receive(POLL)
            if message is not None:
                self.ended = message
                break
            if link.closed or monotonic() > self.bound:
                self._warden_is_lost()
                break
            if on_poll is not None:
                on_poll()
            self._note_descendants()
            if self.asked:
                continue
            if cancelled is not None and cancelled.is_set():
                self._ask("cancelled", self.grace)
                continue
            token = delivered() if delivered is not None else None
            if token != last:
                last, since = token, monotonic()
            elif token and monotonic() - since >= linger:
                self._ask("lingering", self.grace)
        if (
            self.ended is not None
            and self.ended[3] == "deadline"
            and delivered is not None
            and delivered()
        ):
            self.asked = self.asked or "delivered"
        self._end_strangers()

    def abandon(self) -> None:
        """End the tree without grace and wait, bounded, until it is gone; never raises."""
        if self._link is None or self.ended is not None:
            return
        try:
            self._ask("abandoned", min(self.grace, ORPHAN_GRACE))
            if self._link.receive(SLACK) is None:
                self._warden_is_lost()
            self._end_strangers()
        except BaseException:  # noqa: BLE001 - a second Ctrl-C: the closing link ends the tree
            return

    def release(self) -> None:
        if self._reaper is not None and self._link is not None:
            self._reaper.release(self._link)

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
        _, code, number, why, _, left, survivors, _ = self.ended
        forced = why != ""
        timed_out = why == "deadline"
        delivered = forced and self.asked in {"lingering", "delivered"}
        leaked = [
            LeakedProcess(pid=pid, name=readable(name), found_by="group" if group else "descendant")
            for pid, name, group in left
        ]
        leaked += self.strangers
        return Outcome(
            status=_status(code, why, self.asked),
            exit_code=code,
            signal=_signal_name(number),
            timed_out=timed_out,
            killed_after_report=delivered,
            duration_ms=duration_ms,
            leaked=tuple(leaked),
            diagnostics=(
                *tell_ending(why, delivered=delivered, timeout=self.timeout),
                *tell_leaked(leaked),
                *(tell_unkillable(pid, readable(name)) for pid, name in survivors),
                *self.diagnostics,
            ),
        )

    def _ask(self, why: str, grace: float) -> None:
        assert self._link is not None
        self.asked = why
        self._link.send(("end", grace), 1.0)
        self.bound = min(self.bound, monotonic() + grace + SLACK)

    def _note_descendants(self) -> None:
        """Remember the tree where the kernel does not: without a subreaper orphans are lost."""
        if self.agent is not None and not can_adopt():
            for process in processes.below(self.agent.pid):
                self.seen[process.pid] = process

    def _end_strangers(self) -> None:
        found = {process.pid: process for process in self.seen.values() if process.alive}
        carrying = processes.carrying("CAESAR_TASK_DIR", str(self.spec.task_directory))
        by = {process.pid: "environment" for process in carrying}
        found.update({process.pid: process for process in carrying})
        if not found:
            return
        names = {pid: process.name for pid, process in found.items()}
        left = processes.end(found.values(), grace=LEFTOVER_GRACE, patience=KILL_WAIT)
        for pid in found:
            how: Any = by.get(pid, "descendant")
            self.strangers.append(LeakedProcess(pid=pid, name=names[pid], found_by=how))
        self.diagnostics += [tell_unkillable(process.pid, names[process.pid]) for process in left]

    def _warden_is_lost(self) -> None:
        """End by hand what the warden can no longer end: it was stopped or killed."""
        tree = list(self.seen.values())
        if self.agent is not None:
            tree += [self.agent, *processes.below(self.agent.pid)]
        if self.warden is not None:
            tree += processes.below(self.warden.pid)
            self.warden.send(signal.SIGKILL)
        processes.end(tree, grace=0, patience=KILL_WAIT)
        self.diagnostics.append(
            Diagnostic(
                code="supervision-lost",
                message=(
                    "the process that watched over the agent was ended from outside, so how the agent ended is unknown; "
                    "what could be found of its processes was ended"
                ),
            )
        )


def _open_stdin(data: bytes | None) -> int:
    """Return a descriptor to read from: nothing, or a file, which never blocks its writer."""
    if data is None:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return os.dup(file.fileno())


def _status(code: int | None, why: str, asked: str) -> Any:
    if why == "asked" and asked == "cancelled":
        return "cancelled"
    if why and asked in {"lingering", "delivered"}:
        return "succeeded"
    if why == "deadline":
        return "timed_out"
    if why:
        return "cancelled"
    return "succeeded" if code == 0 else "failed"


def _signal_name(number: int | None) -> str | None:
    if number is None:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        return (
            f"SIGRTMIN+{number - signal.SIGRTMIN}"
            if number >= signal.SIGRTMIN
            else f"signal {number}"
        )


def tell_ending(why: str, *, delivered: bool, timeout: float) -> list[Diagnostic]:
    """Say why an agent did not end by itself, or nothing."""
    if delivered:
        text = "the agent delivered its report but did not exit, and was ended; the report stands"
        return [Diagnostic(code="killed-after-report", message=text)]
    if why == "deadline":
        text = f"the agent still ran at its deadline of {timeout:g} s and was ended"
        return [Diagnostic(code="deadline-exceeded", message=text)]
    return []


def tell_leaked(leaked: list[LeakedProcess]) -> list[Diagnostic]:
    """Name what an agent left behind."""
    return [
        Diagnostic(
            code="process-leaked",
            message=f"the agent left process {process.pid} behind ({process.name or 'name unknown'}); it was ended",
        )
        for process in leaked
    ]


def tell_unkillable(pid: int, name: str) -> Diagnostic:
    """Name a process that could not be ended."""
    return Diagnostic(
        code="process-unkillable",
        message=(
            f"process {pid} ({name or 'name unknown'}) did not end within {KILL_WAIT:g} s of SIGKILL; "
            "what is observed now may still change"
        ),
    )


__all__ = ["GRACE", "LINGER", "HarnessEndingError", "ProcessSpec", "supervise"]
