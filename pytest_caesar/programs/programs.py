"""``caesar_programs``: programs on the agent's PATH, faked or watched."""

from __future__ import annotations

import contextlib
import os
import py_compile
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.files.folders import temporary_folder
from pytest_caesar.programs.call import ProgramCall, ProgramReply, encoded
from pytest_caesar.programs.errors import ProgramError
from pytest_caesar.programs.fakes import FakedProgram, Ledger, Script, WatchedProgram
from pytest_caesar.programs.server import Server
from pytest_caesar.recovery.shell_words import simple_commands
from pytest_caesar.recovery.tool_call import ToolCall
from pytest_caesar.runs.command_reconciliation import ObservedCommand

MAX_CALLS = 10_000
"""Calls that are noted; of later ones nothing is."""

SHOWN = 3
"""Problems that a failure names."""

NO_REPLY = 127
"""Exit code of a faked program that no reply fits."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@-]*")

_LAUNCHER = """#!/bin/sh
exec {python} -I -S {code} {kind} {name} "$@"
"""

_PROFILE = """\
# Written by pytest-caesar: a login shell sets PATH anew.
PATH={folder}:"$PATH"
export PATH
"""


class Programs:
    """Programs that a test fakes or watches; for every agent of the test.

    The folder with the launchers, and what serves them, are made when the first program is
    asked for.
    """

    def __init__(self) -> None:
        self._fakes: dict[str, list[FakedProgram]] = {}
        self._watched: dict[str, WatchedProgram] = {}
        self._ledger = Ledger()
        self._closing = contextlib.ExitStack()
        self._folder: Path | None = None
        self._server: Server | None = None

    def fake(
        self,
        name: str,
        *words: str,
        stdout: str | bytes = "",
        stderr: str | bytes = "",
        exit_code: int = 0,
        script: Script | None = None,
        stdin: bool = False,
    ) -> FakedProgram:
        """Play a program: what calls it gets this reply, and the real one never runs.

        Args:
            name: as it is typed, without a folder.
            words: first words of the calls that get this reply: ``fake("gh", "pr", "create")``.
                Of several that fit, the one with the most words counts, of equals the last.
            stdout: what it prints.
            stderr: the same, to the other stream.
            exit_code: what it ends with.
            script: makes the reply from the call instead: a ``ProgramReply``, text for stdout, a
                number for the exit code, or None where no reply fits.
            stdin: read what comes in before the reply, into ``call.stdin``. A fake that waits
                for a pipe which nobody closes hangs.

        Raises:
            ProgramError: it is watched already, or that is no name.
        """
        if script is not None and (stdout or stderr or exit_code):
            raise ProgramError(name=name, problem="give a reply or a script, not both")
        try:
            fixed = ProgramReply(stdout=stdout, stderr=stderr, exit_code=exit_code)
        except (TypeError, ValueError) as error:
            raise ProgramError(name=name, problem=str(error)) from error
        if name in self._watched:
            raise ProgramError(name=name, problem="it is watched; fake it or watch it, not both")
        fake = FakedProgram(name, words, stdin, script or (lambda _: fixed))
        others = self._fakes.get(name, [])
        reads = stdin or any(other.wants_stdin for other in others)
        self._launcher(name, "fake-stdin" if reads else "fake")
        self._fakes[name] = [*others, fake]
        return fake

    def watch(self, *names: str) -> tuple[WatchedProgram, ...]:
        """Note the calls of programs; the real ones run, as they would.

        Raises:
            ProgramError: one of them is faked already, or is no name.
        """
        for name in names:
            if name in self._fakes:
                problem = "it is faked; fake it or watch it, not both"
                raise ProgramError(name=name, problem=problem)
            if name not in self._watched:
                self._launcher(name, "watch")
                self._watched[name] = WatchedProgram(name)
        return tuple(self._watched[name] for name in names)

    @property
    def calls(self) -> tuple[ProgramCall, ...]:
        """Every call of every program so far, in the order in which they came."""
        with self._ledger.lock:
            return tuple(self._ledger.calls[number] for number in sorted(self._ledger.calls))

    # -- for the orchestrator

    @property
    def folders(self) -> tuple[str, ...]:
        """What leads the PATH of an agent."""
        return () if self._folder is None else (str(self._folder),)

    def furnish(self, home: Path) -> None:
        """Let login shells of an agent find the launchers too; ``home`` is the agent's own."""
        if self._folder is None:
            return
        text = _PROFILE.format(folder=shlex.quote(str(self._folder)))
        for name in (".profile", ".zprofile"):
            (home / name).write_text(text, encoding="utf-8")

    @contextlib.contextmanager
    def serving(self) -> Iterator[Callable[[int], None]]:
        """Take the calls of one agent; yields what is told the process it is below."""
        roots: list[int] = []

        def admit(root: int) -> None:
            if self._server is not None:
                roots.append(root)
                self._server.admit(root)

        try:
            yield admit
        finally:
            if self._server is not None:
                self._server.settle()
                for root in roots:
                    self._server.dismiss(root)

    def observed(self, task_id: str) -> tuple[ObservedCommand, ...]:
        """Return the calls of one delegation."""
        return tuple(call.observed() for call in self.calls if call.task_id == task_id)

    def restore(self, observed: tuple[ObservedCommand, ...], task_id: str) -> None:
        """Take calls that were recorded as calls of the agent that is played back."""
        for one in observed:
            argv = tuple(shlex.split(one.command))
            if argv:
                call = ProgramCall(
                    argv=argv,
                    folder=Path(),
                    exit_code=one.exit_code,
                    started_at=one.started_at,
                    duration=one.duration,
                    task_id=task_id,
                )
                fitting = [one for one in self._fakes.get(argv[0], ()) if one.fits(argv)]
                taker = max(reversed(fitting), key=lambda one: len(one.words), default=None)
                _Call(self).note(call, *([] if taker is None else [taker.calls]))

    def findings(self, task_id: str, calls: tuple[ToolCall, ...]) -> tuple[Diagnostic, ...]:
        """Name the programs that a stream shows and that were never seen to be called."""
        seen = {call.argv[0] for call in self.calls if call.task_id == task_id}
        wanted = {*self._watched, *self._fakes} - seen
        missing = dict.fromkeys(
            item.argv[0]
            for call in calls
            if call.command is not None and wanted
            for item in simple_commands(call.command)
            if item.argv[0] in wanted
        )
        return tuple(
            Diagnostic(
                code="program-not-watched",
                message=f"the stream shows a call of {name}, and none came: the agent has another "
                "PATH, or a sandbox keeps its programs from the test",
            )
            for name in missing
        )

    # -- for the test

    def judge(self, *, stopped: bool = False) -> str | None:
        """Return why the test fails, or None: fakes that nobody called, calls without a reply.

        Args:
            stopped: an agent was stopped on purpose, so that it may have left out calls.
        """
        with self._ledger.lock:
            problems = list(self._ledger.problems)
        for fakes in self._fakes.values():
            for fake in fakes:
                if not fake.calls and not stopped:
                    line = shlex.join((fake.name, *fake.words))
                    problems.append(f"{line} was faked and never called{self._refused()}")
        more = [f"… and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        return "\n".join([*problems[:SHOWN], *more]) or None

    def close(self) -> None:
        """Serve no more, and remove the launchers."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._closing.close()

    def _refused(self) -> str:
        count = 0 if self._server is None else self._server.refused
        return f"; {count} calls came from a process of no agent" if count else ""

    def _launcher(self, name: str, kind: str) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            problem = "expected the name of a program as it is typed, without a folder"
            raise ProgramError(name=str(name), problem=problem)
        folder = self._folder or self._open()
        code = folder / ".launcher.pyc"
        path = folder / name
        text = _LAUNCHER.format(
            python=shlex.quote(os.path.realpath(sys.executable)),
            code=shlex.quote(str(code)),
            kind=kind,
            name=shlex.quote(name),
        )
        fresh = folder / f".{name}.new"
        fresh.write_text(text, encoding="utf-8")
        fresh.chmod(0o755)
        fresh.replace(path)

    def _open(self) -> Path:
        folder = self._closing.enter_context(temporary_folder("caesar-programs-"))
        py_compile.compile(
            str(Path(__file__).with_name("launcher.py")),
            cfile=str(folder / ".launcher.pyc"),
            doraise=True,
        )
        try:
            self._server = Server(folder / "s", lambda: _Call(self))
        except OSError as error:
            problem = f"its socket cannot be made in {folder}: {error.strerror or error}"
            raise ProgramError(name="socket", problem=problem) from error
        self._folder = folder
        return folder

    def reply_to(self, call: ProgramCall) -> tuple[FakedProgram | None, ProgramReply | None]:
        """Return which fake takes a call, and what it replies."""
        fitting = [one for one in self._fakes.get(call.argv[0], ()) if one.fits(call.argv)]
        line = one_line(shlex.join(call.argv), limit=200)
        if not fitting:
            with self._ledger.lock:
                self._ledger.problems.append(f"no reply fits the call of {line}")
            return None, None
        fake = max(reversed(fitting), key=lambda one: len(one.words))
        problem = f"no reply fits the call of {line}"
        reply = None
        try:
            reply = fake.reply(call)
        except Exception as error:  # noqa: BLE001 - of the test's own function
            problem = f"the script of {fake.name} failed on {line}: {type(error).__name__}: {error}"
        if reply is None:
            with self._ledger.lock:
                self._ledger.problems.append(problem)
        return fake, reply

    def takers(self, call: ProgramCall) -> list[list[ProgramCall]]:
        """Return the lists of calls of a program that a call is added to."""
        watched = self._watched.get(call.argv[0])
        return [watched.calls] if watched is not None else []

    @property
    def ledger(self) -> Ledger:
        """Everything that came."""
        return self._ledger


class _Call:
    """One conversation with a launcher."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._number = -1
        self._places: list[tuple[list[ProgramCall], int]] = []
        self._call: ProgramCall | None = None

    def started(self, message: list[bytes]) -> list[bytes]:
        """Note the call, and return the reply of a fake."""
        kind, name, task, folder, moment, data, *words = message
        call = ProgramCall(
            argv=(os.fsdecode(name), *map(os.fsdecode, words)),
            folder=Path(os.fsdecode(folder)),
            stdin=data if kind == b"fake-stdin" else None,
            started_at=_time(moment),
            task_id=os.fsdecode(task),
        )
        if kind == b"watch":
            self.note(call)
            return [b"go"]
        fake, reply = self._programs.reply_to(call)
        self.note(call, *([] if fake is None else [fake.calls]))
        if reply is None:
            text = f"{call.argv[0]}: the test has no reply to this call\n"
            return [str(NO_REPLY).encode(), b"", text.encode()]
        return [str(reply.exit_code).encode(), encoded(reply.stdout), encoded(reply.stderr)]

    def ended(self, message: list[bytes]) -> None:
        """Note the end."""
        _, code, moment = message
        ended = _time(moment)
        if self._call is None or self._call.started_at is None or ended is None:
            return
        call = replace(
            self._call,
            exit_code=int(code),
            duration=max(0.0, (ended - self._call.started_at).total_seconds()),
        )
        with self._programs.ledger.lock:
            if self._number in self._programs.ledger.calls:
                self._programs.ledger.calls[self._number] = call
            for calls, index in self._places:
                calls[index] = call

    def note(self, call: ProgramCall, *more: list[ProgramCall]) -> None:
        """Add a call to all lists that it belongs to."""
        self._call = call
        ledger = self._programs.ledger
        with ledger.lock:
            if len(ledger.calls) >= MAX_CALLS:
                return
            self._number = len(ledger.calls)
            ledger.calls[self._number] = call
            for calls in (*self._programs.takers(call), *more):
                self._places.append((calls, len(calls)))
                calls.append(call)


def _time(moment: bytes) -> datetime | None:
    """Return the time of so many nanoseconds since 1970; a launcher may say anything."""
    try:
        return datetime.fromtimestamp(int(moment) // 1000 / 1_000_000, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
