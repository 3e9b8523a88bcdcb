"""What others add to a delegation: the values and functions that stand for their hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.task import Task
from pytest_caesar.runs.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTask:
    """A delegation while its agent works.

    Attributes:
        task: as it was written to ``task.json``; names the agent and the workspace.
        task_dir: the task directory, absolute.
    """

    task: Task
    task_dir: Path


Findings = Callable[[Diagnostic], None]
"""Takes what is wrong with a hook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """Functions that a delegation calls; none of them raises.

    Attributes:
        task: gives fields to add to a task.
        event: is told of each event as it comes, with ``note=`` for what is wrong; None where
            nobody listens.
        finished: gives findings about a run.
    """

    task: Callable[[Task, Findings], Mapping[str, Any]]
    event: Callable[..., None] | None
    finished: Callable[[Run, Findings], Sequence[Diagnostic]]
