"""Copies of files that an earlier agent may have left where the project keeps its caches."""

from __future__ import annotations

import os
import shutil
import stat

from pytest_caesar.files.sparse import data_of, write_at

_BLOCK = 512
"""Bytes that ``st_blocks`` counts in, whatever the file system."""


def copy_file(source: str, target: str) -> str:
    """Copy a file or a link with its times and mode; sockets, FIFOs and devices stay behind.

    Holes stay holes: terabytes of nothing would fill the disk.

    Raises:
        OSError: it cannot be copied.
    """
    status = os.lstat(source)
    sparse = stat.S_ISREG(status.st_mode) and status.st_blocks * _BLOCK < status.st_size
    if sparse:
        _copy_data(source, target, status.st_size)
        shutil.copystat(source, target, follow_symlinks=False)
    elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
        shutil.copy2(source, target, follow_symlinks=False)
    return target


def _copy_data(source: str, target: str, size: int) -> None:
    old = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        new = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            for position, chunk in data_of(old, size):
                write_at(new, chunk, position)
            os.ftruncate(new, size)
        finally:
            os.close(new)
    finally:
        os.close(old)
