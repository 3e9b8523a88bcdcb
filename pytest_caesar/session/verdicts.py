"""From findings about a test's runs to the test's failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from caesar_agent.console import one_line
from pytest_caesar.runs.budget import BUDGET_CODES
from pytest_caesar.runs.failing_codes import ALWAYS, READ_ONLY
from pytest_caesar.settings.marker import problem_of_marker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from caesar_agent.diagnostics import Diagnostic
    from pytest_caesar.runs.run import Run
    from pytest_caesar.settings.settings import Settings

STRICT = ALWAYS | {
    "undeclared-change",
    "command-contradicted",
    "phantom-change",
    "wrong-action",
    "workspace-unverified",
    "process-leaked",
    "unanswered-question",
    "event-line-invalid",
    "event-line-torn",
    "event-line-incomplete",
    "event-line-too-long",
    "event-unsupported-version",
    "event-of-another-task",
}
"""Findings that fail a test which is strict."""

BESIDE = frozenset({"project-changed"})
"""They fail tests that are strict and read-only tasks, where the test made the repository:
in a living one others work, too."""

SHOWN = 5
"""Findings that a verdict names; the others are counted."""


def verdict(item: pytest.Item, runs: Sequence[Run], settings: Settings) -> str | None:
    """Say why a test that passed must fail, or None.

    Raises:
        pytest.fail.Exception: the marker says what is not understood.
    """
    strict, allowed = settings.strict, set(settings.allow)
    why = "caesar_strict" if strict else ""
    for mark in reversed(list(item.iter_markers("caesar"))):
        problem = problem_of_marker(mark)
        if problem:
            pytest.fail(f"{item.nodeid}: {problem}", pytrace=False)
        if mark.kwargs.get("strict") is not None:
            strict = bool(mark.kwargs["strict"])
            why = "strict=True" if strict else ""
        codes = mark.kwargs.get("allow", ())
        allowed.update([codes] if isinstance(codes, str) else codes)
    counted = BUDGET_CODES | (STRICT | BESIDE if strict else ALWAYS)
    if strict:  # those of plugins, which have a prefix
        counted |= {code for run in runs for one in run.tree for code in one.codes if "/" in code}
    counted -= allowed
    return _failure(runs, counted, (READ_ONLY | BESIDE) - allowed, why=why)


def _is_of_the_test(run: Run) -> bool:
    """Tell whether the repository of a run is one that a test made."""
    from pytest_caesar.workspace.repository import is_made_here  # noqa: PLC0415 - seldom needed

    return is_made_here(run.workspace)


COUNTED = {
    "undeclared-change": "undeclared change",
    "phantom-change": "phantom change",
    "wrong-action": "change declared wrongly",
}
"""What findings about single paths are counted as."""

VERDICTS = {
    "undeclared-change": "undeclared",
    "phantom-change": "phantom",
    "wrong-action": "wrong-action",
}
"""The verdicts of reconciliation that they come from."""


def _first_line(run: Run, found: Sequence[Diagnostic]) -> str:
    """Say what fails the test within the first 40 columns."""
    first = found[0]
    entries = [
        entry for entry in run.reconciliation.entries if entry.verdict == VERDICTS.get(first.code)
    ]
    if entries:
        what = COUNTED[first.code] + ("s" if len(entries) > 1 else "")
        more = f", and {len(entries) - 1} more" if len(entries) > 1 else ""
        action = entries[0].observed_action or entries[0].declared_action
        return f"{len(entries)} {what}: {one_line(entries[0].path, limit=200)} ({action}){more}"
    if first.code == "read-only-violation":
        return f"a read-only task changed {_changed(run)}"
    return f"{first.code.replace('-', ' ')}: {one_line(first.message, limit=300)}"


def _changed(run: Run) -> str:
    paths = [one_line(change.path, limit=200) for change in run.changes]
    return ", ".join(paths[:3]) + (f", and {len(paths) - 3} more" if len(paths) > 3 else "")


def _failure(
    runs: Sequence[Run],
    counted: frozenset[str] | set[str],
    read_only: frozenset[str] | set[str],
    *,
    why: str,
) -> str | None:
    """Return the text of the failure; its first line is what a summary shows."""
    lines: list[str] = []
    folders: list[str] = []
    codes: set[str] = set()
    for run in [one for top in runs for one in top.tree]:
        held = counted - {"gate-failed"} if run.retried else counted
        if run.task.mode == "read-only":
            held = held | read_only
        if not run.codes.isdisjoint(BESIDE) and not _is_of_the_test(run):
            held = held - BESIDE
        found = [finding for finding in run.diagnostics if finding.code in held]
        if found:
            folders.append(str(run.task_dir))
        codes.update(finding.code for finding in found)
        lines += [_first_line(run, found)] if found and not lines else []
        lines += [
            f"{finding.code} in {run.task.id}: {one_line(finding.message, limit=300)}"
            for finding in found
        ]
    if not lines:
        return None
    more = [f"… and {len(lines) - SHOWN - 1} more"] if len(lines) > SHOWN + 1 else []
    strict = f" ({why})" if why and codes - ALWAYS - READ_ONLY else ""
    return "\n".join(
        [
            *lines[: SHOWN + 1],
            *more,
            f"the test itself passed; this fails it{strict}",
            f"where it is meant: @pytest.mark.caesar(allow={sorted(codes)!r})",
            *(f"task directory: {one_line(folder, limit=400)}" for folder in folders[:3]),
        ]
    )
