"""Why an agent could not be started: one class for each cause, with its remedy."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from caesar_agent.errors import CaesarError
from pytest_caesar.agents.executables import files_on_path
from pytest_caesar.supervision.processes import readable

_MAX_INTERPRETER: Final = 256
"""Bytes of a first line that the kernel looks at."""


class AgentStartError(CaesarError):
    """An agent could not be started; nothing of it runs.

    Attributes:
        program: what was to be run, as given or as found on PATH.
        cwd: the folder it was to run in.
        reason: what stood in the way.
        remedy: what to do about it.
    """

    __module__ = "pytest_caesar"

    program: str
    cwd: str
    reason: str
    remedy: str

    def message(self) -> str:
        """Say it in a sentence, with what to do."""
        return f"the agent could not be started: {self.reason}. {self.remedy}"


class CommandNotFoundError(AgentStartError):
    """There is no such program."""


class CommandIsDirectoryError(AgentStartError):
    """The program is a folder."""


class NotExecutableError(AgentStartError):
    """The program may not be executed."""


class InterpreterNotFoundError(AgentStartError):
    """The program that a script names in its first line does not exist."""


class ExecFormatError(AgentStartError):
    """The file is no program that this system can run."""


class WorkspaceMissingError(AgentStartError):
    """The working folder does not exist or may not be entered."""


class CommandTooLongError(AgentStartError):
    """Arguments and environment exceed what the system takes."""


class InvalidArgumentError(AgentStartError):
    """An argument or a variable cannot be given to any program."""


class SystemRefusedError(AgentStartError):
    """The system would not start another process: memory, processes or descriptors ran out."""


class SandboxStartError(AgentStartError):
    """The sandbox around the agent could not be made."""

    @classmethod
    def told(
        cls, name: str, number: int, said: Sequence[bytes], *, program: str, cwd: Path
    ) -> SandboxStartError:
        """Return the error with what the sandbox's program said, or the system of it."""
        words = readable(b" ".join(said).strip()) or (
            os.strerror(number) if number else "it ended without a word"
        )
        return cls(
            program=program,
            cwd=str(cwd),
            reason=f"the sandbox {name} could not be made ({words})",
            remedy="`pytest-caesar doctor` says what works here; sandbox 'none' runs without.",
        )


def find_program(argv0: str, *, cwd: Path, env: Mapping[str, str]) -> str:
    """Return the path to execute: a bare name is looked for on the agent's own PATH.

    Entries of PATH that are empty or relative are passed over: they would mean the
    working folder, where an agent may have put anything.

    Raises:
        CommandNotFoundError: nothing on PATH has that name.
        NotExecutableError: something has, and may not be executed.
    """
    if "/" in argv0:
        return argv0
    path = env.get("PATH", os.defpath)
    blocked: str | None = None
    for candidate in files_on_path(argv0, path):
        if os.access(candidate, os.X_OK):
            return str(candidate)
        blocked = blocked or str(candidate)
    if blocked is not None:
        raise _not_executable(blocked, cwd)
    raise CommandNotFoundError(
        program=argv0,
        cwd=str(cwd),
        reason=f"agent command not found: {_quote(argv0)} is in no folder of its PATH ({_shorten(path)})",
        remedy="Install it, add its folder to PATH, or give its path.",
    )


def check_arguments(argv: tuple[str, ...], env: Mapping[str, str], *, cwd: Path) -> None:
    """Refuse what no program can be given.

    Raises:
        InvalidArgumentError: there is no program, or a NUL byte or an unencodable character.
    """
    if not argv or not argv[0]:
        raise InvalidArgumentError(
            program="", cwd=str(cwd), reason="the command is empty", remedy="Name a program to run."
        )
    for index, argument in enumerate(argv):
        what = "the program's name" if index == 0 else f"argument {index}"
        _check_text(argument, what, program=argv[0], cwd=cwd)
    for name, value in env.items():
        if not name or "=" in name:
            raise InvalidArgumentError(
                program=argv[0],
                cwd=str(cwd),
                reason=f"{name!r} cannot be the name of an environment variable",
                remedy="Use letters, digits and underscores.",
            )
        _check_text(name + value, f"the environment variable {name!r}", program=argv[0], cwd=cwd)


def explain(
    step: str, number: int, *, program: str, argv: tuple[str, ...], cwd: Path, size: int
) -> AgentStartError:
    """Turn what the system said into the error that names the cause.

    Args:
        step: what failed: ``stdin``, ``fork``, ``cwd`` or ``execute``.
        number: errno.
        program: the path that was executed.
        argv: the arguments, the program's name first.
        cwd: the working folder.
        size: bytes of arguments and environment together.
    """
    said = os.strerror(number) if number else "unknown error"
    if step == "cwd":
        return _workspace(number, said, program, cwd)
    if step == "stdin":
        return SystemRefusedError(
            program=program,
            cwd=str(cwd),
            reason=f"the {size} bytes of its stdin could not be put into a temporary file ({said})",
            remedy="Make room in the temporary folder ($TMPDIR), and run again.",
        )
    if step != "execute" or number in {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}:
        return SystemRefusedError(
            program=program,
            cwd=str(cwd),
            reason=f"the system refused another process ({said})",
            remedy="Free memory or processes, or raise the limits (ulimit -u, ulimit -n), and run again.",
        )
    if number == errno.E2BIG:
        longest = max(range(len(argv)), key=lambda index: len(os.fsencode(argv[index])))
        return CommandTooLongError(
            program=program,
            cwd=str(cwd),
            reason=(
                f"the command line is too long: {size} bytes of arguments and environment, "
                f"argument {longest} alone has {len(os.fsencode(argv[longest]))}"
            ),
            remedy="Let the agent read $CAESAR_TASK_FILE, or give it the brief on stdin.",
        )
    return _program(number, said, program, cwd)


def _workspace(number: int, said: str, program: str, cwd: Path) -> AgentStartError:
    reason = f"its workspace {_quote(str(cwd))} cannot be entered ({said})"
    if number == errno.ENOENT:
        reason = f"its workspace does not exist: {_quote(str(cwd))}"
    elif number == errno.ENOTDIR:
        reason = f"its workspace is not a folder: {_quote(str(cwd))}"
    return WorkspaceMissingError(
        program=program,
        cwd=str(cwd),
        reason=reason,
        remedy="Give a folder that exists and may be entered.",
    )


def _program(number: int, said: str, program: str, cwd: Path) -> AgentStartError:
    path = cwd / program
    facts = {"program": program, "cwd": str(cwd)}
    if path.is_dir():
        return CommandIsDirectoryError(
            **facts,
            reason=f"{_quote(program)} is a directory",
            remedy="Give the path of a program in it.",
        )
    interpreter = _interpreter(path)
    if number == errno.ENOENT and interpreter and path.exists():
        ending = " (the file has Windows line ends)" if interpreter.endswith(b"\r") else ""
        remedy = (
            "Save the file with \\n line ends."
            if ending
            else "Install it, or correct the first line."
        )
        return InterpreterNotFoundError(
            **facts,
            reason=f"the interpreter {_quote(readable(interpreter))} in the first line of {_quote(program)} does not exist{ending}",
            remedy=remedy,
        )
    if number in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}:
        return CommandNotFoundError(
            **facts,
            reason=f"agent command not found: {_quote(program)} ({said})",
            remedy="Check the path; a relative one starts at the folder the agent runs in.",
        )
    if number in {errno.EACCES, errno.EPERM}:
        if interpreter and os.access(path, os.X_OK):
            return NotExecutableError(
                **facts,
                reason=f"the interpreter {_quote(readable(interpreter))} in the first line of {_quote(program)} is not executable",
                remedy="Correct the first line.",
            )
        return _not_executable(program, cwd)
    if number == errno.ENOEXEC:
        return ExecFormatError(
            **facts,
            reason=f"exec format error: {_quote(program)} has no first line such as #!/bin/sh and is no program of this system",
            remedy="Add the line, or name the interpreter in front of it.",
        )
    return AgentStartError(
        **facts,
        reason=f"{_quote(program)} could not be executed ({said})",
        remedy="Run it by hand to see why.",
    )


def _not_executable(program: str, cwd: Path) -> NotExecutableError:
    return NotExecutableError(
        program=program,
        cwd=str(cwd),
        reason=f"{_quote(program)} is not executable",
        remedy=f"Run `chmod +x {program}`, or name its interpreter in front of it; "
        "on a volume mounted noexec only the latter helps.",
    )


def _interpreter(path: Path) -> bytes:
    """Return the program that a script's first line names, or nothing."""
    try:
        # Not waited for: it may be a FIFO.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        head = os.read(descriptor, _MAX_INTERPRETER)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    if not head.startswith(b"#!"):
        return b""
    words = head[2:].split(b"\n", 1)[0].strip(b" \t").split(None if b"\r" not in head else b" ", 1)
    return words[0] if words else b""


def _check_text(text: str, what: str, *, program: str, cwd: Path) -> None:
    problem = ""
    if "\0" in text:
        problem = "holds a NUL byte"
    else:
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            problem = "holds a character that cannot be encoded"
    if problem:
        raise InvalidArgumentError(
            program=program,
            cwd=str(cwd),
            reason=f"{what} {problem}",
            remedy="Remove it, or put the text into a file.",
        )


def _quote(text: str) -> str:
    return "'" + readable(os.fsencode(text)) + "'"


def _shorten(path: str) -> str:
    return readable(os.fsencode(path))
