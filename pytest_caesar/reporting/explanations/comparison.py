"""A failed comparison, explained by what is compared; runs, reports, event logs and patches here."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from caesar_agent.console import one_line
from caesar_agent.documents.event import Event
from caesar_agent.documents.report import Report
from pytest_caesar.recovery.evidence import Source, Status
from pytest_caesar.reporting.difference import compare
from pytest_caesar.reporting.explanations.entries import MAX_LINES, explain_entries, finding_line
from pytest_caesar.reporting.explanations.words import explain_word
from pytest_caesar.reporting.progress import told
from pytest_caesar.reporting.sections import change_lines, task_directory
from pytest_caesar.runs.run import Events, Run
from pytest_caesar.workspace.values import Patch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_caesar.recovery.evidence import Recovered

MAX_CHARACTERS = 640
"""Characters of an explanation: pytest cuts what is longer, and the end is what to do next."""

SHORTENED = 60
"""Characters that a line keeps at least when others need the room."""


def explain(
    op: str,
    left: object,
    right: object,
    *,
    runs: Sequence[Run],
    kept: Sequence[Recovered] = (),
) -> list[str] | None:
    """Explain a failed comparison, or return None where pytest's own words are better.

    Args:
        op: the operator, such as ``==``.
        left: one side.
        right: the other side, in the order they were written.
        runs: what the test has run so far; tells what a status or source belongs to.
        kept: the verdicts that ``caesar_recover`` has given it; likewise.
    """
    if isinstance(left, Run) and isinstance(right, str):
        return _run_and_word(op, left, right)
    if isinstance(left, Status | Source) or isinstance(right, Status | Source):
        lines = explain_word(op, left, right, runs=runs, kept=kept)
        return _fitted(lines) if lines else None
    for value, other in ((left, right), (right, left)):
        lines = _explanation(op, value, other, runs)
        if lines:
            return _fitted(lines)
    entries = explain_entries(op, left, right, runs) if op in {"==", "in"} else None
    return _fitted(entries) if entries else None


def _run_and_word(op: str, run: Run, word: str) -> list[str]:
    """Say which field of a run a test meant that compared the run itself with a word."""
    kind = "source" if word in set(Source) else "status"
    return _fitted(
        [
            f"a run is no {kind}: compare run.{kind} {op} {one_line(repr(word), limit=60)}",
            *([f"its {kind} is '{getattr(run, kind)}'"]),
            *task_directory(run),
        ]
    )


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
    if isinstance(value, Patch) and isinstance(other, bytes):
        return _two_patches(value, other) if op == "==" else _in_patch(op, other, value, runs)
    if isinstance(value, frozenset):
        return _codes(op, value, other, runs)
    return _equality(value, other) if op == "==" else None


def _equality(value: object, other: object) -> list[str] | None:
    if isinstance(value, Run) and isinstance(other, Run):
        return _two_runs(value, other)
    if isinstance(value, Report) and isinstance(other, Report):
        return _two_reports(value, other)
    if isinstance(value, Report) and isinstance(other, Mapping):
        return _report_and_dict(value, other)
    if isinstance(value, Events):
        return _two_logs(value, other) if isinstance(other, Events) else _log_and(value, other)
    return None


def _codes(op: str, codes: object, other: object, runs: Sequence[Run]) -> list[str] | None:
    """Show the findings behind ``run.codes``."""
    run = next((run for run in reversed(runs) if run.codes is codes), None)
    if run is None:
        return None
    found = list(run.diagnostics)
    if isinstance(other, str):
        word = one_line(other, limit=60)
        codes_found = ", ".join(sorted(run.codes)[:MAX_LINES]) or "nothing"
        line = f"no finding {word}; the harness found {codes_found}"
        if op == "not in":
            found = [finding for finding in found if finding.code == other]
            line = f"the harness found {word}"
    elif isinstance(other, set | frozenset):
        wanted = ", ".join(sorted(map(str, other))) or "none"
        have = ", ".join(sorted(run.codes)) or "none"
        line = f"codes {one_line(have, limit=120)} {op} {one_line(wanted, limit=120)}"
    else:
        return None
    listed = [f"  {finding_line(finding)}" for finding in found[: MAX_LINES - 2]]
    return [line, *(listed or ["  the harness found nothing"]), *task_directory(run)]


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


def _log_and(events: Events, other: object) -> list[str] | None:
    """Say what happened, where a test expects nothing, or types of events."""
    if not isinstance(other, tuple | list) or not all(isinstance(item, str) for item in other):
        return None
    if other:
        return [
            f"{len(events)} events: {_types(events)}",
            f"  compared with {one_line(repr(list(other)), limit=160)}",
            "each is more than its type: compare [one.type for one in …]",
        ]
    told_events = [f"  {one_line(_told(event), limit=120)}" for event in events[:MAX_LINES]]
    if len(events) > MAX_LINES - 1:
        told_events[MAX_LINES - 2 :] = [f"  … and {len(events) - MAX_LINES + 2} more"]
    return [f"{len(events)} events: {_types(events)}", *told_events]


def _types(events: Events) -> str:
    """Name the types in order, those that follow each other once."""
    groups = [(name, len(list(alike))) for name, alike in groupby(event.type for event in events)]
    words = [name if count == 1 else f"{count} {name}" for name, count in groups]
    return one_line(", ".join(words) or "none", limit=200)


def _two_logs(left: Events, right: Events) -> list[str]:
    """Say where two event logs part, times and numbers aside."""
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
        *(task_directory(run) if run is not None else []),
    ]


def _two_reports(left: Report, right: Report) -> list[str]:
    return [
        "the first report == the second one, which differ:",
        *_different_fields(left.dump(), right.dump()),
    ]


def _report_and_dict(report: Report, other: Mapping[object, object]) -> list[str]:
    """Say where a report and a dict part, which are never equal."""
    known = {str(name): value for name, value in other.items()}
    # Whoever writes a dict by hand leaves out what is at its default.
    said = report.model_dump(mode="json", by_alias=True, exclude_defaults=True) | {
        name: value for name, value in report.dump().items() if name in known
    }
    return [
        "a report never equals a dict; compare report.dump()",
        *(_different_fields(said, known) or ["  the fields are the same"]),
        "compare single fields, the dict report.dump(), or the report with a snapshot",
    ]


def _different_fields(one: Mapping[str, object], two: Mapping[str, object]) -> list[str]:
    return [
        f"  {name}: {_field(one, two, name)}"
        for name in sorted({*one, *two})
        if (name in one, one.get(name)) != (name in two, two.get(name))
    ]


def _field(one: Mapping[str, object], two: Mapping[str, object], name: str) -> str:
    here, there = (one_line(repr(side.get(name)), limit=120) for side in (one, two))
    if name not in two:
        return f"{here}, only in the first"
    return f"{here} is not {there}" if name in one else f"{there}, only in the second"
