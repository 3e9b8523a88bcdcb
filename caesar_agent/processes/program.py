"""Run one program: stream what it prints, keep its end, and leave nothing of it behind."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from caesar_agent.clock import monotonic
from caesar_agent.processes.interruption import shielded
from caesar_agent.processes.output import Echo, Tail, drain, read
from caesar_agent.processes.process_tree import ProcessTree

TERMINATION_SECONDS = 1.0
"""From SIGTERM to SIGKILL; well within the five seconds that an orchestrator leaves the agent."""

NOTICE_SECONDS = 0.25
"""Longest wait before a request to stop is noticed."""

POLL_SECONDS = 0.02
"""The same where the end of a process cannot be waited for together with its output."""

STOPPED = "ended because the agent was told to stop"
"""Note on a program that another thread, or a signal handler, had ended."""

NOT_EXECUTABLE = 126
NOT_FOUND = 127
"""Exit codes of programs that did not start, as shells give them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """How a command ended.

    Attributes:
        command: the command line, as it stands in ``commands_run``.
        exit_code: None when a signal ended it; 127 when the program was not found and
            126 when it could not be started, as shells count.
        stdout: the end of its standard output, at most ``MAX_OUTPUT_BYTES`` of it,
            decoded as UTF-8 with U+FFFD for anything else.
        stderr: the same of standard error.
        duration: seconds.
        signal: name of the signal that ended it, such as ``SIGKILL``, or None.
        timed_out: ``timeout`` passed, and its whole process tree was ended.
        truncated: it printed more than was kept.
        note: one sentence on an ending without an exit code of its own, else "".
    """

    command: str
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    duration: float = 0.0
    signal: str | None = None
    timed_out: bool = False
    truncated: bool = False
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""
        return self.exit_code == 0

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        return self.note or f"exit code {self.exit_code}"


class Program:
    """One program, run once.

    Args:
        argv: program and arguments.
        command: the same as one line, for people.
        cwd: working folder.
        env: its whole environment.
    """

    def __init__(
        self, argv: Sequence[str], *, command: str, cwd: Path, env: Mapping[str, str]
    ) -> None:
        self._argv = argv
        self._command = command
        self._cwd = cwd
        self._env = env
        self._stopped = False

    def stop(self) -> None:
        """Ask for its end from a signal handler or another thread; ``run`` sees to it."""
        self._stopped = True

    def run(self, *, timeout: float | None, stdout: Echo, stderr: Echo) -> CommandResult:
        """Run it to its end, passing on each piece of output as it comes.

        It stays in the process group of the agent, so that an orchestrator which ends
        the group ends it too. stdin is empty. When this call is interrupted, its whole
        process tree is ended first.

        Args:
            timeout: seconds, or None for no limit.
            stdout: called with each piece of standard output.
            stderr: called with each piece of standard error.
        """
        started = monotonic()
        process = None
        try:
            # Between the start of a process and our knowing it nothing may come.
            with shielded():
                process = subprocess.Popen(
                    self._argv,
                    cwd=self._cwd,
                    env=dict(self._env),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            return self._follow(process, started, timeout, stdout, stderr)
        except OSError as error:
            if process is None:
                return self._not_started(error)
            _end(process)
            raise
        except BaseException:
            if process is not None:
                _end(process)
            raise
        finally:
            if process is not None:
                _close(process)

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        started: float,
        timeout: float | None,
        stdout: Echo,
        stderr: Echo,
    ) -> CommandResult:
        tails = (Tail(), Tail())
        note = ""
        with contextlib.ExitStack() as stack:
            selector = stack.enter_context(selectors.DefaultSelector())
            pause = _watch_end(process, selector, stack)
            for pipe, tail, echo in zip(
                (process.stdout, process.stderr), tails, (stdout, stderr), strict=True
            ):
                assert pipe is not None
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, (tail, echo))
            while True:
                left = pause if timeout is None else started + timeout - monotonic()
                for key, _ in selector.select(max(0.0, min(pause, left))):
                    if key.data is not None and not read(key.fd, *key.data):
                        selector.unregister(key.fileobj)
                if process.poll() is not None:
                    break
                note = self._reason_to_end(started, timeout)
                if note:
                    _end(process)
                    break
            for key in list(selector.get_map().values()):
                if key.data is not None:
                    drain(key.fd, *key.data)
        return self._result(process.returncode, tails, monotonic() - started, note)

    def _reason_to_end(self, started: float, timeout: float | None) -> str:
        if timeout is not None and monotonic() >= started + timeout:
            return f"timed out after {timeout:g} s"
        return STOPPED if self._stopped else ""

    def _result(
        self, code: int | None, tails: tuple[Tail, Tail], duration: float, note: str
    ) -> CommandResult:
        # A process that even SIGKILL has not ended yet has no code.
        by_signal = _signal_name(-code) if code is not None and code < 0 else None
        timed_out = bool(note) and note != STOPPED
        if by_signal and not note:
            note = f"killed by {by_signal}"
        return CommandResult(
            command=self._command,
            exit_code=None if by_signal or timed_out else code,
            stdout=tails[0].text(),
            stderr=tails[1].text(),
            duration=duration,
            signal=by_signal,
            timed_out=timed_out,
            truncated=tails[0].truncated or tails[1].truncated,
            note=note,
        )

    def _not_started(self, error: OSError) -> CommandResult:
        program = self._argv[0]
        if error.errno == errno.ENOENT:
            code, note = NOT_FOUND, f"{program!r} was not found"
            if "/" not in program:
                note += " on PATH"
        else:
            code, note = NOT_EXECUTABLE, f"{program!r} could not be started: {error.strerror}"
        return CommandResult(command=self._command, exit_code=code, stderr=f"{note}\n", note=note)


class RunningPrograms:
    """The programs that an agent runs at this moment, in whatever threads."""

    def __init__(self) -> None:
        self._programs: set[Program] = set()

    @contextlib.contextmanager
    def running(self, program: Program) -> Iterator[None]:
        """Count a program among them."""
        self._programs.add(program)
        try:
            yield
        finally:
            self._programs.discard(program)

    def stop(self) -> None:
        """Ask for the end of each; safe in a signal handler."""
        for program in tuple(self._programs):
            program.stop()

    def end(self) -> None:
        """End those that other threads still run, and wait until they are recorded."""
        self.stop()
        deadline = monotonic() + 2 * TERMINATION_SECONDS + NOTICE_SECONDS
        while self._programs and monotonic() < deadline:
            time.sleep(0.01)


def _watch_end(
    process: subprocess.Popen[bytes],
    selector: selectors.BaseSelector,
    stack: contextlib.ExitStack,
) -> float:
    """Let the selector see the end of the process; return how long it may wait at most."""
    if not hasattr(os, "pidfd_open"):
        return POLL_SECONDS
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        # An old kernel, or a sandbox that forbids the call.
        return POLL_SECONDS
    stack.callback(os.close, descriptor)
    selector.register(descriptor, selectors.EVENT_READ, None)
    return NOTICE_SECONDS


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with everything that it started: SIGTERM, a second, SIGKILL."""
    if process.poll() is not None:
        return
    tree = ProcessTree.of(process.pid)
    tree.send(signal.SIGTERM)
    if _gone(process, tree):
        return
    # What was started since the first look belongs to it too.
    ProcessTree.of(process.pid).send(signal.SIGKILL)
    tree.send(signal.SIGKILL)
    _gone(process, tree)


def _gone(process: subprocess.Popen[bytes], tree: ProcessTree) -> bool:
    """Wait a while for the end of a process tree."""
    deadline = monotonic() + TERMINATION_SECONDS
    while process.poll() is None or tree.alive(beside=process.pid):
        if monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def _close(process: subprocess.Popen[bytes]) -> None:
    pipes: tuple[IO[bytes] | None, ...] = (process.stdout, process.stderr)
    for pipe in pipes:
        if pipe is not None:
            pipe.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
