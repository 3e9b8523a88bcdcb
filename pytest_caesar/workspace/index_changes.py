"""Where two indexes say different things of a file, whenever git looked at it."""

from __future__ import annotations

from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.git_directory import shared_part
from pytest_caesar.workspace.index_file import read_index
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.state_before import Snapshot

MAX_SHARED_BYTES = 256 << 20
"""Bytes that are read of the file that most of a split index lies in."""


def index_changes(checkout: Snapshot, before: bytes, after: bytes) -> list[bytes]:
    """Return the paths of which two indexes of a checkout do not say the same.

    An editor that runs ``git status`` rewrites the file; what it says stays the same.
    """
    if before == after:
        return []
    old, new = (index_contents(checkout, data) for data in (before, after))
    return sorted({path for path, *_ in old ^ new})


def index_contents(snapshot: Snapshot, index: bytes) -> set[tuple[bytes, ...]]:
    """Return what an index of a checkout says of each file.

    Returns:
        Path, mode, binary id, stage, and b"1" or b"0" for each bit: assume-unchanged,
        skip-worktree, intent-to-add.
    """
    if not index:
        return set()
    entries = read_index(index)
    if entries is not None:
        return {
            (
                *(entry.path, b"%o" % entry.mode, entry.oid, b"%d" % entry.stage),
                *(b"%d" % bit for bit in (entry.assumed, entry.skipped, entry.intended)),
            )
            for entry in entries
        }
    return _told_by_git(snapshot, index)


def _told_by_git(snapshot: Snapshot, index: bytes) -> set[tuple[bytes, ...]]:
    """Read an index that lies in two files, or leaves folders out."""
    room = new_folder(snapshot.room)
    try:
        observer = Observer(snapshot, room)
        observer.index.write_bytes(index)
        part = shared_part(snapshot.git_dir, index, MAX_SHARED_BYTES)
        if part is not None:
            (room / part[0]).write_bytes(part[1])
        records = observer.git.run("ls-files", "-z", "--stage", "-v").records
    except GitError:
        return set()
    finally:
        discard(room)
    found: set[tuple[bytes, ...]] = set()
    for record in records:
        head, path = record.split(b"\t", 1)
        tag, mode, oid, stage = head.split(b" ")
        assumed, skipped = (b"%d" % bit for bit in (tag.islower(), tag in b"Ss"))
        found.add((path, mode, bytes.fromhex(oid.decode()), stage, assumed, skipped, b"0"))
    return found
