"""Failed comparisons in the words of the domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesar_agent.documents import Report
from caesar_agent.terminal import one_line
from pytest_caesar.orchestrator.run import Run, Source, Status
from pytest_caesar.sections import change_lines, process_line
from pytest_caesar.workspace.values import Patch

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        return ["the two reports differ:", *_two_reports(value, other)]
    if isinstance(value, Patch) and isinstance(other, bytes) and op == "==":
        return [f"the patches differ: {len(value)} bytes, {len(other)} bytes"]
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
    lines += [
        f"{finding.code}: {one_line(finding.message, limit=300)}" for finding in run.diagnostics[:3]
    ]
    return [*lines[: MAX_LINES - 1], f"task directory: {one_line(str(run.task_dir), limit=1000)}"]


def _two_runs(left: Run, right: Run) -> list[str]:
    lines = [f"the runs {left.task.id} and {right.task.id} differ:"]
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


def _two_reports(left: Report, right: Report) -> list[str]:
    one, two = left.dump(), right.dump()
    return [
        f"  {name}: {one_line(repr(one.get(name)), limit=120)} "
        f"is not {one_line(repr(two.get(name)), limit=120)}"
        for name in sorted({*one, *two})
        if one.get(name) != two.get(name)
    ]
