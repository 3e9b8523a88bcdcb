"""``run.ran("pytest")``: which commands ran a program; pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from caesar_agent.console import one_line
from pytest_caesar.recovery.shell_words import simple_commands
from pytest_caesar.runs.command_reconciliation import Command

SHOWN = 5
"""Commands that an empty answer names."""

WIDTH = 200
"""Characters of an empty answer; pytest shows some 240."""


class Commands(tuple[Command, ...]):
    """Commands in their order; an empty one says what was run instead."""

    __slots__ = ()
    explanation: str

    def __repr__(self) -> str:
        return f"<Commands: {', '.join(map(repr, self)) or 'none'}>"


class NoCommands(Commands):
    """No command fits.

    Attributes:
        asked: what was asked for.
        instead: what was run.
    """

    asked: str
    instead: str

    def __repr__(self) -> str:
        return f"<{self.asked}; {self.instead}>"


def ran(commands: Sequence[Command], argv: Sequence[str], *, ok: bool) -> Commands:
    """Return the commands that ran a program with these first words.

    Wrappers are taken off: a shell with ``-c``, assignments, ``cd d &&``, ``env``, ``uv run``
    and the like; ``python -m pytest`` counts as ``pytest``, and a path as the program's name.

    Args:
        commands: of a run.
        argv: the program, and its first words.
        ok: only those that were seen to end with 0, the exit code being the program's own.
    """
    found = Commands(one for one in commands if _fits(one, tuple(argv), ok=ok))
    return found or _none(commands, argv, ok=ok)


def succeeded_as(command: Command, argv: Sequence[str]) -> bool:
    """Tell whether a command was seen to end with 0, and that code is this program's own."""
    return _fits(command, tuple(argv), ok=True)


def _fits(command: Command, wanted: tuple[str, ...], *, ok: bool) -> bool:
    if ok and (command.observed_exit_code != 0 or command.verdict == "contradicted"):
        return False
    return any(
        _begins(item.argv, wanted)
        for item in simple_commands(command.command)
        if item.own_status or not ok
    )


def _begins(argv: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if not wanted or len(argv) < len(wanted):
        return False
    program = argv[0] if "/" in wanted[0] else argv[0].rsplit("/", 1)[-1]
    return (program, *argv[1 : len(wanted)]) == wanted


def _none(commands: Sequence[Command], argv: Sequence[str], *, ok: bool) -> NoCommands:
    none = NoCommands()
    asked = shlex.join(argv)
    none.asked = f"nothing ran {asked}" + (" and was seen to succeed" if ok else "")
    told = [_told(one) for one in commands[:SHOWN]]
    more = [f"{len(commands) - SHOWN} more"] if len(commands) > SHOWN else []
    what = "; ".join([*told, *more])
    none.instead = one_line(f"instead: {what}" if told else "no command is known", limit=WIDTH)
    return none


def _told(command: Command) -> str:
    line = one_line(command.command, limit=40)
    if command.observed_exit_code is not None:
        return f"{line} (exit code {command.observed_exit_code})"
    if command.declared_exit_code is not None:
        return f"{line} (declared {command.declared_exit_code}, {command.verdict})"
    return f"{line} (no exit code)"
