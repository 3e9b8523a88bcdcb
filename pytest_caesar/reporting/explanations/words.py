"""A failed comparison of a status or a source, with the cause and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesar_agent.console import one_line
from pytest_caesar.recovery.evidence import Source, Status
from pytest_caesar.reporting.explanations.entries import finding_line
from pytest_caesar.reporting.sections import process_line, task_directory
from pytest_caesar.reporting.sources import why_not, why_not_kept
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
    what = "verdict" if teller is not None and not isinstance(teller, Run) else "run"
    lines = [f"{_side(left)} {op} {_side(right)}, where '{value}' is the {kind} of the {what}"]
    known = [str(member) for member in type(value)]
    # A part of a word is looked for, not a word.
    part = op in {"in", "not in"} and value is right
    unknown = next((word for word in words if word not in known and not part), None)
    if unknown is not None:
        lines.append(f"'{one_line(unknown, limit=80)}' is no {kind}: they are {', '.join(known)}")
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
    weighty = [finding for finding in teller.diagnostics if finding.code not in REMARKS]
    lines += [
        *([reason] if reason else []),
        f"summary: {one_line(teller.report.summary, limit=300)}",
        *process,
        *map(finding_line, weighty[:2]),
        *ending,
    ]
    return [*lines, *place]


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
