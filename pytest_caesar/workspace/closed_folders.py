"""Folders that git cannot look into: closed by their mode, somebody else's, or too deep."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from pytest_caesar.files.walking import MAX_ENTRIES
from pytest_caesar.workspace.state_before import is_within

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_up(
    top: Path, excluded: Iterable[bytes], undo: contextlib.ExitStack | None
) -> dict[bytes, str]:
    """Make our own folders readable for a while.

    Nobody may work in the tree meanwhile. Links are not followed.

    Args:
        top: the work tree.
        excluded: folders that are not looked into, relative to ``top``.
        undo: gives every folder its mode back; None leaves them closed.

    Returns:
        Folders that stay closed, relative to ``top``, with the reason.
    """
    with contextlib.ExitStack() as closing:
        root = os.open(top, _FOLDER)
        (undo or closing).callback(os.close, root)
        return _closed(root, tuple(excluded), undo)


def _closed(
    root: int, excluded: tuple[bytes, ...], undo: contextlib.ExitStack | None
) -> dict[bytes, str]:
    closed: dict[bytes, str] = {}
    folders = [b""]
    left = MAX_ENTRIES
    while folders and left > 0:
        folder = folders.pop()
        try:
            if undo is not None:
                _open(folder or b".", root, undo)
            # Relative to the top level, as git sees it: the same paths are too long for both.
            names = _subfolders(folder or b".", root)
        except OSError as error:
            closed[folder] = error.strerror or str(error)
            continue
        left -= len(names)
        for name in names:
            path = folder + b"/" + name if folder else name
            if name != b".git" and not is_within(path, excluded):
                folders.append(path)
    return closed


def _open(folder: bytes, root: int, undo: contextlib.ExitStack) -> None:
    if os.access(folder, os.R_OK | os.X_OK, dir_fd=root):
        return
    found = os.stat(folder, dir_fd=root, follow_symlinks=False)
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
        mode = stat.S_IMODE(found.st_mode)
        os.chmod(folder, mode | stat.S_IRWXU, dir_fd=root)
        undo.callback(_give_back, folder, mode, root)


def _give_back(folder: bytes, mode: int, root: int) -> None:
    with contextlib.suppress(OSError):
        os.chmod(folder, mode, dir_fd=root)


def _subfolders(folder: bytes, root: int) -> list[bytes]:
    descriptor = os.open(folder, _FOLDER, dir_fd=root)
    try:
        with os.scandir(descriptor) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    finally:
        os.close(descriptor)
    return [os.fsencode(name) for name in names]
