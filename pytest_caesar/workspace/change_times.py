"""When the changed paths of a workspace changed last, by the time of their inodes."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_caesar.workspace.values import ObservedChange

MEMORY = frozenset({"tmpfs", "ramfs"})
"""File systems whose times are not relied on."""

MAX_PATHS = 20_000
"""Changed paths that are looked at; of more, nothing is told."""


class ChangeTime(NamedTuple):
    """When one path changed last.

    Attributes:
        path: relative to the workspace.
        at: nanoseconds since 1970; None where nothing can be told.
        exact: it changed then; else then at the latest, as for a deleted path.
    """

    path: str
    at: int | None
    exact: bool = True


def change_times(
    workspace: Path, changes: Sequence[ObservedChange]
) -> tuple[ChangeTime, ...] | None:
    """Return each changed path with the time at which its inode changed last.

    Nobody can set that time, other than the one of a file's contents. A deleted path has
    none: it went when its folder changed last, or before.

    Args:
        workspace: where the agent worked; nothing of it may run any more.
        changes: as git shows them.

    Returns:
        None in memory, for too many paths, and where the folder is gone.
    """
    if len(changes) > MAX_PATHS or not changes:
        return None if changes else ()
    try:
        if _file_system(workspace.stat().st_dev) in MEMORY:
            return None
    except OSError:
        return None
    return tuple(
        _of_folder(workspace, change.path)
        if change.action == "deleted"
        else _of_path(workspace, change.path)
        for change in changes
    )


def _of_folder(workspace: Path, path: str) -> ChangeTime:
    folder = (workspace / path).parent
    while folder != workspace and not os.path.lexists(folder):
        folder = folder.parent
    try:
        return ChangeTime(path, os.lstat(folder).st_ctime_ns, exact=False)
    except OSError:
        return ChangeTime(path, None)


def _of_path(workspace: Path, path: str) -> ChangeTime:
    try:
        found = os.lstat(workspace / path)
    except OSError:
        return ChangeTime(path, None)
    return ChangeTime(path, None if stat.S_ISDIR(found.st_mode) else found.st_ctime_ns)


def _file_system(device: int) -> str:
    """Return the kind of a file system by its device, or "" where that is not told."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    for line in table.splitlines():
        mount, _, kind = line.partition(" - ")
        if mount.split(" ", 3)[2:3] == [wanted]:
            return kind.split(" ", 1)[0]
    return ""
