"""Findings that no report of success outweighs: in tests, on the command line, in evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run

ALWAYS = frozenset({"read-only-violation", "gate-failed"})
"""They count for every task."""

READ_ONLY = frozenset({"workspace-unverified"})
"""They count, too, when the task was read-only: nobody can say that it was kept."""


def is_refuted(run: Run) -> bool:
    """Say whether a run is no success, whatever its report says."""
    return bool(run.codes & (ALWAYS | READ_ONLY if run.task.mode == "read-only" else ALWAYS))
