"""Folders that an agent has filled, with whatever depth, sizes, links and rights it liked."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from caesar_agent.task_directory import open_folder, open_regular
from pytest_caesar.files.removal import remove_folder
from pytest_caesar.files.sparse import data_of, write_at

MAX_DEPTH: Final = 64
"""Levels of folders that are copied; no task needs as many, and each holds a descriptor."""

MAX_ENTRIES: Final = 100_000
"""Files, folders and links that are copied of one folder."""

MAX_BYTES: Final = 2**30
"""Bytes that are copied of one folder: 1 GiB; the holes of sparse files do not count."""

MIN_AGE: Final = 3600.0
"""Seconds that a folder of a killed process stays, so that none is taken while it is made."""

_swept: set[str] = set()


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Make a folder that is removed at the end, whatever an agent did in it.

    A process that is killed leaves its folder; one that comes later removes it.
    """
    if prefix not in _swept:
        _swept.add(prefix)
        sweep(Path(tempfile.gettempdir()), prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield folder
    finally:
        with contextlib.suppress(OSError):  # an agent in this process may have closed it
            os.close(held)
        remove_folder(folder)


def sweep(parent: Path, prefix: str, *, min_age: float = MIN_AGE) -> None:
    """Remove what ``temporary_folder`` made for processes that were killed.

    Args:
        parent: where they lie.
        prefix: how their names begin.
        min_age: seconds since they were changed; younger ones stay.
    """
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    old = time.time() - status.st_mtime >= min_age
                    if old and status.st_uid == os.geteuid() and not _is_held(Path(entry.path)):
                        remove_folder(Path(entry.path))


def _is_held(path: Path) -> bool:
    """Tell whether the process that made a folder lives: it holds a lock on it."""
    with open_folder(path) as folder:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def copy_folder(source: Path, target: Path) -> str:
    """Copy a folder that an agent has filled; links stay links, holes stay holes.

    Args:
        source: the folder.
        target: where; must not exist.

    Returns:
        What was left out and why, or "" when all was copied: what is neither file,
        folder nor link (reading a FIFO would never end), and what is beyond the bounds.

    Raises:
        OSError: the target cannot be made, or the disk is full.
    """
    target.mkdir(parents=True)
    copy = _Copy()
    with open_folder(source) as old, open_folder(target) as new:
        copy.folder(old, new, depth=1)
    return copy.left_out


@dataclass(slots=True)
class _Copy:
    entries: int = 0
    bytes: int = 0
    left_out: str = ""

    def folder(self, old: int, new: int, *, depth: int) -> None:
        with os.scandir(old) as found:
            for entry in found:
                self.entries += 1
                if self.entries > MAX_ENTRIES:
                    self.left_out = self.left_out or f"more than {MAX_ENTRIES} files"
                    return
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.name, dir_fd=old), entry.name, dir_fd=new)
                elif not entry.is_dir(follow_symlinks=False):
                    self._file(entry.name, old, new)
                elif depth < MAX_DEPTH:
                    self._below(entry.name, old, new, depth=depth)
                else:
                    self.left_out = self.left_out or f"folders below {MAX_DEPTH} levels"

    def _below(self, name: str, old: int, new: int, *, depth: int) -> None:
        os.mkdir(name, 0o700, dir_fd=new)
        with contextlib.ExitStack() as closing:
            try:
                inside = closing.enter_context(open_folder(Path(name), dir_fd=old))
            except OSError as error:
                self.left_out = self.left_out or f"a folder that cannot be read ({error.strerror})"
                return
            made = closing.enter_context(open_folder(Path(name), dir_fd=new))
            self.folder(inside, made, depth=depth + 1)

    def _file(self, name: str, old: int, new: int) -> None:
        source, problem = open_regular(Path(name), dir_fd=old)
        if source is None:
            if problem is not None and problem.code != "file-not-regular":
                self.left_out = self.left_out or problem.message
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            status = os.fstat(source)
            mode = stat.S_IMODE(status.st_mode) & 0o777
            target = os.open(name, flags, mode | stat.S_IWUSR, dir_fd=new)
            try:
                self._data(source, target, status.st_size)
                os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
            finally:
                os.close(target)
        finally:
            os.close(source)

    def _data(self, source: int, target: int, size: int) -> None:
        for position, chunk in data_of(source, size):
            room = MAX_BYTES - self.bytes
            write_at(target, chunk[:room], position)
            self.bytes += min(len(chunk), room)
            if len(chunk) > room:
                self.left_out = self.left_out or f"all beyond {MAX_BYTES} bytes"
                return
        os.ftruncate(target, size)
