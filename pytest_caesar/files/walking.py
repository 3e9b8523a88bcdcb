"""Folders without bottom, walked without recursion; whatever an agent nested, this ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

MAX_ENTRIES = 500_000
"""Entries that one walk looks at; a million take seconds, and no use of it needs them all."""


def walk(
    start: Path | str,
    *,
    enter: Callable[[os.DirEntry[str]], bool] = lambda _: True,
    limit: int = MAX_ENTRIES,
) -> Iterator[os.DirEntry[str]]:
    """Yield what lies below a folder, in no order; links are not followed.

    Folders that cannot be read are passed over.

    Args:
        start: a folder; anything else has nothing in it.
        enter: tells whether to look into a folder that was yielded.
        limit: entries after which the walk ends.
    """
    folders = [os.fspath(start)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    limit -= 1
                    if limit < 0:
                        return
                    yield entry
                    if entry.is_dir(follow_symlinks=False) and enter(entry):
                        folders.append(entry.path)
        except OSError:  # noqa: PERF203 - each may be gone by itself
            continue
