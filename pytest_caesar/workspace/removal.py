"""Folders removed with all in them, whatever depth and rights an agent gave them."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: Path) -> None:
    """Remove a folder with all in it; links are removed, read-only folders too.

    What the system refuses to remove stays.

    Raises:
        OSError: it is a file or a link, and cannot be removed.
    """
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    with contextlib.suppress(OSError):
        _allow(folder)
        root = os.open(folder, _FOLDER)
        try:
            _empty(root)
        finally:
            os.close(root)
    try:
        folder.rmdir()
    except OSError:
        with contextlib.suppress(OSError):
            _allow(folder.parent)
            folder.rmdir()


def _empty(root: int) -> None:
    """Empty a folder: those below it are moved up into it first, one level at a time.

    So no path is too long, and neither Python's stack nor the open files run out.
    """
    token = secrets.token_hex(8)
    made = 0
    folders = [""]
    while folders:
        name = folders.pop()
        with contextlib.suppress(OSError):
            inside = os.open(name or ".", _FOLDER, dir_fd=root)
            try:
                for below in _without_files(inside):
                    with contextlib.suppress(OSError):
                        _allow(below, inside)
                        os.rename(below, f"{token}-{made}", src_dir_fd=inside, dst_dir_fd=root)
                        folders.append(f"{token}-{made}")
                        made += 1
            finally:
                os.close(inside)
            if name:
                os.rmdir(name, dir_fd=root)


def _without_files(folder: int) -> list[str]:
    """Remove what is no folder and return the names of the rest."""
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
    return [name for name, is_folder in found if is_folder]


def _allow(name: str | Path, folder: int | None = None) -> None:
    """Give a folder back the rights that its owner needs to empty and to move it."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IMODE(mode) | stat.S_IRWXU, dir_fd=folder)
