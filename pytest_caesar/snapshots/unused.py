"""Snapshot files that a session found unused, as lines for the terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import one_line
from pytest_caesar.settings.continuous_integration import is_ci

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


def kept_lines(tests: list[str]) -> list[str]:
    """Name the tests whose snapshots --snapshot-update left as they were, for they failed."""
    more = [f"  … and {len(tests) - SHOWN} more"] if len(tests) > SHOWN else []
    return [
        "snapshots were not updated, for their tests failed:",
        *(f"  {one_line(test, limit=400)}" for test in tests[:SHOWN]),
        *more,
    ]


def refuse_in_ci(items: list[pytest.Item]) -> None:
    """Refuse to record where nobody looks at what is recorded.

    Raises:
        pytest.UsageError: this is continuous integration, and a test compares with snapshots.
    """
    if not is_ci(os.environ) or not any(
        "caesar_snapshot" in getattr(item, "fixturenames", ()) for item in items
    ):
        return
    import pytest  # noqa: PLC0415 - as above

    raise pytest.UsageError(
        "--snapshot-update records, and in CI (the variable CI is set) nothing is recorded: run "
        "it elsewhere and commit the snapshots"
    )
