"""An agent that is given as a command line."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_caesar.agents.errors import CommandError, SelectionError
from pytest_caesar.agents.executables import check_program, on_path
from pytest_caesar.agents.paths import absolute
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.agents.tokens import TOKENS, unknown_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_INTERPRETER = re.compile(r"(python|pypy|node|ruby|perl|bash|dash|zsh|deno|bun|sh)[0-9.]*")
_PYTHON = re.compile(r"(python|pypy)[0-9.]*")
_PYTHON_VALUED = ("-X", "-W", "--check-hash-based-pycs")
"""Options of Python whose value is the argument after them."""
_PYTHON_MODULE = re.compile(r"-[^-mcXW]*m(.*)")


def split_arguments(text: str) -> tuple[str, ...]:
    """Split ``agents add``-like arguments: blanks separate, ``'`` and ``"`` quote.

    A backslash is an ordinary character, as in the reference; ``ValueError`` for a quote
    that is never closed.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.escape = ""
    lexer.commenters = ""
    return tuple(lexer)


def agent_of_command_line(
    text: str, *, start: Path, path: str, make_id: Callable[[str], str]
) -> ProcessAgent | SelectionError | None:
    """Make an agent of a command line.

    The first word must be a command on ``path`` or the path of a program. Arguments that
    name existing files are made absolute, because the agent works in another folder.

    Args:
        text: the command line.
        start: folder from which paths are meant.
        path: PATH that the first word is looked for on.
        make_id: turns a name into an id.

    Returns:
        The agent; why it cannot be run; or None when its first word is no program.
    """
    try:
        words = split_arguments(text)
    except ValueError:
        return _refusal(text, "a quote is opened and never closed")
    if not words or not words[0]:
        return None
    program, *arguments = words
    if unknown := unknown_tokens(arguments):
        known = ", ".join(f"{{{{{name}}}}}" for name in TOKENS)
        return _refusal(text, f"unknown token {{{{{unknown[0]}}}}}; known are {known}")
    ident = make_id(_name(program, arguments))
    if "/" in program:
        file = absolute(program, start)
        if not os.path.lexists(file):
            return None
        try:
            check_program(file, agent=ident)
        except CommandError as error:
            return _refusal(text, error.problem)
        program = str(file)
    elif on_path(program, path) is None:
        return None
    return ProcessAgent(
        id=ident,
        origin="command",
        argv=(program, *(_absolute(argument, start) for argument in arguments)),
        project=str(start),
        import_root=str(start) if _module(program, arguments) else "",
    )


def _absolute(argument: str, start: Path) -> str:
    if not argument or argument.startswith("-") or "\0" in argument:
        return argument
    file = start / argument
    try:
        return str(absolute(argument, start)) if file.is_file() else argument
    except OSError:  # too long to be a name
        return argument


def _name(program: str, arguments: Sequence[str]) -> str:
    """Return what people would call the agent: the script or module, not ``python``."""
    if module := _module(program, arguments):
        return module.removesuffix(".__main__")
    if _INTERPRETER.fullmatch(Path(program).name):
        for argument in arguments:
            if not argument.startswith("-"):
                return Path(argument).stem
            if argument == "-c":
                break
    return Path(program).stem


def _module(program: str, arguments: Sequence[str]) -> str:
    """Return the module that a Python is told to run with ``-m``, or ""."""
    if not _PYTHON.fullmatch(Path(program).name):
        return ""
    rest = iter(arguments)
    for argument in rest:
        if argument in _PYTHON_VALUED:
            next(rest, None)
        elif not argument.startswith("-") or argument == "-" or "c" in argument[1:2]:
            break
        elif match := _PYTHON_MODULE.fullmatch(argument):
            return match[1] or next(rest, "")
    return ""


def _refusal(text: str, problem: str) -> SelectionError:
    return SelectionError(selected=text, problem=problem, fits=(), available=())
