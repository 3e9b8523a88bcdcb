"""What is said where an agent ended well and left no report: the mistake of a first agent."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from caesar_agent.task_directory import TaskDirectory
from caesar_agent.terminal import one_line

if TYPE_CHECKING:
    from pytest_caesar.orchestrator.run import Run


def missing_report(run: Run) -> str:
    """Say that no report was written where it belongs; "" where that is not what went wrong."""
    directory = TaskDirectory(run.task_dir)
    if (
        run.source != "synthesized"
        or run.outcome.status != "succeeded"
        or os.path.lexists(directory.report_file)
        or os.path.lexists(directory.submission_file)
    ):
        return ""
    text = "none: there is no file at $CAESAR_REPORT_PATH"
    name = directory.report_file.name
    for change in run.changes:
        if PurePosixPath(change.path).name == name and change.action != "deleted":
            path = one_line(change.path, limit=160)
            return f"{text}; {path} in the workspace is not where it is looked for"
    return text
