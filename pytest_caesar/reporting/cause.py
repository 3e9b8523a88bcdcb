"""Why a run is no success, in a few words and then in full; pure."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from caesar_agent.console import one_line
from pytest_caesar.recovery.synthesis import last_line
from pytest_caesar.reporting.remedies import REMEDIES
from pytest_caesar.reporting.sections import task_directory
from pytest_caesar.reporting.source_advice import missing_report
from pytest_caesar.runs.run import REMARKS
from pytest_caesar.supervision.time_left import format_seconds

if TYPE_CHECKING:
    from caesar_agent.diagnostics import Diagnostic
    from pytest_caesar.runs.run import Run

WORDS: Final = 200
"""Characters of the agent's own words that a cause quotes."""

FINDINGS: Final = 2
"""Findings that are named below a cause."""

UNUSABLE: Final = ("submission-", "final-message-", "report-")
"""How the codes of findings begin on a report that could not be used."""

SAID: Final = frozenset(
    {"deadline-exceeded", "success-but-exit-code", "success-but-killed", "success-but-timed-out"}
)
"""Findings that a cause has said already."""


def cause(run: Run) -> str:
    """Say why a run is no success: on one line, what decides within its first 40 columns.

    Returns:
        "" for a success.
    """
    if run.succeeded:
        return ""
    outcome, status = run.outcome, run.status
    if outcome.timed_out:
        return f"{status}: timed out after {format_seconds(run.task.deadline_ms)}{_stopped(run)}"
    if outcome.status == "cancelled":
        return f"{status}: cancelled{_stopped(run)}"
    if status == "success":
        return f"{_ending(run)}, but the report says success"
    if run.source != "synthesized":
        words = run.report.summary
        if status == "blocked" and run.report.questions:
            words = f"it asks {run.report.questions[0].question}"
        return f"{status}, says its report: {one_line(words, limit=WORDS)}"
    return f"{status}: {_no_report(run)}"


def details(run: Run) -> list[str]:
    """Say what stands behind ``cause``, one thing a line, and what to do about it."""
    lines = [*_last_words(run)]
    used = _unusable(run)
    found = [
        finding
        for finding in run.diagnostics
        if finding.code not in REMARKS | SAID and finding is not used
    ]
    lines += [
        f"{finding.code}: {one_line(finding.message, limit=300)}" for finding in found[:FINDINGS]
    ]
    return [*lines, *_remedy(run, used), *task_directory(run)]


def _stopped(run: Run) -> str:
    count = len(run.outcome.leaked)
    if not count:
        return ""
    return f", {count} process{'es' if count > 1 else ''} stopped"


def _ending(run: Run) -> str:
    outcome = run.outcome
    if outcome.signal:
        return f"killed by {outcome.signal}"
    if outcome.exit_code is None:
        return "no exit code"
    return f"exit code {outcome.exit_code}"


def _no_report(run: Run) -> str:
    """Say why there is no report that could be used."""
    unusable = _unusable(run)
    if unusable is not None:
        return one_line(unusable.message.replace(" is not a report", "", 1), limit=WORDS)
    stream = next((item for item in run.diagnostics if item.code == "stream-failed"), None)
    if stream is not None:
        return one_line(stream.message, limit=WORDS)
    if run.outcome.status != "succeeded":
        return _ending(run)
    return "no file at $CAESAR_REPORT_PATH"


def _unusable(run: Run) -> Diagnostic | None:
    if run.source != "synthesized":
        return None
    return next((item for item in run.diagnostics if item.code.startswith(UNUSABLE)), None)


def _last_words(run: Run) -> list[str]:
    if run.source != "synthesized":
        status = run.outcome.status.replace("_", " ")
        told = status == "succeeded" or run.status == "success" or run.outcome.timed_out
        return [] if told else [f"the process: {_ending(run)}"]
    lines = []
    printed = last_line(run.raw_log)
    complaint = last_line(run.evidence.stderr_log)
    if printed:
        lines.append(f"the agent printed: {one_line(printed, limit=WORDS)}")
    if complaint:
        lines.append(f"on stderr: {one_line(complaint, limit=WORDS)}")
    return lines or ["the agent printed nothing"]


def _remedy(run: Run, used: Diagnostic | None) -> list[str]:
    if used is not None and used.code in REMEDIES:
        return [_sentence(REMEDIES[used.code])]
    if run.outcome.timed_out:
        return ["give it more time with timeout=, or read in the log where it hangs"]
    if not missing_report(run):
        return []
    name = PurePosixPath(run.task.report_path).name
    for change in run.changes:
        if PurePosixPath(change.path).name == name and change.action != "deleted":
            path = one_line(change.path, limit=WORDS)
            return [f"{path} in the workspace is not read: write it to $CAESAR_REPORT_PATH"]
    return ["write the report there; `caesar-agent validate FILE` checks one"]


def _sentence(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(".")
