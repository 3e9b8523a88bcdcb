"""What is called ``.git`` below the top level and is none: git looks into nothing of that name."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pytest_caesar.workspace.path_states import facts_of
from pytest_caesar.workspace.state_before import read_plain_file

_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")

MAX_FOLDERS = 200_000
"""Folders that are looked into."""

MAX_INSIDE = 10_000
"""Files of one such folder that are looked at."""


def git_named(top: Path, passed_over: Collection[bytes]) -> dict[bytes, bytes]:
    """Return a fingerprint of each file or folder of that name, by path.

    An empty folder is none, and that of a repository is not looked at: its files are.
    A folder's path ends with a slash.

    Args:
        top: the work tree; its own ``.git`` is not among them.
        passed_over: folders that are not looked into, relative to ``top``.
    """
    root = os.fsencode(top)
    found: dict[bytes, bytes] = {}
    folders = [b""]
    left = MAX_FOLDERS
    while folders and left > 0:
        left -= 1
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:  # noqa: PTH118 - bytes
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        path = folder + entry.name
                        if entry.name == b".git":
                            found |= _entry(path, entry.path, is_folder=True)
                        elif path not in passed_over:
                            folders.append(path + b"/")
                    elif entry.name == b".git":
                        found |= _entry(folder + b".git", entry.path, is_folder=False)
        except OSError:
            continue
    return found


def _entry(path: bytes, full: bytes, *, is_folder: bool) -> dict[bytes, bytes]:
    """Return the fingerprint of what is called so, unless it is a repository's or has nothing."""
    if path == b".git" or _is_repository(full):
        return {}
    mark = _mark(full, is_folder=is_folder)
    return {path + b"/" * is_folder: mark} if mark else {}


def _is_repository(entry: bytes) -> bool:
    """Tell whether git takes a ``.git``, a folder or a file that names one, for its own."""
    if os.path.isfile(entry):  # noqa: PTH113 - bytes
        text = read_plain_file(entry, 8192) or b""
        if not text.startswith(b"gitdir: "):
            return False
        entry = os.path.join(os.path.dirname(entry), text[8:].strip())  # noqa: PTH118, PTH120 - bytes
        if b"\0" in entry:
            return False
    head = read_plain_file(os.path.join(entry, b"HEAD"), 4096) or b""  # noqa: PTH118 - bytes
    is_head = head.startswith(b"ref: refs/") or _ID.fullmatch(head.strip()) is not None
    has_store = os.path.isfile(os.path.join(entry, b"commondir")) or all(  # noqa: PTH113, PTH118 - bytes
        os.path.isdir(os.path.join(entry, name))  # noqa: PTH112, PTH118 - bytes
        for name in (b"objects", b"refs")
    )
    return is_head and has_store


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
