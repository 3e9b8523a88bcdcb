"""Removing a folder that an agent has filled, with whatever depth, links and rights it liked."""

# A monitor imports this: pathlib and contextlib would cost it more than all the rest.
# ruff: noqa: PTH106, PTH108, PTH112, PTH114, PTH120, PERF203, SIM105

from __future__ import annotations

import os
import stat

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str | bytes | os.PathLike[str]) -> bool:
    """Remove a folder of any depth with all in it, or what else is there.

    Returns:
        Whether it is gone. What the system refuses stays.

    Raises:
        OSError: it is a file or a link, and cannot be removed.
    """
    if os.path.islink(path) or not os.path.isdir(path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        return True
    return remove_folder(path)


def remove_folder(path: str | bytes | os.PathLike[str]) -> bool:
    """Remove a folder of any depth with all in it; links are removed, not followed.

    Returns:
        Whether it is gone. What the system refuses stays; nothing is raised for it.
    """
    path = os.fsencode(path)
    try:
        _allow(path)
        root = os.open(path, _FOLDER)
        try:
            _empty(root)
        finally:
            os.close(root)
        try:
            os.rmdir(path)
        except PermissionError:
            _allow(os.path.dirname(path))
            os.rmdir(path)
    except OSError:
        return not os.path.lexists(path)
    return True


def _empty(root: int) -> None:
    """Empty a folder: each folder below it is first moved up into it.

    So neither Python's stack, nor the number of open files, nor the longest path of the
    system ends it early.
    """
    token = os.urandom(8).hex()
    pending = _take_apart(root, root, token, 0)
    made = len(pending)
    while pending:
        name = pending.pop()
        try:
            _allow(name, root)
            folder = os.open(name, _FOLDER, dir_fd=root)
            try:
                below = _take_apart(folder, root, token, made)
            finally:
                os.close(folder)
            made += len(below)
            pending += below
            os.rmdir(name, dir_fd=root)
        except OSError:
            continue


def _take_apart(folder: int, root: int, token: str, made: int) -> list[str]:
    """Remove the files of a folder, move its folders to ``root``, return their new names."""
    moved: list[str] = []
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        try:
            if is_folder:
                _allow(name, folder)
                new = f"{token}-{made + len(moved)}"
                os.rename(name, new, src_dir_fd=folder, dst_dir_fd=root)
                moved.append(new)
            else:
                os.unlink(name, dir_fd=folder)
        except OSError:
            continue
    return moved


def _allow(name: str | bytes, folder: int | None = None) -> None:
    """Give a folder back the rights to look into it and to move it."""
    mode = os.lstat(name, dir_fd=folder).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IMODE(mode) | stat.S_IRWXU, dir_fd=folder)
