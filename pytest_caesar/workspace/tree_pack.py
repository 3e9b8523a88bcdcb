"""Git's trees, written into a pack without starting git.

Git itself would write one file and one folder for each tree, and would take a tree that
the agent's object store holds already for the right one.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

_TREE = 2
_FOLDER_MODE = 0o40000
_INDEX_MAGIC = b"\xfftOc"


def write_trees(entries: Mapping[bytes, tuple[int, bytes]], objects: Path, *, sha256: bool) -> str:
    """Write the trees that hold ``entries`` as one pack, and return the id of the topmost.

    Args:
        entries: mode and binary object id by path; what they name need not exist.
        objects: an object directory of git.
        sha256: the repository's ids are SHA-256.

    Raises:
        ValueError: a path is a file and a folder at once.
    """
    trees: dict[bytes, bytes] = {}
    root = _collect(_nested(entries), trees, sha256=sha256)
    pack, offsets, sums = _pack(trees, sha256=sha256)
    folder = objects / "pack"
    folder.mkdir(exist_ok=True)
    name = f"pack-{pack[-_size(sha256=sha256) :].hex()}"
    (folder / f"{name}.pack").write_bytes(pack)
    (folder / f"{name}.idx").write_bytes(_index(offsets, sums, pack, sha256=sha256))
    return root.hex()


_Leaf = tuple[int, bytes]
_Folder = dict[bytes, "_Leaf | _Folder"]


def _nested(entries: Mapping[bytes, _Leaf]) -> _Folder:
    top: _Folder = {}
    for path, leaf in entries.items():
        *parents, name = path.split(b"/")
        folder = top
        for parent in parents:
            below = folder.setdefault(parent, {})
            if not isinstance(below, dict):
                raise ValueError(f"{path!r} lies below a file")  # noqa: TRY004 - a value
            folder = below
        if folder.setdefault(name, leaf) is not leaf:
            raise ValueError(f"{path!r} is a file and a folder")
    return top


def _collect(top: _Folder, trees: dict[bytes, bytes], *, sha256: bool) -> bytes:
    """Put every tree, by its id, into ``trees``; without recursion, since paths can be deep."""
    order = [top]
    for folder in order:
        order += [below for below in folder.values() if isinstance(below, dict)]
    ids: dict[int, bytes] = {}
    for folder in reversed(order):
        lines = []
        for name, entry in folder.items():
            if isinstance(entry, dict):
                # Git sorts a folder as if its name ended in a slash.
                lines.append((name + b"/", b"%o %b\0%b" % (_FOLDER_MODE, name, ids[id(entry)])))
            else:
                lines.append((name, b"%o %b\0%b" % (entry[0], name, entry[1])))
        data = b"".join(line for _, line in sorted(lines))
        ids[id(folder)] = oid = _digest(b"tree %d\0" % len(data) + data, sha256=sha256)
        trees[oid] = data
    return ids[id(top)]


def _pack(
    trees: Mapping[bytes, bytes], *, sha256: bool
) -> tuple[bytes, dict[bytes, int], dict[bytes, int]]:
    """Return a pack, version 2, with the offset and the checksum of each object in it."""
    parts = [struct.pack(">4sII", b"PACK", 2, len(trees))]
    offsets: dict[bytes, int] = {}
    sums: dict[bytes, int] = {}
    position = len(parts[0])
    for oid, data in trees.items():
        part = _object_head(len(data)) + zlib.compress(data, 1)
        offsets[oid], sums[oid] = position, zlib.crc32(part)
        position += len(part)
        parts.append(part)
    body = b"".join(parts)
    return body + _digest(body, sha256=sha256), offsets, sums


def _object_head(size: int) -> bytes:
    """Return type and size, four bits first and then seven at a time."""
    head = bytearray([_TREE << 4 | size & 0x0F])
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head)


def _index(
    offsets: Mapping[bytes, int], sums: Mapping[bytes, int], pack: bytes, *, sha256: bool
) -> bytes:
    """Return the index of a pack, version 2; the pack is smaller than 2 GiB."""
    ids = sorted(offsets)
    counts = [0] * 256
    for oid in ids:
        counts[oid[0]] += 1
    count = len(ids)
    body = b"".join(
        (
            _INDEX_MAGIC,
            struct.pack(">I256I", 2, *accumulate(counts)),
            *ids,
            struct.pack(f">{count}I", *(sums[oid] for oid in ids)),
            struct.pack(f">{count}I", *(offsets[oid] for oid in ids)),
            pack[-_size(sha256=sha256) :],
        )
    )
    return body + _digest(body, sha256=sha256)


def _digest(data: bytes, *, sha256: bool) -> bytes:
    algorithm = hashlib.sha256 if sha256 else hashlib.sha1
    return algorithm(data, usedforsecurity=False).digest()


def _size(*, sha256: bool) -> int:
    return 32 if sha256 else 20
