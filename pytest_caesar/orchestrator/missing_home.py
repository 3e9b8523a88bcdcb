"""A file of the user's home that a failing agent misses, because it has a home of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.credentials import kept_logins

MAX_FILES = 3
"""Files that are named at most."""

MAX_PATH = 200
"""Bytes of a path below HOME that is looked at."""


def missing_home(*logs: bytes, home: Path, given: str) -> list[Diagnostic]:
    """Return which files of the user's home logs name at their ends, and logins that CLIs miss.

    A file counts that is in the user's home; no file is opened. A CLI counts by the words with
    which it says that it has no login, whoever started it.

    Args:
        logs: the ends of what the agent printed.
        home: the user's own home.
        given: ``HOME`` of the agent.
    """
    if str(home) == given:
        return []
    messages = [
        *(f"{name}, the login of {cli}, is in your home" for name, cli in _logins(logs, home)),
        *(f"{name} is in your home" for name in _files(logs, home, given)),
    ]
    return [
        Diagnostic(
            code="variable-not-passed",
            message=f"{one_line(text, limit=300)}, and the agent has a HOME of its own: "
            "--caesar-pass-env=HOME",
        )
        for text in list(dict.fromkeys(messages))[:MAX_FILES]
    ]


def _logins(logs: tuple[bytes, ...], home: Path) -> Iterator[tuple[str, str]]:
    for cli in CATALOGUE.values():
        said = any(words.encode() in log for words in cli.login_missing for log in logs)
        if said and (kept := kept_logins(cli, home)):
            yield f"~/{kept[0]}", cli.display_name


def _files(logs: tuple[bytes, ...], home: Path, given: str) -> Iterator[str]:
    starts = rb"|".join((re.escape(given.encode()), rb"~", rb"\$\{?HOME\}?"))
    path = re.compile(
        rb"(?<![A-Za-z0-9_/])(?:" + starts + rb")/([A-Za-z0-9._+@/-]{1,%d})" % MAX_PATH
    )
    for log in logs:
        for found in path.findall(log):
            name = PurePosixPath(found.decode("ascii").rstrip("./"))
            if ".." not in name.parts and name.parts and (home / name).is_file():
                yield f"~/{name}"
