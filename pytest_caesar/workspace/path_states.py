"""What lies at a path: enough of it to say later whether it is still the same."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_caesar.workspace.remembered_files import PathState
from pytest_caesar.workspace.state_before import read_plain_file

MAX_CONTENT_BYTES = 32 << 20
"""Bytes of all files together whose content is remembered; beyond it their times count alone."""

MAX_FILE_BYTES = 4 << 20
"""Bytes of one such file."""


def look_at(
    top: Path, paths: Iterable[bytes], *, beside: Mapping[bytes, PathState] | None = None
) -> dict[bytes, PathState]:
    """Return the state of each path.

    Args:
        top: what they are relative to.
        paths: one with a slash at its end is a folder of somebody's, told by its name alone.
        beside: earlier states; only what they can be compared with is read.
    """
    root = os.fsencode(top)
    states: dict[bytes, PathState] = {}
    left = MAX_CONTENT_BYTES
    for path in sorted(paths):
        facts = facts_of(os.path.join(root, path.rstrip(b"/")))  # noqa: PTH118 - bytes
        if path.endswith(b"/"):
            states[path] = PathState(facts[:1])
            continue
        digest = b""
        earlier = None if beside is None else beside.get(path)
        wanted = beside is None or (earlier is not None and bool(earlier.digest))
        if facts and wanted and facts[1] <= min(left, MAX_FILE_BYTES):
            digest = content_digest(os.path.join(root, path), facts)  # noqa: PTH118 - bytes
            left -= facts[1]
        states[path] = PathState(facts, digest)
    return states


def same(before: PathState, now: PathState) -> bool:
    """Tell whether nothing but times is different; without contents the times decide."""
    if before.digest and now.digest:
        return before.digest == now.digest and _kind(before) == _kind(now)
    return before.facts == now.facts


def facts_of(path: bytes) -> tuple[int, ...]:
    """Return mode, size, inode and both times; () for what is not there."""
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    return (found.st_mode, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)


def content_digest(path: bytes, facts: tuple[int, ...]) -> bytes:
    """Return a digest of a file's content or a link's target; b"" for anything else."""
    if stat.S_ISLNK(facts[0]):
        try:
            return hashlib.sha256(os.readlink(path)).digest()  # noqa: PTH115 - bytes
        except OSError:
            return b""
    data = read_plain_file(path, MAX_FILE_BYTES) if stat.S_ISREG(facts[0]) else None
    return hashlib.sha256(data).digest() if data is not None else b""


def _kind(state: PathState) -> tuple[int, int]:
    """Return the type of a file and whether its owner may run it: what git tells of a mode."""
    mode = state.facts[0]
    return stat.S_IFMT(mode), mode & 0o100 if stat.S_ISREG(mode) else 0
