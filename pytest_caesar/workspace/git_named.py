"""What is called ``.git`` below the top level: git looks into none of it, whatever it is."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from pytest_caesar.files.walking import MAX_ENTRIES
from pytest_caesar.workspace.path_states import facts_of

MAX_INSIDE = 10_000
"""Files of one such folder that are looked at."""


def git_named(top: Path, passed_over: Collection[bytes]) -> dict[bytes, bytes]:
    """Return a fingerprint of each file or folder of that name, by path.

    An empty folder is none. A folder's path ends with a slash.

    Args:
        top: the work tree; its own ``.git`` is not among them.
        passed_over: folders that are not looked into, relative to ``top``.
    """
    root = os.fsencode(top)
    found: dict[bytes, bytes] = {}
    folders = [b""]
    left = MAX_ENTRIES
    while folders and left > 0:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:  # noqa: PTH118 - bytes
                for entry in entries:
                    left -= 1
                    is_folder = entry.is_dir(follow_symlinks=False)
                    path = folder + entry.name
                    if entry.name == b".git":
                        if folder and (mark := _mark(entry.path, is_folder=is_folder)):
                            found[path + b"/" if is_folder else path] = mark
                    elif is_folder and path not in passed_over:
                        folders.append(path + b"/")
        except OSError:
            continue
    return found


def _mark(path: bytes, *, is_folder: bool) -> bytes:
    """Return a fingerprint; b"" for a folder without a file in it."""
    facts = sorted(_files(path)) if is_folder else [(b"", facts_of(path))]
    return hashlib.sha256(repr(facts).encode()).digest() if facts else b""


def _files(folder: bytes) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    folders = [folder]
    left = MAX_INSIDE
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        yield entry.path, facts_of(entry.path)
        except OSError:  # noqa: PERF203 - each may be gone by itself
            continue
