"""Failed comparisons in the words of the domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents import Event, Report
from caesar_agent.documents.report import Finding
from caesar_agent.terminal import one_line
from pytest_caesar.orchestrator.outcome import LeakedProcess
from pytest_caesar.orchestrator.run import Events, Run, Source, Status
from pytest_caesar.progress import told
from pytest_caesar.sections import change_lines, entry_line, process_line
from pytest_caesar.snapshots.difference import compare
from pytest_caesar.sources import why_not
from pytest_caesar.workspace.reconciliation import ReconciledPath
from pytest_caesar.workspace.values import ObservedChange, Patch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

REMARKS = frozenset({"isolation-degraded", "network-not-guaranteed", "uncommitted-work"})
"""Findings that are not the cause; the section on the run shows them."""

MAX_LINES = 8
"""Lines of an explanation: pytest cuts what is longer."""

MAX_CHARACTERS = 640
"""Characters of an explanation: pytest cuts what is longer, and the end is what to do next."""

SHORTENED = 60
"""Characters that a line keeps at least when others need the room."""

NEXT_STEPS = {
    "undeclared": "the agent must declare it under changes, or leave it alone",
    "phantom": "the agent must change it, or not declare it",
    "wrong-action": "the agent must declare what it did",
    "unverified": "git cannot see it; look at the file itself",
}
"""What can be done about a path, by verdict."""

NOUNS: dict[type, tuple[str, str]] = {
    ReconciledPath: ("path", "paths"),
    Diagnostic: ("diagnostic", "diagnostics"),
    ObservedChange: ("change", "changes"),
    Finding: ("finding", "findings"),
    LeakedProcess: ("process left behind", "processes left behind"),
}
"""What the entries of a tuple are called."""


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
            return _fitted(lines)
    return None


def _fitted(lines: list[str]) -> list[str]:
    """Keep within what pytest shows; the first and the last line stay whole."""
    kept = lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], lines[-1]]
    over = sum(map(len, kept)) - MAX_CHARACTERS
    for index in sorted(range(1, len(kept) - 1), key=lambda index: -len(kept[index])):
        if over <= 0:
            break
        limit = max(SHORTENED, len(kept[index]) - over - 1)
        if len(kept[index]) > limit:
            over -= len(kept[index]) - limit
            kept[index] = f"{kept[index][: limit - 1]}…"
    return kept


def _explanation(op: str, value: object, other: object, runs: Sequence[Run]) -> list[str] | None:
    said = getattr(value, "caesar_explanation", None)
    if said is not None:
        return list(said()) if op == "==" else None
    if isinstance(value, Status | Source) and isinstance(other, str):
        return _word(op, value, other, runs)
    if isinstance(value, Patch) and isinstance(other, bytes):
        return _two_patches(value, other) if op == "==" else _in_patch(op, other, value, runs)
    if isinstance(value, frozenset):
        return _codes(op, value, other, runs)
    return _equality(value, other, runs) if op == "==" else None


def _equality(value: object, other: object, runs: Sequence[Run]) -> list[str] | None:
    if isinstance(value, Run) and isinstance(other, Run):
        return _two_runs(value, other)
    if isinstance(value, Report) and isinstance(other, Report):
        return _two_reports(value, other)
    if isinstance(value, Events) and isinstance(other, tuple):
        return _two_logs(value, other)
    if isinstance(value, tuple) and isinstance(other, tuple | list):
        return _entries(value, other, runs)
    return None


def _place(run: Run | None) -> list[str]:
    return [] if run is None else [f"task directory: {one_line(str(run.task_dir), limit=400)}"]


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
    reason = why_not(run, wanted) if kind == "source" and op == "==" else ""
    if reason:
        lines.append(reason)
    lines.append(f"summary: {one_line(run.report.summary, limit=300)}")
    lines.append(f"process: {process_line(run)}")
    weighty = [finding for finding in run.diagnostics if finding.code not in REMARKS]
    lines += [_finding(finding) for finding in weighty[:2]]
    if run.source == "synthesized" and run.raw_log.strip():
        lines.append(f"raw.log ends: {_last_line(run.raw_log)}")
    return [*lines[: MAX_LINES - 1], *_place(run)]


def _finding(finding: Diagnostic) -> str:
    return f"{finding.code}: {one_line(finding.message, limit=300)}"


def _last_line(log: bytes) -> str:
    tail = log[-4096:].decode("utf-8", "backslashreplace").rstrip()
    return one_line(tail.rpartition("\n")[2], limit=120)


def _entries(
    value: tuple[object, ...], other: Sequence[object], runs: Sequence[Run]
) -> list[str] | None:
    """List what stands in one tuple of the domain and not in the other."""
    said = [_entry(item) for item in (*value, *other)]
    if not said or None in said:
        return None
    more = [item for item in value if item not in other]
    less = [item for item in other if item not in value]
    beside = ("only in the first: ", "only in the second: ") if value and other else ("", "")
    listed = [
        *(f"  {beside[0]}{_entry(item)}" for item in more),
        *(f"  {beside[1]}{_entry(item)}" for item in less),
    ] or ["  the same entries in another order"]
    owners = [run for run in runs if _holds(run, (*more, *less))]
    ending = [*_next_steps([*more, *less]), *_place(owners[-1] if owners else None)]
    room = MAX_LINES - 1 - len(ending)
    if len(listed) > room:
        listed = [*listed[: room - 1], f"  … and {len(listed) - room + 1} more"]
    return [f"{_count_of(value)} == {_count_of(other)}:", *listed, *ending]


def _count_of(values: Sequence[object]) -> str:
    if not values:
        return "none"
    one, many = NOUNS.get(type(values[0]), ("entry", "entries"))
    return f"1 {one}" if len(values) == 1 else f"{len(values)} {many}"


def _next_steps(items: Sequence[object]) -> list[str]:
    verdicts = {item.verdict for item in items if isinstance(item, ReconciledPath)}
    return [NEXT_STEPS[verdict] for verdict in sorted(verdicts & set(NEXT_STEPS))[:1]]


def _holds(run: Run, items: Collection[object]) -> bool:
    """Tell whether one of the very items is of this run."""
    known = {
        id(item)
        for item in (
            *run.reconciliation.entries,
            *run.diagnostics,
            *run.changes,
            *run.report.findings,
            *run.outcome.leaked,
        )
    }
    return any(id(item) in known for item in items)


def _entry(item: object) -> str | None:
    if isinstance(item, ReconciledPath):
        return entry_line(item)
    if isinstance(item, Diagnostic):
        return _finding(item)
    if isinstance(item, ObservedChange):
        return f"{one_line(item.path)} {item.action}"
    if isinstance(item, Finding):
        where = f" in {one_line(item.file)}" if item.file else ""
        return f"{item.severity}: {one_line(item.title, limit=200)}{where}"
    if isinstance(item, LeakedProcess):
        return f"{one_line(item.name, limit=100)} (pid {item.pid}), ended by the orchestrator"
    return None


def _codes(op: str, codes: object, other: object, runs: Sequence[Run]) -> list[str] | None:
    """Show the findings behind ``run.codes``."""
    run = next((run for run in reversed(runs) if run.codes is codes), None)
    if run is None:
        return None
    found = list(run.diagnostics)
    if isinstance(other, str):
        line = f"'{one_line(other, limit=60)}' {op} the codes of run {run.task.id}:"
        if op == "not in":
            found = [finding for finding in found if finding.code == other]
    elif isinstance(other, set | frozenset):
        wanted = ", ".join(sorted(map(str, other))) or "none"
        line = f"the codes of run {run.task.id} {op} {one_line(wanted, limit=120)}:"
    else:
        return None
    listed = [f"  {_finding(finding)}" for finding in found[: MAX_LINES - 2]]
    return [line, *(listed or ["  the harness found nothing"]), *_place(run)]


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


def _told(event: Event) -> str:
    """Say an event without what differs from run to run."""
    return event.type if event.type == "started" else told(event)


def _two_logs(left: Events, right: tuple[object, ...]) -> list[str] | None:
    """Say where two event logs part, times and numbers aside."""
    if not isinstance(right, Events):
        return None
    one, two = [_told(event) for event in left], [_told(event) for event in right]
    at = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    if at is None and len(one) != len(two):
        at = min(len(one), len(two))
    lines = [f"{len(one)} events == {len(two)} events:"]
    if at is not None:
        here = one[at] if at < len(one) else "no event any more"
        there = two[at] if at < len(two) else "no event any more"
        lines += [
            f"  event {at + 1} of the first:  {one_line(here, limit=200)}",
            f"  event {at + 1} of the second: {one_line(there, limit=200)}",
        ]
    return [*lines, "events hold times: compare [event.type for event in …], or with a snapshot"]


def _two_patches(left: bytes, right: bytes) -> list[str]:
    found = compare(left, right)
    return [
        f"a patch of {len(left)} bytes == one of {len(right)} bytes, from line {found.line} on:",
        *(f"  {line}" for line in found.first(MAX_LINES - 2)),
        "(-: only in the first, +: only in the second)",
    ]


def _in_patch(op: str, wanted: bytes, patch: bytes, runs: Sequence[Run]) -> list[str] | None:
    if op not in {"in", "not in"}:
        return None
    run = next((run for run in reversed(runs) if run.patch == patch), None)
    marked = [
        one_line(line.decode("utf-8", "backslashreplace"), limit=100)
        for line in patch.splitlines()
        if line[:1] in (b"+", b"-")
    ]
    more = [f"  … and {len(marked) - 4} more lines"] if len(marked) > 4 else []
    return [
        f"{wanted!r:.80} {op} the patch of {len(patch)} bytes, which changes:",
        *(f"  {line}" for line in marked[:4] or ["nothing"]),
        *more,
        *_place(run),
    ]


def _two_reports(left: Report, right: Report) -> list[str]:
    one, two = left.dump(), right.dump()
    return ["the first report == the second one, which differ:"] + [
        f"  {name}: {one_line(repr(one.get(name)), limit=120)} "
        f"is not {one_line(repr(two.get(name)), limit=120)}"
        for name in sorted({*one, *two})
        if one.get(name) != two.get(name)
    ]
