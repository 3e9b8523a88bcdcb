"""Ignored files that an agent tracks all the same."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.naming import is_holdable
from pytest_caesar.workspace.observer import Observer
from pytest_caesar.workspace.state_before import Snapshot, is_within, read_plain_file

MIN_INDEX_BYTES = 64 << 20
"""Bytes of the agent's own index that are read at least; beyond four times the first it is none."""

MAX_SHARED = 100
"""Files of that kind that are looked for in it; git takes away those of two weeks ago."""

_SHARED_INDEX = re.compile(r"sharedindex\.[0-9a-f]{40}(?:[0-9a-f]{24})?")


def force_added(snapshot: Snapshot, observer: Observer) -> list[bytes]:
    """Return ignored files that the agent put into its own index, by ``git add --force`` say.

    What it tracks it means to hand in. Its index is read as data, in our own git directory.
    """
    limit = max(MIN_INDEX_BYTES, 4 * len(snapshot.index))
    index = read_plain_file(snapshot.git_dir / "index", limit)
    if not index or index in (snapshot.index, snapshot.first_index):
        return []
    theirs = observer.folder / "their-index"
    theirs.write_bytes(index)
    if shared := _shared_part(snapshot.git_dir, index):
        (observer.folder / shared.name).write_bytes(read_plain_file(shared, limit) or b"")
    git = replace(observer.git, variables={**observer.git.variables, "GIT_INDEX_FILE": str(theirs)})
    # Beside our own: a tree to compare with would be one that the agent can forge.
    ours = observer.git.start("ls-files", "-z", "--cached")
    try:
        records = git.run("ls-files", "-z", "--cached").records
    except BaseException as error:
        ours.stop()
        if isinstance(error, GitError):
            return []  # the agent's index is broken; its files are seen without it
        raise
    top = os.fsencode(snapshot.top)
    return [
        path
        for path in set(records).difference(ours.finish().records)
        # An index can be written by anybody: such names are no files of the work tree.
        if is_holdable(path)
        and not is_within(path, snapshot.excluded)
        and os.path.lexists(full := os.path.join(top, path))  # noqa: PTH118 - bytes
        and not os.path.isdir(full)  # noqa: PTH112 - bytes
    ]


def _shared_part(git_dir: Path, index: bytes) -> Path | None:
    """Return the file in which a split index has most of its entries, if there is one."""
    names = filter(_SHARED_INDEX.fullmatch, os.listdir(git_dir))  # noqa: PTH208 - names alone
    for name in islice(names, MAX_SHARED):
        if bytes.fromhex(name.partition(".")[2]) in index:
            return git_dir / name
    return None
