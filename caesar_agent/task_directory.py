"""Where the documents of a task lie, and how they are read and written safely."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TaskDirectory:
    """The folder of one task.

    Attributes:
        path: absolute path of the folder (``$CAESAR_TASK_DIR``).
    """

    path: Path

    @property
    def task_file(self) -> Path:
        """``task.json``, written by the orchestrator."""
        return self.path / "task.json"

    @property
    def report_file(self) -> Path:
        """``report.json``, written by the agent."""
        return self.path / "report.json"

    @property
    def submission_file(self) -> Path:
        """``submission.json``: what was submitted over the return channel."""
        return self.path / "submission.json"

    @property
    def events_file(self) -> Path:
        """``events.jsonl``, one event a line."""
        return self.path / "events.jsonl"

    @property
    def raw_log(self) -> Path:
        """``raw.log``: what the process printed."""
        return self.path / "raw.log"

    @property
    def stderr_log(self) -> Path:
        """``stderr.log``: what an agent with a native stream printed on stderr."""
        return self.path / "stderr.log"

    @property
    def placed_file(self) -> Path:
        """``placed.json``: what the orchestrator put into the workspace."""
        return self.path / "placed.json"

    @property
    def questions(self) -> Path:
        """Folder of the questions asked over the return channel."""
        return self.path / "questions"

    @property
    def answers(self) -> Path:
        """Folder of the answers."""
        return self.path / "answers"


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file so that a reader sees all of it or none of it.

    A temporary file in the same folder is written, flushed and renamed; a link
    at ``path`` is replaced, not followed.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
