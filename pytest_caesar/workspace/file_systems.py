"""Whether the times of files tell that they were written, on the file system they lie on."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import tempfile
from pathlib import Path

_TRUSTED = frozenset({"ext2", "ext3", "ext4", "xfs"})
"""Here every write changes both times of a file, also one through a mapping."""

_LAYERED = frozenset({"overlay"})
"""Here that depends on what lies below."""

_LONG_AGO = 946684800
"""A time in seconds that no file of today has: 2000-01-01."""


def times_tell(top: Path, room: Path) -> bool:
    """Say whether every write into a tree shows in the times of the file.

    On tmpfs a mapping that was read before it is written leaves them alone. Where the
    file system is not known, or cannot be told, the answer is no.

    Args:
        top: the tree; what is mounted in it counts, too.
        room: a folder to try it in, where that lies on the same file system.
    """
    try:
        text = Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return False
    kinds = _kinds(text, os.path.realpath(os.fsencode(top)))
    if not kinds or not kinds <= _TRUSTED | _LAYERED:
        return False
    return kinds <= _TRUSTED or _shows_when_tried(top, room)


def _kinds(mounts: bytes, top: bytes) -> set[str]:
    """Return the types of the file systems that a tree lies on."""
    here = (b"", "")
    below: dict[bytes, str] = {}
    for line in mounts.splitlines():
        head, _, tail = line.partition(b" - ")
        words = head.split(b" ")
        if len(words) < 5:
            continue
        point = re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), words[4])
        kind = tail.split(b" ")[0].decode("ascii", "replace")
        around = point.rstrip(b"/") + b"/"
        if (top + b"/").startswith(around):
            # A later one at the same place lies on top.
            here = max(here, (around, kind), key=lambda found: len(found[0]))
            here = (around, kind) if len(around) == len(here[0]) else here
        elif point.startswith(top + b"/"):
            below[point] = kind
    return {here[1], *below.values()} - {""}


def _shows_when_tried(top: Path, room: Path) -> bool:
    try:
        if os.stat(top).st_dev != os.stat(room).st_dev:  # noqa: PTH116 - side by side
            return False
        descriptor, name = tempfile.mkstemp(prefix=".times-", dir=room)
    except OSError:
        return False
    try:
        os.write(descriptor, b"\0" * mmap.PAGESIZE)
        os.utime(name, (_LONG_AGO, _LONG_AGO))
        with mmap.mmap(descriptor, mmap.PAGESIZE) as mapping:
            before = mapping[0]
            mapping[0] = before + 1
            mapping.flush()
        return int(os.fstat(descriptor).st_mtime) != _LONG_AGO
    except (OSError, ValueError):
        return False
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - a string
