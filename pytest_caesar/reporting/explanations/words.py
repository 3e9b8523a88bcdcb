"""A failed comparison of a status or a source, with the cause and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesar_agent.console import one_line
from pytest_caesar.recovery.evidence import Source, Status
from pytest_caesar.reporting.cause import cause
from pytest_caesar.reporting.explanations.entries import finding_line
from pytest_caesar.reporting.sections import process_line, task_directory
from pytest_caesar.reporting.source_advice import why_not, why_not_kept
from pytest_caesar.runs.run import REMARKS, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_caesar.recovery.evidence import Recovered


def explain_word(
    op: str, left: object, right: object, *, runs: Sequence[Run], kept: Sequence[Recovered]
) -> list[str] | None:
    """Explain a comparison with a status or a source on one side.

    Returns:
        None where the other side is no text and holds none.
    """
    value, other = (left, right) if isinstance(left, Status | Source) else (right, left)
    words = _words(other)
    if words is None or not isinstance(value, Status | Source):
        return None
    kind = "status" if isinstance(value, Status) else "source"
    teller = _teller(kind, value, runs, kept)
    lines = [_headline(kind, value, f"{_side(left)} {op} {_side(right)}", teller)]
    known = [str(member) for member in type(value)]
    # A part of a word is looked for, not a word.
    part = op in {"in", "not in"} and value is right
    unknown = next((word for word in words if word not in known and not part), None)
    if unknown is not None:
        word = one_line(unknown, limit=30)
        lines = [f"'{word}' is no {kind}: {', '.join(known)}; it is '{value}'"]
    if teller is None:
        return lines
    wanted = str(other) if isinstance(other, str) and op == "==" and kind == "source" else ""
    ending: list[str] = []
    if isinstance(teller, Run):
        reason = why_not(teller, wanted)
        process = [f"process: {process_line(teller)}"]
        if teller.source == "synthesized":
            logs = {"raw.log": teller.raw_log, "stderr.log": teller.evidence.stderr_log}
            ending += [
                f"{name} ends: {_last_line(log)}" for name, log in logs.items() if log.strip()
            ]
        place = task_directory(teller)
    else:
        reason = why_not_kept(teller, wanted)
        process, place = [], []
    why = f"{lines[0].partition(':')[0]}: {reason}"
    if reason and kind == "source" and unknown is None and len(reason) < SHORT:
        lines, reason = [why], ""
    weighty = [finding for finding in teller.diagnostics if finding.code not in REMARKS]
    summary = f"summary: {one_line(teller.report.summary, limit=300)}"
    lines += [
        *([reason] if reason else []),
        *([summary] if teller.report.summary not in lines[0] else []),
        *process,
        *(finding_line(finding) for finding in weighty[:2] if finding.message not in lines[0]),
        *ending,
    ]
    return [*lines, *place]


SHORT = 90
"""Characters up to which a reason stands in the first line."""


def _headline(
    kind: str, value: Status | Source, compared: str, teller: Run | Recovered | None
) -> str:
    """Say what was found, and why: the line that a summary shows."""
    if kind == "status" and isinstance(teller, Run) and not teller.succeeded:
        return cause(teller)
    summary = one_line(teller.report.summary, limit=120) if teller is not None else compared
    if kind == "source" and teller is not None:
        weighty = [item for item in teller.diagnostics if item.code not in REMARKS]
        summary = one_line(weighty[0].message, limit=160) if weighty else compared
    return f"the {kind} is '{value}': {summary}"


def _words(other: object) -> list[str] | None:
    """Return the texts of the other side; None where it is something else."""
    if isinstance(other, str):
        return [str(other)]
    if isinstance(other, tuple | list | set | frozenset) and other:
        words = [str(word) for word in other if isinstance(word, str)]
        return words if len(words) == len(other) else None
    return None


def _side(value: object) -> str:
    if isinstance(value, str):
        return f"'{one_line(str(value), limit=80)}'"
    assert isinstance(value, tuple | list | set | frozenset)
    words = [str(word) for word in value]
    ordered = words if isinstance(value, tuple | list) else sorted(words)
    return f"({', '.join(repr(one_line(word, limit=30)) for word in ordered)})"


def _teller(
    kind: str, value: Status | Source, runs: Sequence[Run], kept: Sequence[Recovered]
) -> Run | Recovered | None:
    """Return the last of those that the word may be of."""
    tellers: list[Run | Recovered] = [*runs, *kept]
    return next((one for one in reversed(tellers) if getattr(one, kind) == value), None)


def _last_line(log: bytes) -> str:
    tail = log[-4096:].decode("utf-8", "backslashreplace").rstrip()
    return one_line(tail.rpartition("\n")[2], limit=120)
