"""A failed comparison of what a run holds many of: paths, changes, findings, questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Artifact, Change, CommandRun, Finding, Question
from caesar_agent.mailbox.reader import AskedQuestion
from pytest_caesar.reporting.activity_lines import command_line
from pytest_caesar.reporting.sections import entry_line, task_directory
from pytest_caesar.runs.command_reconciliation import Command
from pytest_caesar.supervision.outcome import LeakedProcess
from pytest_caesar.workspace.reconciliation import ReconciledPath
from pytest_caesar.workspace.values import ObservedChange

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_caesar.runs.run import Run

NEXT_STEPS: Final = {
    "undeclared": "the agent must declare it under changes, or leave it alone",
    "phantom": "the agent must change it, or not declare it",
    "wrong-action": "the agent must declare what it did",
    "unverified": "git cannot see it; look at the file itself",
}
"""What can be done about a path, by verdict."""

NOT_ALIKE: Final = "a declared change never equals an observed one: see run.reconciliation"
"""What to do where ``run.declared.changes`` is compared with ``run.changes``."""

MAX_LINES: Final = 8
"""Lines of an explanation: pytest cuts what is longer."""


def explain_entries(op: str, left: object, right: object, runs: Sequence[Run]) -> list[str] | None:
    """Explain a comparison of two lists, or of one with an entry; one of them is a run's.

    Returns:
        None where something else than entries is compared.
    """
    if op == "in":
        return _text_in(left, right, runs) if isinstance(right, tuple | list) else None
    if not isinstance(left, tuple | list) or not isinstance(right, tuple | list):
        return None
    # Of the types alone: most lists of a test are none of ours, and may be long.
    kinds = {type(item) for item in (*left, *right)}
    if not kinds & KINDS.keys() or not all(map(_is_known, kinds)):
        return None
    texts = [all(isinstance(item, str) for item in side) for side in (left, right) if side]
    return _texts(left, right, runs) if any(texts) else _entries(left, right, runs)


def finding_line(finding: Diagnostic) -> str:
    """Say a finding of the harness."""
    return f"{finding.code}: {one_line(finding.message, limit=300)}"


def _entries(left: Sequence[object], right: Sequence[object], runs: Sequence[Run]) -> list[str]:
    """List what stands in one of them and not in the other."""
    if {type(item) for item in (*left, *right)} == {Change, ObservedChange}:
        listed = _listed(_apart(left, right, _told), left, right) or ["  both say the same"]
        return _framed("==", left, right, listed, [NOT_ALIKE], runs)
    apart = _apart(left, right, lambda item: item)
    listed = _listed(apart, left, right) or ["  the same entries in another order"]
    return _framed("==", left, right, listed, _next_steps([*apart[0], *apart[1]]), runs)


def _texts(left: Sequence[object], right: Sequence[object], runs: Sequence[Run]) -> list[str]:
    """Compare entries with the texts that a test has put in their place."""
    listed = _listed(_apart(left, right, _text), left, right)
    return _framed("==", left, right, listed, [_how_to_name((*left, *right))], runs)


def _text_in(left: object, right: Sequence[object], runs: Sequence[Run]) -> list[str] | None:
    kinds = {type(item) for item in right}
    if not isinstance(left, str) or not kinds or not kinds <= KINDS.keys():
        return None
    listed = [f"  {_told(item)}" for item in right]
    return _framed("in", left, right, listed, [_how_to_name(right)], runs)


def _framed(
    op: str,
    left: Sequence[object],
    right: Sequence[object],
    listed: list[str],
    advice: list[str],
    runs: Sequence[Run],
) -> list[str]:
    owners = [run for run in runs if _holds(run, (*left, *right))]
    ending = [*advice, *(task_directory(owners[-1]) if owners else [])]
    room = MAX_LINES - 1 - len(ending)
    if len(listed) > room:
        listed = [*listed[: room - 1], f"  … and {len(listed) - room + 1} more"]
    return [f"{_compared(op, left, right, listed)}", *listed, *ending]


def _compared(
    op: str, left: Sequence[object], right: Sequence[object], listed: Sequence[str]
) -> str:
    """Say what was found: the line that a summary shows."""
    one = left or right
    if op == "==" and not (left and right) and one:
        more = f", and {len(one) - 1} more" if len(one) > 1 else ""
        return f"{_found(one)}: {_briefly(one[0])}{more}"
    if op == "in":
        side = f"{_count_of(left)} is none of {_count_of(right)}"
    else:
        side = f"{_count_of(left)} is not {_count_of(right)}"
    shown = "; ".join(map(str.strip, listed[:2])) or "the same texts, of another type"
    return f"{side}: {shown}"


def _found(entries: Sequence[object]) -> str:
    """Count entries; those of one verdict by its name."""
    verdicts = {item.verdict if isinstance(item, ReconciledPath) else "" for item in entries}
    verdict = verdicts.pop() if len(verdicts) == 1 else ""
    if verdict == "wrong-action":
        return f"{_many(len(entries), 'change')} with another action"
    if verdict and verdict != "matched":
        return _many(len(entries), f"{verdict} change")
    return _count_of(entries)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _briefly(item: object) -> str:
    if isinstance(item, ReconciledPath) and item.verdict == "wrong-action":
        declared, observed = item.declared_action, item.observed_action
        return f"{one_line(item.path)} (declared {declared}, git shows {observed})"
    if isinstance(item, ReconciledPath):
        return f"{one_line(item.path)} ({item.observed_action or item.declared_action})"
    return _told(item)


def _apart(
    left: Sequence[object], right: Sequence[object], key: Callable[[object], object]
) -> tuple[list[object], list[object]]:
    """Return what has no like on the other side."""
    first, second = (_looked_up([key(item) for item in side]) for side in (left, right))
    return (
        [item for item in left if key(item) not in second],
        [item for item in right if key(item) not in first],
    )


def _listed(
    apart: tuple[list[object], list[object]], left: Sequence[object], right: Sequence[object]
) -> list[str]:
    beside = ("only in the first: ", "only in the second: ") if left and right else ("", "")
    return [f"  {beside[number]}{_told(item)}" for number in (0, 1) for item in apart[number]]


def _looked_up(values: list[object]) -> Collection[object]:
    try:
        return set(values)
    except TypeError:  # a report's parts may hold anything in fields of their own
        return values


def _count_of(values: Sequence[object]) -> str:
    if isinstance(values, str):
        return repr(one_line(values, limit=80))
    if not values:
        return "none"
    kind = _kind(values[0])
    return f"1 {kind.one}" if len(values) == 1 else f"{len(values)} {kind.many}"


def _how_to_name(entries: Sequence[object]) -> str:
    text = next(filter(None, (_kind(entry).text for entry in entries)))
    return f"each is more than its {text}: compare [one.{text} for one in …]"


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
            *run.questions,
            *run.outcome.leaked,
            *_parts(run.report),
            *_parts(run.declared),
        )
    }
    return any(id(item) in known for item in items)


def _parts(report: Any) -> tuple[object, ...]:
    return (
        *report.changes,
        *report.findings,
        *report.questions,
        *report.commands_run,
        *report.artifacts,
    )


def _text(item: object) -> str:
    name = _kind(item).text
    return str(getattr(item, name)) if name else str(item)


def _is_known(kind: type) -> bool:
    return kind in KINDS or issubclass(kind, str)


def _kind(item: object) -> Kind:
    return KINDS.get(type(item), TEXT)


def _told(item: object) -> str:
    """Say an entry, or a text in the place of one, in a line."""
    return _kind(item).told(item)


def _asked(question: AskedQuestion) -> str:
    end = question.state
    told = end if question.answer is None else f"{end} {one_line(question.answer, limit=80)!r}"
    return f"{one_line(question.question, limit=120)!r}, {told}"


def _open_question(question: Question) -> str:
    return repr(one_line(question.question, limit=120))


def _finding(finding: Finding) -> str:
    where = f" in {one_line(finding.file)}" if finding.file else ""
    return f"{finding.severity}: {one_line(finding.title, limit=200)}{where}"


def _ran(command: CommandRun) -> str:
    code = "not known" if command.exit_code is None else command.exit_code
    return f"{one_line(command.command, limit=120)}, exit code {code}"


def _left_behind(process: LeakedProcess) -> str:
    return f"{one_line(process.name, limit=100)} (pid {process.pid}), ended by the orchestrator"


def _changed(change: ObservedChange | Change) -> str:
    return f"{one_line(change.path)} {change.action}"


@dataclass(frozen=True, slots=True)
class Kind:
    """How entries of a type are told.

    Attributes:
        one: what an entry is called.
        many: what several are called.
        text: the attribute that is meant where a test names an entry by a text alone.
        told: says an entry in a line.
    """

    one: str
    many: str
    text: str
    told: Callable[[Any], str]


KINDS: Final[dict[type, Kind]] = {
    ReconciledPath: Kind("path", "paths", "path", entry_line),
    Command: Kind("command", "commands", "command", command_line),
    Diagnostic: Kind("diagnostic", "diagnostics", "code", finding_line),
    ObservedChange: Kind("change", "changes", "path", _changed),
    Change: Kind("declared change", "declared changes", "path", _changed),
    Finding: Kind("finding", "findings", "title", _finding),
    AskedQuestion: Kind("question", "questions", "question", _asked),
    Question: Kind("open question", "open questions", "question", _open_question),
    CommandRun: Kind("command", "commands", "command", _ran),
    Artifact: Kind("artifact", "artifacts", "path", lambda artifact: one_line(artifact.path)),
    LeakedProcess: Kind("process left behind", "processes left behind", "name", _left_behind),
}
"""What a run holds many of, by type."""

TEXT: Final = Kind("text", "texts", "", lambda text: repr(one_line(text, limit=120)))
"""What a test may have put in the place of entries."""
