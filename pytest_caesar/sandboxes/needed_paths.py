"""Which paths a program needs to see although they lie in a place that is hidden or temporary."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import caesar_agent
from pytest_caesar.supervision.sandboxing import IMPORT_ROOT

HIDDEN: Final = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pgpass", ".pypirc"),
    *(".npmrc", ".git-credentials", ".cargo/credentials.toml", ".gem/credentials", ".vault-token"),
    *(".config/gh", ".config/gcloud", ".config/git/credentials", ".config/op", ".config/rclone"),
    *(".config/containers/auth.json", ".local/share/keyrings", ".password-store", ".mozilla"),
    *(".config/google-chrome", ".config/chromium", ".terraform.d/credentials.tfrc.json"),
)
"""Credentials in a home folder, by the places where the tools themselves keep them."""

HIDDEN_SOCKETS: Final = ("/var/run/docker.sock", "/var/lib/docker", "/var/lib/containers")
"""What leads to a container engine, beside ``/run``, which is hidden as a whole."""

_SETTINGS = frozenset({"HOME", "TMPDIR", "CAESAR_TASK_DIR"})
"""Variables whose folders are shown in another way."""


def hidden_paths(home: Path) -> list[Path]:
    """Return what is hidden when nobody says anything: of the user's home, and of engines."""
    paths = [*(home / name for name in HIDDEN), *map(Path, HIDDEN_SOCKETS)]
    return [path for path in paths if _exists(path)]


def needed_paths(
    argv: Sequence[str], environment: Mapping[str, str], more: Iterable[Path | str | None] = ()
) -> tuple[Path, ...]:
    """Return what a program needs to be seen, each path once, links and where they lead.

    A script is shown with the folder that it lies in, a folder of programs with the one above
    it, where their libraries lie; but never a whole temporary folder or a home.

    Args:
        argv: its command line; arguments that are absolute paths count, also behind a ``=``.
        environment: values that are absolute paths, or lists of them.
        more: other paths that it needs.
    """
    broad = _broad()
    found: dict[str, None] = {}
    for path in dict.fromkeys(map(os.fspath, _candidates(argv, environment, more))):
        for each in dict.fromkeys((path, os.path.realpath(path))):
            if each not in broad and _exists(each):
                found[each] = None
    return tuple(map(Path, found))


def _candidates(
    argv: Sequence[str], environment: Mapping[str, str], more: Iterable[Path | str | None]
) -> Iterator[Path]:
    own = (sys.prefix, sys.base_prefix, IMPORT_ROOT, Path(caesar_agent.__file__).parents[1])
    for given in (*own, *sys.path, *more):
        if given and os.path.isabs(given):  # noqa: PTH117 - "" is no path
            yield Path(given)
    for name, value in environment.items():
        if name in _SETTINGS:
            continue
        for part in value.split(os.pathsep):
            if part.startswith("/") and _exists(Path(part)):
                yield Path(part)
                if name == "PATH" and Path(part).name in ("bin", ".bin"):
                    yield Path(part).parent
    for argument in argv:
        path = Path(argument.partition("=")[2] if argument.startswith("-") else argument)
        if path.is_absolute() and _exists(path):
            yield from _with_surroundings(path)


def _with_surroundings(path: Path) -> Iterator[Path]:
    """Give a path of a command line, and what a program there is likely to read beside it."""
    yield path
    if path.is_file():
        yield path.parent
        real = Path(os.path.realpath(path))
        yield real.parent.parent if real.parent.name == "bin" else real.parent


def _broad() -> frozenset[str]:
    """Return folders that are shared by too much to be shown for one file in them."""
    places = ["/", "/tmp", "/var/tmp", "/run", "/home", tempfile.gettempdir()]  # noqa: S108 - as said
    return frozenset((*places, str(Path.home())))


def _exists(path: Path | str) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # a NUL byte
        return False
