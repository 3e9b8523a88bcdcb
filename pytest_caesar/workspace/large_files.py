"""Files that are too large for a patch: compared by content, told by size and id."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_caesar.files.sparse import data_of
from pytest_caesar.workspace.naming import shown
from pytest_caesar.workspace.observer import MAX_FILE_BYTES, Observer
from pytest_caesar.workspace.path_states import facts_of

MAX_PATCH_BYTES = 32 << 20
"""Bytes of all files of a patch together, before and after; 32 MiB."""

MAX_HASHED_BYTES = 2 << 30
"""Bytes of larger files that are read at all, together; 2 GiB take some seconds."""

_ZEROS = bytes(1 << 20)


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A change that is in no patch because of its size.

    Attributes:
        path: relative to the top level.
        action: what happened to it.
        size: bytes that it has, or had when it was deleted.
        oid: id of its content; "" where it was not read.
    """

    path: bytes
    action: Literal["created", "modified", "deleted"]
    size: int
    oid: str

    @property
    def note(self) -> str:
        """What a reader must know."""
        content = f"blob {self.oid}" if self.oid else "content not compared"
        return f"{self.size} bytes, {content}; too large for the patch"

    @property
    def line(self) -> bytes:
        """How a patch names it; ``git apply`` passes over it."""
        name = shown(os.fsdecode(self.path))
        content = f"blob {self.oid}" if self.oid else "content not compared"
        text = f"# not in this patch: {name}, {self.action}, {self.size} bytes, {content}\n"
        return text.encode("utf-8", "backslashreplace")


def set_aside(
    observer: Observer, paths: Iterable[bytes], before: Mapping[bytes, tuple[str, str]]
) -> tuple[list[bytes], list[LargeFile]]:
    """Divide what may have changed into what a patch takes and what it does not.

    Args:
        observer: over the work tree.
        paths: what may have changed, in order.
        before: mode and object id from before of those that were there.

    Returns:
        The paths for the patch, and the others where they did change.
    """
    root = os.fsencode(observer.snapshot.top)
    sizes = _sizes(observer, before)
    small: list[bytes] = []
    large: list[LargeFile] = []
    total, left = 0, MAX_HASHED_BYTES
    for path in paths:
        full = os.path.join(root, path)  # noqa: PTH118 - bytes
        facts = facts_of(full)
        size = facts[1] if facts and stat.S_ISREG(facts[0]) else 0
        old = sizes.get(path, 0)
        if max(size, old) <= MAX_FILE_BYTES and total + size + old <= MAX_PATCH_BYTES:
            total += size + old
            small.append(path)
            continue
        if facts and observer.snapshot.large.get(path) == facts:
            continue
        mode, known = before.get(path, ("", ""))
        if not facts:
            if known:
                large.append(LargeFile(path, "deleted", old, known))
            continue
        oid = ""
        if stat.S_ISREG(facts[0]) and size <= left:
            left -= size
            oid = _blob_id(full, size, sha256=len(observer.snapshot.tree) == 64)
            is_same_mode = mode == ("100755" if facts[0] & 0o100 else "100644")
            if oid and oid == known and is_same_mode:
                continue
        large.append(LargeFile(path, "modified" if known else "created", size, oid))
    return small, large


def large_facts(observer: Observer, paths: Iterable[bytes]) -> dict[bytes, tuple[int, ...]]:
    """Return what ``lstat`` says of the files among ``paths`` that no index takes."""
    root = os.fsencode(observer.snapshot.top)
    found = {path: facts_of(os.path.join(root, path)) for path in paths}  # noqa: PTH118 - bytes
    return {
        path: facts
        for path, facts in found.items()
        if facts and stat.S_ISREG(facts[0]) and facts[1] > MAX_FILE_BYTES
    }


def _sizes(observer: Observer, before: Mapping[bytes, tuple[str, str]]) -> dict[bytes, int]:
    """Return the sizes of the files as they were before."""
    asked = {path: oid for path, (mode, oid) in before.items() if mode.startswith("1")}
    asked = {
        path: oid for path, oid in asked.items() if before[path][0] != "160000" and int(oid, 16)
    }
    if not asked:
        return {}
    stdin = "".join(f"{oid}\n" for oid in asked.values()).encode()
    said = observer.git.run("cat-file", "--batch-check=%(objectsize)", stdin=stdin).lines
    return {
        path: int(line)
        for path, line in zip(asked, said, strict=True)
        # What is missing is told where its content is looked at.
        if line.isdecimal()
    }


def _blob_id(path: bytes, size: int, *, sha256: bool) -> str:
    """Return the id of a file as git would give it, holes and all; "" where it cannot be read."""
    algorithm = hashlib.sha256 if sha256 else hashlib.sha1
    digest = algorithm(b"blob %d\0" % size, usedforsecurity=False)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        done = 0
        for position, chunk in data_of(descriptor, size):
            _add_zeros(digest, position - done)
            digest.update(chunk)
            done = position + len(chunk)
        _add_zeros(digest, size - done)
        return digest.hexdigest() if os.fstat(descriptor).st_size == size else ""
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _add_zeros(digest: hashlib._Hash, count: int) -> None:
    while count > 0:
        digest.update(_ZEROS[:count])
        count -= len(_ZEROS)
