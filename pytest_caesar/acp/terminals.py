"""Programs that an agent has its client run: ended with the agent, their ends seen by us."""

from __future__ import annotations

import contextlib
import os
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from caesar_agent.clock import monotonic
from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError
from pytest_caesar.runs.command_reconciliation import ObservedCommand
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.environment import refusal
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.printed import Printed
from pytest_caesar.supervision.start_errors import (
    CommandNotFoundError,
    check_arguments,
    find_program,
)
from pytest_caesar.supervision.supervisor import ProcessSpec, supervise

MAX_RUNNING: Final = 32
"""Terminals whose programs run at one time."""

MAX_TERMINALS: Final = 2000
"""Terminals of one session."""

MAX_HELD: Final = 200
"""Terminals that are not released: each holds a file."""

MAX_OUTPUT: Final = 1024 * 1024
"""Bytes of what a program prints that are kept, whatever an agent asks for."""

NO_SUCH_PROGRAM: Final = 127
"""Exit code of what could not be started after all, as shells have it."""


class TerminalRefusedError(Exception):
    """What was asked for cannot be done; the text says why."""


@dataclass(slots=True)
class _Terminal:
    """One program."""

    line: str
    printed: Printed
    cancelled: Cancellation
    held: contextlib.ExitStack
    started_at: datetime
    begun: float
    outcome: Outcome | None = None
    problem: str = ""
    duration: float | None = None
    waiting: list[object] = field(default_factory=list)
    thread: threading.Thread | None = None

    def status(self) -> dict[str, Any] | None:
        """Return how it ended, or None while it runs."""
        if self.problem:
            return {"exitCode": NO_SUCH_PROGRAM, "signal": None}
        if self.outcome is None:
            return None
        return {"exitCode": self.outcome.exit_code, "signal": self.outcome.signal}


class Terminals:
    """The programs of one session.

    Args:
        spec: how the agent itself is run: environment, folders, sandbox.
        workspace: no program begins elsewhere.
        enclose: puts the sandbox of the task around a program.
        timeout: seconds until all of them are ended.
        grace: seconds between SIGTERM and SIGKILL.
        wake: is called when a program has ended.
    """

    def __init__(
        self,
        spec: ProcessSpec,
        workspace: Path,
        *,
        enclose: Callable[[ProcessSpec], ProcessSpec],
        timeout: float,
        grace: float,
        wake: Callable[[], None],
    ) -> None:
        self._spec = spec
        self._workspace = workspace
        self._enclose = enclose
        self._until = monotonic() + timeout
        self._grace = grace
        self._wake = wake
        self._terminals: dict[str, _Terminal] = {}
        self._made = 0
        self._ended: list[_Terminal] = []
        self._closed = False

    def create(self, params: dict[str, Any]) -> dict[str, Any]:
        """Start a program; returns its id.

        Raises:
            TerminalRefusedError: it cannot be started, there are too many, or the session is
                over.
        """
        if self._closed:
            # What was still in the pipe when the agent had ended: nobody would end the program.
            raise TerminalRefusedError("the session is over")
        running = sum(one.status() is None for one in self._terminals.values())
        if running >= MAX_RUNNING or self._made >= MAX_TERMINALS:
            raise TerminalRefusedError(
                f"{running} programs run, and {self._made} were started: no more is"
            )
        if len(self._terminals) >= MAX_HELD:
            raise TerminalRefusedError(f"{MAX_HELD} terminals are there: release some")
        folder = self._folder(params.get("cwd"))
        environment = {**self._spec.env, **_variables(params.get("env"))}
        argv = self._argv(params, folder, environment)
        limit = params.get("outputByteLimit")
        keep = limit if isinstance(limit, int) and 0 <= limit < MAX_OUTPUT else MAX_OUTPUT
        self._made += 1
        name = f"terminal-{self._made}"
        held = contextlib.ExitStack()
        try:
            printed = held.enter_context(Printed.capture(keep))
        except OSError as error:
            raise TerminalRefusedError(f"there is no file for its output: {error}") from error
        terminal = _Terminal(
            line=shlex.join(argv),
            printed=printed,
            cancelled=Cancellation(),
            held=held,
            started_at=datetime.now(timezone.utc),
            begun=monotonic(),
        )
        spec = replace(
            self._spec,
            argv=argv,
            cwd=folder,
            env=environment,
            stdin=None,
            stdout=terminal.printed.fd,
            stderr=terminal.printed.fd,
            home=None,
            sandbox=None,
            # What carries the mark of the task is the agent too, which does not end here.
            task_directory=self._spec.task_directory / name,
        )
        thread = threading.Thread(
            target=self._run, args=(terminal, spec), name=f"acp {name}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:  # the system gives no more
            held.close()
            raise TerminalRefusedError(str(error)) from error
        terminal.thread = thread
        self._terminals[name] = terminal
        return {"terminalId": name}

    def output(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return what a program printed so far, and how it ended."""
        terminal = self._of(params)
        status = terminal.status()
        text, cut = terminal.printed.tail()
        said = text + terminal.problem
        return {"output": said, "truncated": cut, **({"exitStatus": status} if status else {})}

    def wait(self, ident: object, params: dict[str, Any]) -> None:
        """Note who waits for the end of a program; see ``answers``."""
        self._of(params).waiting.append(ident)

    def kill(self, params: dict[str, Any]) -> dict[str, Any]:
        """End a program, which can still be asked about."""
        self._of(params).cancelled.set()
        return {}

    def release(self, params: dict[str, Any]) -> dict[str, Any]:
        """End a program, and forget it."""
        terminal = self._of(params)
        terminal.cancelled.set()
        name = str(params.get("terminalId"))
        del self._terminals[name]
        self._ended.append(terminal)
        return {}

    def answers(self) -> list[tuple[object, dict[str, Any]]]:
        """Return who can be told that a program has ended, and how it did; each once."""
        told: list[tuple[object, dict[str, Any]]] = []
        for terminal in (*self._terminals.values(), *self._ended):
            status = terminal.status()
            if status is not None:
                waiting, terminal.waiting = terminal.waiting, []
                told += [(ident, status) for ident in waiting]
        for terminal in self._ended:
            if terminal.thread is not None and not terminal.thread.is_alive():
                terminal.held.close()  # released and gone: nobody asks what it printed
        return told

    def close(self) -> None:
        """End all programs, and wait until they are gone; no more is started."""
        self._closed = True
        every = (*self._terminals.values(), *self._ended)
        for terminal in every:
            terminal.cancelled.set()
        for terminal in every:
            if terminal.thread is not None:
                terminal.thread.join()
            terminal.held.close()

    def observed(self) -> list[ObservedCommand]:
        """Return the programs as commands that were seen, in the order of their starts."""
        every = sorted((*self._terminals.values(), *self._ended), key=lambda one: one.begun)
        return [
            ObservedCommand(
                command=one.line,
                exit_code=one.outcome.exit_code if one.outcome is not None else None,
                witnesses=("program",),
                started_at=one.started_at,
                duration=one.duration,
            )
            for one in every
            if not one.problem
        ]

    def _of(self, params: dict[str, Any]) -> _Terminal:
        name = params.get("terminalId")
        found = self._terminals.get(name) if isinstance(name, str) else None
        if found is None:
            raise TerminalRefusedError(f"there is no terminal {one_line(str(name), limit=60)}")
        return found

    def _folder(self, cwd: object) -> Path:
        if cwd is None:
            return self._workspace
        if not isinstance(cwd, str) or "\0" in cwd or not cwd.startswith("/"):
            raise TerminalRefusedError("cwd is no absolute path")
        real, root = Path(os.path.realpath(cwd)), Path(os.path.realpath(self._workspace))
        if real != root and root not in real.parents:
            raise TerminalRefusedError("cwd lies outside the workspace")
        if not real.is_dir():
            raise TerminalRefusedError("cwd is no folder")
        return real

    def _argv(
        self, params: dict[str, Any], folder: Path, environment: dict[str, str]
    ) -> tuple[str, ...]:
        command, args = params.get("command"), params.get("args") or []
        if not isinstance(command, str) or not command.strip():
            raise TerminalRefusedError("command is no program")
        if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
            raise TerminalRefusedError("args is no list of strings")
        argv = (command, *args)
        try:
            check_arguments(argv, environment, cwd=folder)
            try:
                find_program(command, cwd=folder, env=environment)
            except CommandNotFoundError:
                if args or len(command.split()) == 1:
                    raise
                # Many agents give a whole line, as other clients take it.
                return ("/bin/sh", "-c", command)
        except CaesarError as error:
            raise TerminalRefusedError(str(error)) from error
        return argv

    def _run(self, terminal: _Terminal, spec: ProcessSpec) -> None:
        try:
            terminal.outcome = supervise(
                self._enclose(spec),
                timeout=max(self._until - monotonic(), 0.05),
                grace=self._grace,
                cancelled=terminal.cancelled,
                on_poll=terminal.printed.drop_surplus,
            )
        except (CaesarError, OSError) as error:
            terminal.problem = str(error)
        with contextlib.suppress(OSError):
            terminal.printed.settle()
        terminal.duration = monotonic() - terminal.begun
        self._wake()


def _variables(given: object) -> dict[str, str]:
    """Return the variables that an agent sets; those that never pass are left out."""
    found: dict[str, str] = {}
    for one in given if isinstance(given, list) else ():
        name, value = (one.get("name"), one.get("value")) if isinstance(one, dict) else (None, None)
        if isinstance(name, str) and isinstance(value, str) and refusal(name) is None:
            found[name] = value
    return found
