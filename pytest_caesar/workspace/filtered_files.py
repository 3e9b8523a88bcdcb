"""Files that a filter of the user's changes on their way in and out, Git LFS say."""

from __future__ import annotations

import os
import re

from pytest_caesar.workspace.index_file import read_index
from pytest_caesar.workspace.observer import Observer

_FILTER_KEYS = ("clean", "smudge", "process")


def used_filters(attributes: bytes, settings: dict[str, str]) -> list[str]:
    """Return the filter drivers that are both configured and asked for by attributes."""
    asked = {os.fsdecode(name) for name in re.findall(rb"[\s]filter=(\S+)", attributes)}
    return sorted(
        name for name in asked if any(f"filter.{name}.{k}" in settings for k in _FILTER_KEYS)
    )


def clean_filtered(observer: Observer, drivers: list[str], index_time: int) -> list[bytes]:
    """Return the filtered files that are as the index says, in the eyes of whoever ran the filter.

    No filter is run, so that their content cannot be compared with it; size, inode and times can.

    Args:
        observer: with the index of a checkout.
        drivers: as ``used_filters`` returns them.
        index_time: when that index was written, in ns.
    """
    entries = read_index(observer.index.read_bytes() if observer.index.exists() else b"") or []
    stdin = b"".join(entry.path + b"\0" for entry in entries)
    said = observer.git.run("check-attr", "-z", "--stdin", "filter", stdin=stdin).records
    asked = {
        path
        for path, value in zip(said[::3], said[2::3], strict=True)
        if os.fsdecode(value) in drivers
    }
    top = os.fsencode(observer.snapshot.top)
    clean = []
    for entry in entries:
        if entry.path not in asked:
            continue
        try:
            found = os.lstat(os.path.join(top, entry.path))  # noqa: PTH118 - bytes
        except OSError:
            continue
        if entry.looks_like(found) and found.st_mtime_ns <= index_time:
            clean.append(entry.path)
    return clean
