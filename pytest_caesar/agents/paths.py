"""An agent that is named by the path of its file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pytest_caesar.agents.errors import CommandError, SelectionError, shown
from pytest_caesar.agents.executables import check_program
from pytest_caesar.agents.target import ProcessAgent


def absolute(path: str, start: Path) -> Path:
    """Return a path as seen from ``start``, without following links.

    A link is kept: the ``python`` of a virtual environment is one, and finds its
    packages only under its own name.
    """
    # Unlike Path.expanduser, this leaves "~nobody" as it is instead of raising.
    return Path(os.path.abspath(start / os.path.expanduser(path)))  # noqa: PTH100, PTH111


INTERPRETERS = {".py": sys.executable, ".js": "node", ".mjs": "node", ".cjs": "node"}
"""Who runs a script that is not executable itself, by suffix."""


def agent_of_path(text: str, file: Path, *, ident: str) -> ProcessAgent | SelectionError:
    """Make an agent of a file, or say why it cannot be run.

    Args:
        text: as it was asked for.
        file: an existing path, absolute.
        ident: id of the agent.
    """
    if file.is_dir():
        inside = file / "__main__.py"
        hint = (
            f'; to run the package in it, write --caesar-agent="python {file}"'
            if inside.is_file()
            else "; name the program in it"
        )
        return _refusal(text, f"{shown(str(file))} is a folder{hint}")
    if not file.exists():
        return _refusal(text, f"{shown(str(file))} is a link to nothing")
    if not file.is_file():
        return _refusal(text, f"{shown(str(file))} is not a regular file")
    interpreter = INTERPRETERS.get(file.suffix)
    if interpreter is not None and not _has_own_interpreter(file):
        return ProcessAgent(
            id=ident, origin="path", argv=(interpreter, str(file)), project=str(file.parent)
        )
    try:
        check_program(file, agent=ident)
    except CommandError as error:
        return _refusal(text, error.problem)
    return ProcessAgent(id=ident, origin="path", argv=(str(file),), project=str(file.parent))


def _has_own_interpreter(file: Path) -> bool:
    """Say whether the system itself can run a script: executable, with a ``#!`` line."""
    if not os.access(file, os.X_OK):
        return False
    with file.open("rb") as stream:
        return stream.read(2) == b"#!"


def _refusal(text: str, problem: str) -> SelectionError:
    return SelectionError(selected=text, problem=problem, fits=(), available=())


def current_folder() -> Path:
    """Return the current folder; where it was removed, the path that it had.

    So whoever needs nothing relative does not fail, and whoever does is told of a path.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        named = os.environ.get("PWD", "")
        return Path(named if named.startswith("/") else "/")
