"""Find the program of an agent before it is started, and say why it could not be."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_caesar.agents.errors import (
    BadInterpreter,
    CommandError,
    CommandNotFoundError,
    NotExecutableError,
    shown,
)

HEAD_BYTES = 4096
"""What is read of a script to find its interpreter; Linux itself looks at 256 bytes."""

_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")


def look_up(program: str, *, agent: str, project: Path | None, path: str) -> Path:
    """Find a program as its agent's child process will.

    Args:
        program: absolute; with a slash, from the project's root; without one, on
            ``path``, then in the project's root.
        agent: its id, for the message.
        project: root of the project, absolute; None for a program that PATH alone gives.
        path: PATH of the child; entries that are empty or relative are passed over,
            because they would mean the workspace that the agent itself writes.

    Returns:
        The absolute path of a program that can be executed.

    Raises:
        CommandNotFoundError: nothing of that name is there.
        NotExecutableError: it is a folder or not a regular file, or lacks permission.
        BadInterpreter: a script whose first line is missing or names nothing.
    """
    if not program.strip() or "\0" in program:
        raise CommandNotFoundError(
            agent=agent, program=program, problem="its program is blank or holds a NUL character"
        )
    if "/" in program:
        found = (project or Path("/")) / program
        if not os.path.lexists(found):
            raise CommandNotFoundError(
                agent=agent,
                program=program,
                problem=f"there is no {shown(str(found))}"
                + ("" if Path(program).is_absolute() else " (looked for from the project's root)"),
            )
        check_program(found, agent=agent)
        return found
    blocked: CommandError | None = None
    for candidate in _files(program, [*path_folders(path), *([project] if project else [])]):
        try:
            check_program(candidate, agent=agent)
        except NotExecutableError as error:
            blocked = blocked or error
            continue
        return candidate
    if blocked is not None:
        raise blocked
    raise CommandNotFoundError(
        agent=agent,
        program=program,
        problem=f"the command {shown(program)} was not found on PATH"
        + (f" nor in {project}" if project else "")
        + "; install it, or write its path",
    )


def check_program(file: Path, *, agent: str) -> None:
    """Check that the system would execute a file; errors as for ``look_up``."""
    name = shown(str(file))
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        raise CommandNotFoundError(
            agent=agent, program=str(file), problem=f"{name} is a link to nothing"
        ) from None
    except OSError as error:
        raise NotExecutableError(
            agent=agent, program=str(file), problem=f"{name} cannot be read: {error.strerror}"
        ) from error
    if stat.S_ISDIR(mode):
        raise NotExecutableError(
            agent=agent, program=str(file), problem=f"{name} is a folder: name the program in it"
        )
    if not stat.S_ISREG(mode):
        raise NotExecutableError(
            agent=agent, program=str(file), problem=f"{name} is not a regular file"
        )
    if not os.access(file, os.X_OK):
        raise NotExecutableError(
            agent=agent,
            program=str(file),
            problem=f"{name} is not executable: run chmod +x {file}",
        )
    _check_interpreter(file, agent=agent)


def _check_interpreter(file: Path, *, agent: str) -> None:
    try:
        with file.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        return  # a program that may be executed but not read is no script
    if head.startswith(_MAGIC):
        return
    name = shown(str(file))
    if not head.startswith(b"#!"):
        if b"\0" in head:
            return  # some binary format that this system may know
        empty = "is empty" if not head else "is a text file without a first line such as #!/bin/sh"
        raise BadInterpreter(
            agent=agent,
            program=str(file),
            problem=f"{name} {empty}, so the system cannot execute it (exec format error)",
        )
    line = head[2:].split(b"\n", 1)[0]
    interpreter = os.fsdecode(line.strip(b" \t").split(b" ", 1)[0].split(b"\t", 1)[0])
    if interpreter.endswith("\r"):
        raise BadInterpreter(
            agent=agent,
            program=str(file),
            problem=f"the first line of {name} ends with a carriage return: "
            "save the file with Unix line ends",
        )
    if not interpreter or not Path(interpreter).exists():
        raise BadInterpreter(
            agent=agent,
            program=str(file),
            problem=f"the first line of {name} names the interpreter {shown(interpreter)}, "
            "which does not exist: install it, or name another one there",
        )


def on_path(program: str, path: str) -> Path | None:
    """Return the first executable of that name on ``path``, or None."""
    return next((file for file in files_on_path(program, path) if os.access(file, os.X_OK)), None)


def files_on_path(program: str, path: str) -> Iterator[Path]:
    """Yield the files of that name on ``path``, executable or not, in order."""
    return _files(program, path_folders(path))


def path_folders(path: str) -> list[Path]:
    """Return the folders of a ``PATH`` that mean the same wherever a process stands."""
    entries = (Path(entry) for entry in path.split(os.pathsep) if entry)
    return [entry for entry in entries if entry.is_absolute()]


def _files(program: str, folders: Iterable[Path]) -> Iterator[Path]:
    # Unlike Path, os.path.isfile never raises.
    return (folder / program for folder in folders if os.path.isfile(folder / program))  # noqa: PTH113
