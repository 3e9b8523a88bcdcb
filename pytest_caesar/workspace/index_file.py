"""Git's index, read and written without starting git."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

GITLINK_MODE = b"\0\0\xe0\0"
"""Mode of a submodule as an index holds it."""

_MASK = 0xFFFFFFFF

_STAT_BYTES = 40
"""Bytes before an object id: ten numbers."""

_ASSUMED, _EXTENDED, _STAGE, _NAME = 0x8000, 0x4000, 0x3000, 0x0FFF
"""What the 16 bits of flags hold."""

_SKIPPED, _INTENDED = 0x4000, 0x2000
"""What the 16 bits of more flags hold, from version 3 on."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One entry of an index.

    Attributes:
        path: relative to the top level.
        mode: such as ``0o100644``.
        oid: binary object id.
        stage: 0, or 1 to 3 in a conflict.
        stat: ten numbers of ``lstat``, as the index holds them.
        flags_at: where in the index its flags are.
        assumed: the assume-unchanged bit.
        skipped: the skip-worktree bit.
        intended: ``git add --intent-to-add`` made it.
    """

    path: bytes
    mode: int
    oid: bytes
    stage: int
    stat: tuple[int, ...]
    flags_at: int
    assumed: bool
    skipped: bool
    intended: bool

    def looks_like(self, found: os.stat_result) -> bool:
        """Tell whether ``lstat`` still says what it said when git looked."""
        return self.stat == _stat_numbers(self.stat[6], found) and (
            stat.S_IFMT(found.st_mode) == stat.S_IFMT(self.mode)
        )


def without_bits(data: bytes, hidden: Callable[[bytes], bool], *, sha256: bool) -> bytes:
    """Return an index without the bits that keep git from looking at a file.

    Args:
        data: an index; returned as it is where it cannot be read.
        hidden: tells of a path with the skip-worktree bit whether the bit stays.
        sha256: the repository's ids are SHA-256.
    """
    size = 32 if sha256 else 20
    if not _may_have_bits(data, size):
        return data
    changed = bytearray(data)
    for entry in read_index(data) or ():
        if entry.assumed:
            changed[entry.flags_at] &= ~(_ASSUMED >> 8) & 0xFF
        if entry.skipped and not hidden(entry.path):
            changed[entry.flags_at + 2] &= ~(_SKIPPED >> 8) & 0xFF
    if changed == data:
        return data
    return bytes(changed[:-size]) + _digest(bytes(changed[:-size]), sha256=sha256)


def without_zero_times(data: bytes, *, sha256: bool) -> bytes:
    """Return an index in which no file was written at the beginning of time.

    Git compares by content what is as young as its index; such a file is older than any.
    """
    size = 32 if sha256 else 20
    changed = bytearray(data)
    try:
        for position in _positions(data, size):
            if not any(data[position + 8 : position + 12]):
                changed[position + 11] = 1
    except (_UnusualError, IndexError):
        for entry in read_index(data) or ():
            if entry.stat[2] == 0:
                changed[entry.flags_at - size - _STAT_BYTES + 11] = 1
    if changed == data:
        return data
    return bytes(changed[:-size]) + _digest(bytes(changed[:-size]), sha256=sha256)


class _UnusualError(Exception):
    """An entry is none of the plain ones."""


def _may_have_bits(data: bytes, size: int) -> bool:
    """Tell quickly whether an entry of an index may have a bit that hides something."""
    try:
        return any(
            data[position + _STAT_BYTES + size] & 0xC0 for position in _positions(data, size)
        )
    except (_UnusualError, IndexError):
        return bool(data)


def has_gitlinks(data: bytes, *, sha256: bool) -> bool:
    """Tell quickly whether an index may have a submodule."""
    if GITLINK_MODE not in data:
        return False  # which says little where it is there: other numbers look like that, too
    size = 32 if sha256 else 20
    try:
        return any(
            data[position + 24 : position + 28] == GITLINK_MODE
            for position in _positions(data, size)
        )
    except (_UnusualError, IndexError):
        return True


def _positions(data: bytes, size: int) -> Iterator[int]:
    """Yield where each entry of an index begins, as fast as may be."""
    if data[:8] not in (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3"):
        raise _UnusualError
    position, flags_at = 12, _STAT_BYTES + size
    for _ in range(int.from_bytes(data[8:12], "big")):
        high = data[position + flags_at]
        length = (high & 0x0F) << 8 | data[position + flags_at + 1]
        if high & 0x40 or length == _NAME:
            raise _UnusualError
        yield position
        position += (flags_at + 2 + length + 8) // 8 * 8


def read_index(data: bytes) -> list[IndexEntry] | None:
    """Return the entries of an index in its order; versions 2 to 4.

    Returns:
        None for what is no index, or one that holds only a part: a split or a sparse one.
    """
    try:
        return _entries(data)
    except (struct.error, IndexError, ValueError):
        return None


def _entries(data: bytes) -> list[IndexEntry] | None:
    magic, version, count = struct.unpack_from(">4sII", data)
    if magic != b"DIRC" or version not in (2, 3, 4):
        return None
    for size in (20, 32):
        found = _read_entries(data, version, count, size)
        if found is None:
            continue
        entries, position = found
        names = _extensions(data, position, size)
        if names is not None:
            return None if names & {b"link", b"sdir"} else entries
    return None


def _read_entries(
    data: bytes, version: int, count: int, size: int
) -> tuple[list[IndexEntry], int] | None:
    """Read all entries with object ids of ``size`` bytes, and tell where they end."""
    entries: list[IndexEntry] = []
    position, path = 12, b""
    for _ in range(count):
        numbers = struct.unpack_from(">10I", data, position)
        after_id = position + _STAT_BYTES + size
        oid = data[position + _STAT_BYTES : after_id]
        (flags,) = struct.unpack_from(">H", data, after_id)
        start, more = after_id + 2, 0
        if flags & _EXTENDED:
            if version == 2:
                return None
            (more,) = struct.unpack_from(">H", data, start)
            start += 2
        if version == 4:
            stripped, start = _varint(data, start)
            end = data.index(b"\0", start)
            path = path[: len(path) - stripped] + data[start:end]
            position = end + 1
        else:
            end = data.index(b"\0", start)
            path = data[start:end]
            position += (end - position + 8) // 8 * 8
        length = flags & _NAME
        if length != min(len(path), _NAME):
            return None
        entries.append(
            IndexEntry(
                *(path, numbers[6], oid, (flags & _STAGE) >> 12, numbers, after_id),
                assumed=bool(flags & _ASSUMED),
                skipped=bool(more & _SKIPPED),
                intended=bool(more & _INTENDED),
            )
        )
    return entries, position


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Read a number as git writes offsets: seven bits a byte, each step adding one."""
    byte = data[position]
    value = byte & 0x7F
    while byte & 0x80:
        position += 1
        byte = data[position]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, position + 1


def _extensions(data: bytes, position: int, size: int) -> set[bytes] | None:
    """Return the names of what follows the entries; None where nothing fits there."""
    names: set[bytes] = set()
    end = len(data) - size
    while position < end:
        name, length = struct.unpack_from(">4sI", data, position)
        names.add(name)
        position += 8 + length
    return names if position == end else None


def index_bytes(
    entries: Mapping[bytes, tuple[int, bytes, os.stat_result | None]], *, sha256: bool = False
) -> bytes:
    """Return an index with the given entries.

    Args:
        entries: mode, binary object id and what ``lstat`` says, by path; without
            the latter git compares by content.
        sha256: the repository's ids are SHA-256.
    """
    parts = [struct.pack(">4sII", b"DIRC", 2, len(entries))]
    for path, (mode, oid, found) in sorted(entries.items()):
        head = struct.pack(">10I", *_stat_numbers(mode, found))
        entry = head + oid + struct.pack(">H", min(len(path), 0xFFF)) + path
        parts.append(entry + b"\0" * (8 - len(entry) % 8))
    data = b"".join(parts)
    return data + _digest(data, sha256=sha256)


def _digest(data: bytes, *, sha256: bool) -> bytes:
    algorithm = hashlib.sha256 if sha256 else hashlib.sha1
    return algorithm(data, usedforsecurity=False).digest()


def _stat_numbers(mode: int, found: os.stat_result | None) -> tuple[int, ...]:
    if found is None:
        return (0, 0, 0, 0, 0, 0, mode, 0, 0, 0)
    times = [divmod(ns, 10**9) for ns in (found.st_ctime_ns, found.st_mtime_ns)]
    numbers = (
        *times[0],
        *times[1],
        found.st_dev,
        found.st_ino,
        mode,
        found.st_uid,
        found.st_gid,
        found.st_size,
    )
    return tuple(number & _MASK for number in numbers)
