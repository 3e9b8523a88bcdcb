"""Files of a folder that several programs write to and none of them trusts.

Everything goes through a descriptor of the folder, so that no path is looked up
twice, and no link is followed: neither the folder itself, nor a file in it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from caesar_agent.mailbox_errors import UnsafeMailboxError
from caesar_agent.mailbox_values import MAX_FILE_BYTES

MAX_FILES = 10_000
"""Most names of one folder that are looked at, so that a flood costs a bounded time."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
"""What file systems say that cannot make hard links."""


class NotReadableError(OSError):
    """A file that is there and must not or cannot be read; its text says why."""


@contextmanager
def folder(parent: Path, name: str, *, create: bool = False) -> Iterator[int | None]:
    """Open a folder directly below ``parent``; None when it is not there.

    Raises:
        UnsafeMailboxError: it is a link or no folder at all.
        OSError: it cannot be created or opened.
    """
    if create:
        with suppress(FileExistsError):
            (parent / name).mkdir(mode=0o700)
    try:
        descriptor = os.open(parent / name, _FOLDER)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            problem = "is a link" if (parent / name).is_symlink() else "is not a folder"
            raise UnsafeMailboxError(path=str(parent / name), problem=problem) from error
        raise
    try:
        yield descriptor
    finally:
        os.close(descriptor)


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


def read(descriptor: int, name: str, *, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Read a whole regular file.

    Raises:
        FileNotFoundError: there is none.
        NotReadableError: a link, a pipe, a folder, too large, or no permission.
    """
    try:
        file = os.open(name, _READ, dir_fd=descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotReadableError("it is a link, and links are not followed") from error
        raise NotReadableError(f"it cannot be opened ({error.strerror})") from error
    with os.fdopen(file, "rb", buffering=0) as handle:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise NotReadableError("it is not a regular file")
        data = bytearray()
        while len(data) <= max_bytes:
            chunk = handle.read(max_bytes + 1 - len(data))
            if not chunk:
                return bytes(data)
            data += chunk
    raise NotReadableError(f"it is larger than {max_bytes} bytes")


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


def _write_new(descriptor: int, name: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(name, flags, 0o600, dir_fd=descriptor)
    with os.fdopen(file, "wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(file)
