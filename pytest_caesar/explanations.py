"""Failed comparisons in the words of the domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents import Report
from caesar_agent.terminal import one_line
from pytest_caesar.orchestrator.run import Run, Source, Status
from pytest_caesar.sections import change_lines, entry_line, process_line
from pytest_caesar.snapshots.difference import compare
from pytest_caesar.workspace.reconciliation import ReconciledPath
from pytest_caesar.workspace.values import ObservedChange, Patch

if TYPE_CHECKING:
    from collections.abc import Sequence

REMARKS = frozenset({"isolation-degraded", "network-not-guaranteed", "uncommitted-work"})
"""Findings that rarely are the cause; shown after the others."""

MAX_LINES = 8
"""Lines of an explanation: pytest cuts what is longer."""


def explain(op: str, left: object, right: object, *, runs: Sequence[Run]) -> list[str] | None:
    """Explain a failed comparison, or return None where pytest's own words are better.

    Args:
        op: the operator, such as ``==``.
        left: one side.
        right: the other side, in the order they were written.
        runs: what the test has run so far; tells what a status or source belongs to.
    """
    for value, other in ((left, right), (right, left)):
        lines = _explanation(op, value, other, runs)
        if lines:
            return lines[:MAX_LINES]
    return None


def _explanation(op: str, value: object, other: object, runs: Sequence[Run]) -> list[str] | None:
    told = getattr(value, "caesar_explanation", None)
    if told is not None:
        return list(told()) if op == "==" else None
    if isinstance(value, Run) and isinstance(other, Run) and op == "==":
        return _two_runs(value, other)
    if isinstance(value, Report) and isinstance(other, Report) and op == "==":
        return _two_reports(value, other)
    if isinstance(value, Patch) and isinstance(other, bytes) and op == "==":
        return _two_patches(value, other)
    if op == "==" and isinstance(value, tuple) and isinstance(other, tuple | list):
        return _entries(value, other)
    if isinstance(value, Status | Source) and isinstance(other, str):
        return _word(op, value, other, runs)
    return None


def _word(op: str, value: Status | Source, other: str, runs: Sequence[Run]) -> list[str]:
    kind = "status" if isinstance(value, Status) else "source"
    known = [str(member) for member in type(value)]
    wanted = one_line(str(other), limit=80)
    lines = [f"'{value}' {op} '{wanted}', where '{value}' is the {kind} of the run"]
    if str(other) not in known:
        lines.append(f"'{wanted}' is no {kind}: they are {', '.join(known)}")
    run = next((run for run in reversed(runs) if getattr(run, kind) == value), None)
    if run is None:
        return lines
    lines.append(f"summary: {one_line(run.report.summary, limit=300)}")
    lines.append(f"process: {process_line(run)}")
    weighty = sorted(run.diagnostics, key=lambda finding: finding.code in REMARKS)
    lines += [f"{finding.code}: {one_line(finding.message, limit=300)}" for finding in weighty[:3]]
    return [*lines[: MAX_LINES - 1], f"task directory: {one_line(str(run.task_dir), limit=1000)}"]


def _entries(value: tuple[object, ...], other: Sequence[object]) -> list[str] | None:
    """List what stands in one tuple of the domain and not in the other."""
    told = [_entry(item) for item in (*value, *other)]
    if not told or None in told:
        return None
    more = [_entry(item) for item in value if item not in other]
    less = [_entry(item) for item in other if item not in value]
    lines = [
        f"{_entries_of(value)} == {_entries_of(other)}:",
        *(f"  only in the first: {line}" for line in more),
        *(f"  only in the second: {line}" for line in less),
    ]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], f"  … and {len(lines) - MAX_LINES + 1} more"]
    return lines


def _entries_of(values: Sequence[object]) -> str:
    return "1 entry" if len(values) == 1 else f"{len(values)} entries"


def _entry(item: object) -> str | None:
    if isinstance(item, ReconciledPath):
        return entry_line(item)
    if isinstance(item, Diagnostic):
        return f"{item.code}: {one_line(item.message, limit=300)}"
    if isinstance(item, ObservedChange):
        return f"{one_line(item.path)} {item.action}"
    return None


def _two_runs(left: Run, right: Run) -> list[str]:
    lines = [f"run {left.task.id} == run {right.task.id}, which differ:"]
    for name in ("status", "source"):
        one, two = getattr(left, name), getattr(right, name)
        if one != two:
            lines.append(f"  {name}: {one}, {two}")
    if left.outcome.status != right.outcome.status:
        lines.append(f"  process: {left.outcome.status}, {right.outcome.status}")
    here, there = change_lines(left), change_lines(right)
    lines += [f"  only in {left.task.id}: {line.strip()}" for line in here if line not in there]
    lines += [f"  only in {right.task.id}: {line.strip()}" for line in there if line not in here]
    if len(lines) == 1:
        lines.append("  two runs are never equal (ids, times); compare report, changes or patch")
    return lines


def _two_patches(left: bytes, right: bytes) -> list[str]:
    found = compare(left, right)
    return [
        f"a patch of {len(left)} bytes == one of {len(right)} bytes, from line {found.line} on:",
        *(f"  {line}" for line in found.first(MAX_LINES - 2)),
        "(-: only in the first, +: only in the second)",
    ]


def _two_reports(left: Report, right: Report) -> list[str]:
    one, two = left.dump(), right.dump()
    return ["the first report == the second one, which differ:"] + [
        f"  {name}: {one_line(repr(one.get(name)), limit=120)} "
        f"is not {one_line(repr(two.get(name)), limit=120)}"
        for name in sorted({*one, *two})
        if one.get(name) != two.get(name)
    ]
