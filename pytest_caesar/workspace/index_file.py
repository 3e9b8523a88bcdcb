"""Git's index, written without starting git; version 2."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Mapping

_MASK = 0xFFFFFFFF


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
    algorithm = hashlib.sha256 if sha256 else hashlib.sha1
    return data + algorithm(data, usedforsecurity=False).digest()


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
