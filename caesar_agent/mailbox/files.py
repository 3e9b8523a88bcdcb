"""Files of a folder that several programs write to and none of them trusts.

Everything goes through a descriptor of the folder, so that no path is looked up
twice, and no link is followed: neither the folder itself, nor a file in it.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from caesar_agent.mailbox.errors import UnsafeMailboxError
from caesar_agent.task_directory import MAX_MAILBOX_BYTES, TaskDirectory, read_bounded

MAX_FILES = 10_000
"""Most names of one folder that are looked at, so that a flood costs a bounded time."""

_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
"""What file systems say that cannot make hard links."""


class NotReadableError(OSError):
    """A file that is there and must not or cannot be read; its text says why."""


@contextmanager
def folder(
    parent: Path | TaskDirectory, name: str, *, create: bool = False
) -> Iterator[int | None]:
    """Open a folder directly below ``parent``; None when it is not there.

    Raises:
        UnsafeMailboxError: it is a link or no folder at all.
        OSError: it cannot be created or opened, or ``parent`` was replaced.
    """
    path = (parent.path if isinstance(parent, TaskDirectory) else parent) / name
    with ExitStack() as closing:
        above: int | None = None
        if isinstance(parent, TaskDirectory) and parent.parent is not None:
            try:
                above = closing.enter_context(parent.opened())
            except FileNotFoundError:
                if create:
                    raise
                yield None
                return
        there = path if above is None else Path(name)
        if create:
            with suppress(FileExistsError):
                os.mkdir(there, 0o700, dir_fd=above)
        try:
            descriptor = os.open(there, _FOLDER, dir_fd=above)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                problem = "is a link" if path.is_symlink() else "is not a folder"
                raise UnsafeMailboxError(path=str(path), problem=problem) from error
            raise
        closing.callback(os.close, descriptor)
        yield descriptor


def names(descriptor: int) -> tuple[list[str], bool]:
    """Return the names in a folder and whether there were more than ``MAX_FILES``."""
    found: list[str] = []
    with os.scandir(descriptor) as entries:
        for entry in entries:
            if len(found) == MAX_FILES:
                return found, True
            found.append(entry.name)
    return found, False


def signature(descriptor: int, name: str) -> tuple[int, ...] | None:
    """Return what changes whenever a file is written or replaced; None when it is gone."""
    try:
        found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def exists(descriptor: int, name: str) -> bool:
    """Tell whether there is an entry of that name, of whatever kind."""
    return signature(descriptor, name) is not None


def read(descriptor: int, name: str) -> bytes:
    """Read a whole regular file.

    Raises:
        FileNotFoundError: there is none.
        NotReadableError: a link, a pipe, a folder, too large, or no permission.
    """
    reading = read_bounded(Path(name), max_bytes=MAX_MAILBOX_BYTES, dir_fd=descriptor)
    if reading.data is not None:
        return reading.data
    if reading.problem is None:
        raise FileNotFoundError(name)
    raise NotReadableError(reading.problem.message)


def create(descriptor: int, name: str, data: bytes) -> bool:
    """Write a file that is not there yet, whole or not at all.

    Returns:
        False when there is one of that name already; it is left as it is.
    """
    temporary = f".{name}.{secrets.token_hex(6)}.tmp"
    _write_new(descriptor, temporary, data)
    try:
        os.link(
            temporary,
            name,
            src_dir_fd=descriptor,
            dst_dir_fd=descriptor,
            follow_symlinks=os.link not in os.supports_follow_symlinks,
        )
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # No hard links here: exclusive creation still has one winner; readers
        # wait for a file that is not complete yet.
        try:
            _write_new(descriptor, name, data)
        except FileExistsError:
            return False
    finally:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=descriptor)
    return True


def remove(descriptor: int, name: str) -> None:
    """Remove a file; one that is gone already is fine."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=descriptor)


def _write_new(descriptor: int, name: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(name, flags, 0o600, dir_fd=descriptor)
    with os.fdopen(file, "wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(file)
