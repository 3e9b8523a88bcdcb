"""Whether an agent has handed in its report while it still runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from caesar_agent.documents.report import Report
from caesar_agent.errors import DocumentError
from caesar_agent.task_directory import Reading, TaskDirectory


@dataclass(slots=True)
class Delivery:
    """Looks for a valid report of this task, cheaply, while the agent runs.

    Calling it returns None until ``report.json`` or ``submission.json`` holds one, and
    from then on a value that changes whenever the report is written again.
    """

    directory: TaskDirectory
    task_id: str
    _seen: dict[Path, tuple[int, ...]] = field(default_factory=dict)
    _valid: dict[Path, bool] = field(default_factory=dict)

    def __call__(self) -> object:
        """Return a token of the delivery, or None."""
        tokens = [
            self._token(self.directory.report_file, self.directory.read_report),
            self._token(self.directory.submission_file, self.directory.read_submission),
        ]
        return tuple(tokens) if any(tokens) else None

    def _token(self, path: Path, read: Callable[[], Reading]) -> tuple[int, ...] | None:
        try:
            status = os.lstat(path)
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        token = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._seen.get(path) != token:
            self._seen[path] = token
            self._valid[path] = self._is_report(read().data)
        return token if self._valid[path] else None

    def _is_report(self, data: bytes | None) -> bool:
        if data is None:
            return False
        try:
            return Report.parse(data).task_id in {"", self.task_id}
        except DocumentError:
            return False
