"""FIFOs that an agent puts where git expects files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_caesar.files.walking import walk

MAX_FIFOS = 1000
"""FIFOs that are tended; whoever waits on another one is stopped for doing nothing."""


class Fifos:
    """All FIFOs that git may wait on; they are searched for once, when it first stalls."""

    def __init__(self, tree: Path, stores: Sequence[Path]) -> None:
        """Say where to look.

        Args:
            tree: a work tree; only rules files and git directories in it matter.
            stores: folders of git's own, in which everything matters.
        """
        self._tree = tree
        self._stores = stores
        self._found: list[str] | None = None

    @property
    def known(self) -> bool:
        """Some were found."""
        return bool(self._found)

    def feed(self) -> bool:
        """Give an end of file to whoever waits; tell whether anybody did."""
        if self._found is None:
            self._found = [path for path, _ in zip(self._search(), range(MAX_FIFOS), strict=False)]
        fed = False
        for path in self._found:
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
                fed = True
            except OSError:  # noqa: PERF203 - each may be gone by itself
                continue  # nobody waits on it
        return fed

    def _search(self) -> Iterator[str]:
        for store in self._stores:
            yield from (entry.path for entry in walk(store) if _is_fifo(entry))
        start = len(os.fspath(self._tree))
        for entry in walk(self._tree):
            # Git reads .gitignore and its like, and the HEAD of a repository within the tree.
            if f"{os.sep}.git" in entry.path[start:].lower() and _is_fifo(entry):
                yield entry.path


def _is_fifo(entry: os.DirEntry[str]) -> bool:
    """Tell whether opening an entry opens a FIFO."""
    try:
        if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
            return False
        return stat.S_ISFIFO(entry.stat().st_mode)
    except OSError:
        return False
