"""What a delegation leaves that was broken off: noted on the exception that broke it off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_NAME = "caesar_left_behind"


@dataclass(frozen=True, slots=True)
class InterruptedRun:
    """Where the work of an agent lies that was ended in its midst.

    Attributes:
        task_dir: its task directory, with its logs.
        workspace: where it worked.
    """

    task_dir: Path
    workspace: Path


@contextmanager
def mark_interrupted(left: InterruptedRun) -> Iterator[None]:
    """Let an exception that comes through carry what it leaves; the outermost one counts."""
    try:
        yield
    except BaseException as error:
        setattr(error, _NAME, left)
        raise


def interrupted_run_of(error: BaseException) -> InterruptedRun | None:
    """Return what an exception leaves, or None when no agent was to be started yet."""
    left = getattr(error, _NAME, None)
    return left if isinstance(left, InterruptedRun) else None
