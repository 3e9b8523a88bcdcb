"""The checks of the kit, one for each requirement, by area."""

from __future__ import annotations

from pytest_caesar.conformance.checks import (
    changes,
    depth,
    events,
    process,
    questions,
    report,
    surroundings,
    task,
)
from pytest_caesar.conformance.checks.check import CHECKS, Check

AREA_MODULES = (task, report, changes, events, questions, process, surroundings, depth)

__all__ = ["AREA_MODULES", "CHECKS", "Check"]
