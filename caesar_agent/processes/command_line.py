"""What ``agent.command`` was given, as what is run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

from caesar_agent.errors import MisuseError

MAX_COMMAND = 2000
"""Longest command line in ``commands_run``, in characters; a prompt that was handed on in an
argument is no news to the reader."""


def command_line(
    command: Sequence[str | os.PathLike[str]] | str,
) -> tuple[list[str], str]:
    """Return what to run, and the same as one line for people.

    Raises:
        MisuseError: it is empty, or no strings and paths, or holds a NUL.
    """
    if isinstance(command, str):
        argv, line = ["/bin/sh", "-c", command], command
    else:
        try:
            argv = [os.fspath(part) for part in command]
        except TypeError as error:
            raise MisuseError(
                method="command", problem=f"expected strings and paths, found {command!r:.200}"
            ) from error
        line = shlex.join(argv)
    if not line.strip():
        raise MisuseError(method="command", problem="the command is empty")
    if any("\0" in part for part in argv):
        raise MisuseError(method="command", problem="a NUL character cannot be in an argument")
    return argv, line if len(line) <= MAX_COMMAND else f"{line[: MAX_COMMAND - 1]}…"


def environment(extra: Mapping[str, str | None] | None) -> dict[str, str]:
    """Return the environment of this process with some more, and without what is None.

    Raises:
        MisuseError: a value is no string, or no variable can have that name or value.
    """
    variables = dict(os.environ)
    for name, value in (extra or {}).items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise MisuseError(method="command", problem=f"{name!r:.80} cannot name a variable")
        if value is None:
            variables.pop(name, None)
        elif not isinstance(value, str):
            raise MisuseError(
                method="command",
                problem=f"the variable {name} must be a string, not {type(value).__name__}",
            )
        elif "\0" in value:
            raise MisuseError(
                method="command", problem=f"the variable {name} holds a NUL character"
            )
        else:
            variables[name] = value
    return variables
