"""Snapshot files that a session found unused, as lines for the terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import one_line

if TYPE_CHECKING:
    import pytest

SHOWN = 10
"""Files that are named; the others are counted."""


def unused_lines(config: pytest.Config) -> list[str]:
    """Name the files whose tests passed without comparing with them, and say what to do.

    Args:
        config: of a session that has ended; syrupy has counted its snapshots.
    """
    options = config.option
    report = getattr(getattr(config, "_syrupy", None), "report", None)
    if (
        report is None
        or options.update_snapshots
        or getattr(report, "disable_unused_snapshots", False)
    ):
        return []
    if not report.num_unused:
        return []
    from pytest_caesar.snapshots.extension import FOLDER  # noqa: PLC0415 - needs syrupy

    files = sorted(
        Path(found.location) for found in report.unused if FOLDER in Path(found.location).parts
    )
    if not files:
        return []
    one = len(files) == 1
    fails = "" if options.warn_unused_snapshots else f", and {'fails' if one else 'fail'} the run"
    start = config.invocation_params.dir
    more = [f"  … and {len(files) - SHOWN} more"] if len(files) > SHOWN else []
    it, tests = ("it", "its test") if one else ("them", "their tests")
    return [
        f"{'1 snapshot is' if one else f'{len(files)} snapshots are'} not used any more{fails}:",
        *(f"  {one_line(os.path.relpath(file, start), limit=400)}" for file in files[:SHOWN]),
        *more,
        f"{tests} passed without comparing; add --snapshot-update to delete {it}",
    ]
