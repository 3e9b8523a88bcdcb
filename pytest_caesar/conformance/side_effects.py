"""Looking on: what changes beside the workspace, and what a reader sees of a report."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import one_line
from caesar_agent.task_directory import MAX_DOCUMENT_BYTES, read_bounded
from pytest_caesar.files.walking import walk
from pytest_caesar.runs.run import Run

if TYPE_CHECKING:
    from typing_extensions import Self

LOOK_PAUSE = 0.001
"""Seconds between two looks at the place of the report."""


def survey(root: Path, *, inside: Path | None) -> dict[str, str]:
    """Return what lies in a folder: a word for each path, without git's and caesar's own.

    Args:
        root: the folder; no link is followed.
        inside: a folder to leave out, or None.
    """
    found = {}

    def enter(entry: os.DirEntry[str]) -> bool:
        return entry.name not in (".git", ".caesar") and Path(entry.path) != inside

    for entry in walk(root, enter=enter):
        if not entry.is_dir(follow_symlinks=False):
            path = Path(entry.path)
            found[str(path.relative_to(root))] = _word(path)
    return found


def _word(path: Path) -> str:
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return f"link to {path.readlink()}"
    except OSError:
        return "out of reach"  # gone again, or deeper than a path can be
    if not stat.S_ISREG(status.st_mode):
        return "special file"
    data = read_bounded(path, max_bytes=MAX_DOCUMENT_BYTES).data
    return "large file" if data is None else hashlib.sha256(data).hexdigest()


def differences(
    before: Mapping[str, str], after: Mapping[str, str], *, leave_out: tuple[Path, ...] = ()
) -> tuple[str, ...]:
    """Say what differs between two surveys, in path order."""
    names = {path.name for path in leave_out}
    found = []
    for path in sorted(before.keys() | after.keys()):
        if path.split("/")[0] in ("home", *names) or before.get(path) == after.get(path):
            continue
        what = "created" if path not in before else "deleted" if path not in after else "changed"
        found.append(f"{one_line(path, limit=120)}: {what}")
    return tuple(found)


class ReportWatcher:
    """Looks at the place of a report all the time, as an impatient reader would."""

    def __init__(self, project: Path) -> None:
        self._tasks = project / ".caesar" / "tasks"
        self._stop = threading.Event()
        self._torn: bytes | None = None
        self._thread = threading.Thread(target=self._look, name="caesar watcher", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join(10.0)

    def _look(self) -> None:
        path: Path | None = None
        while not self._stop.wait(LOOK_PAUSE):
            if path is None:
                path = next(self._tasks.glob("*/task.json"), None)
                continue
            data = read_bounded(path.with_name("report.json"), max_bytes=MAX_DOCUMENT_BYTES).data
            if data is None:
                continue
            try:
                json.loads(data)
            except (ValueError, RecursionError):
                self._torn = data
            else:
                return

    def seen(self, run: Run) -> str | None:
        """Return what was seen of a report that was whole later, or None."""
        if self._torn is None or run.source != "file":
            return None
        return f"{len(self._torn)} bytes of {len(run.evidence.report_file or b'')}"
