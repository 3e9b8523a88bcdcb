"""Where a report contradicts itself, how the process ended, or what it was allowed to do; pure.

The status stays the agent's word. What speaks against it is told beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Report
from pytest_caesar.recovery.evidence import Evidence, Recovered

MAX_PATHS = 5
"""Paths that one message names; the rest is told as a number."""


class Changed(Protocol):
    """Anything that names a changed path."""

    @property
    def path(self) -> str:
        """The path, as git shows it."""


def contradictions(
    report: Report,
    *,
    source: str,
    mode: Literal["read-only", "write"],
    changes: Sequence[Changed] | None,
    outcome_status: Literal["succeeded", "failed", "timed_out", "cancelled"],
    exit_code: int | None,
    killed_after_report: bool = False,
) -> tuple[Diagnostic, ...]:
    """Tell what a report says that cannot be so, or that the contract asks it to say.

    Args:
        report: as the agent gave it.
        source: a synthesized report claims nothing, so only the mode is checked.
        mode: what the task allowed.
        changes: what git shows, or None when it could not tell.
        outcome_status: how the process ended, in one word.
        exit_code: None when a signal ended it.
        killed_after_report: it was ended because it did not exit after its report.
    """
    found: list[Diagnostic] = []
    if mode == "read-only" and changes:
        paths = ", ".join(one_line(change.path, limit=80) for change in changes[:MAX_PATHS])
        more = f" and {len(changes) - MAX_PATHS} more" if len(changes) > MAX_PATHS else ""
        found.append(
            Diagnostic(
                code="read-only-violation",
                message=f"the task is read-only and the agent changed {paths}{more}",
            )
        )
    if source == "synthesized":
        return tuple(found)
    if report.status == "blocked" and not report.questions:
        message = "the report says blocked and asks no question: nobody can unblock it"
        found.append(Diagnostic(code="blocked-without-question", message=message))
    if report.status == "partial" and not report.next_steps:
        message = "the report says partial and has no next_steps: what remains is not told"
        found.append(Diagnostic(code="partial-without-next-steps", message=message))
    if report.status == "success":
        found.extend(_failed_commands(report))
        found.extend(_against_success(outcome_status, exit_code, killed_after_report))
    return tuple(found)


def _failed_commands(report: Report) -> list[Diagnostic]:
    """Tell which commands failed by the report's own word, with no success of the same later."""
    failed: dict[str, int] = {}
    for run in report.commands_run:
        command = " ".join(run.command.split())
        if run.exit_code == 0:
            failed.pop(command, None)
        elif run.exit_code is not None:
            failed[command] = run.exit_code
    if not failed:
        return []
    named = ", ".join(
        f"{one_line(command, limit=80)} (exit code {code})"
        for command, code in list(failed.items())[:MAX_PATHS]
    )
    more = f" and {len(failed) - MAX_PATHS} more" if len(failed) > MAX_PATHS else ""
    message = f"the report says success, and that a command failed and never succeeded: {named}"
    return [Diagnostic(code="success-but-command-failed", message=message + more)]


def _against_success(
    outcome_status: str,
    exit_code: int | None,
    killed_after_report: bool,  # noqa: FBT001 - private, called once
) -> list[Diagnostic]:
    if outcome_status == "timed_out":
        message = "the report says success and the deadline passed before the process ended"
        return [Diagnostic(code="success-but-timed-out", message=message)]
    if outcome_status == "cancelled":
        message = "the report says success and the task was cancelled"
        return [Diagnostic(code="success-but-cancelled", message=message)]
    if killed_after_report or exit_code == 0:
        return []
    if exit_code is None:
        message = "the report says success and a signal ended the process"
        return [Diagnostic(code="success-but-killed", message=message)]
    message = f"the report says success and the process ended with exit code {exit_code}"
    return [Diagnostic(code="success-but-exit-code", message=message)]


def speaks_against(recovered: Recovered, evidence: Evidence) -> tuple[Diagnostic, ...]:
    """Return what in the evidence speaks against the report that was recovered from it."""
    status: Literal["succeeded", "failed", "timed_out", "cancelled"] = "failed"
    if evidence.timed_out or evidence.cancelled:
        status = "timed_out" if evidence.timed_out else "cancelled"
    elif evidence.exit_code == 0 or evidence.killed_after_report:
        status = "succeeded"
    elif evidence.exit_code is None and evidence.signal is None:
        status = "succeeded"  # not known: nothing to hold against the report
    return contradictions(
        recovered.report,
        source=recovered.source,
        mode=evidence.mode,
        changes=evidence.changes,
        outcome_status=status,
        exit_code=0 if status == "succeeded" else evidence.exit_code,
        killed_after_report=evidence.killed_after_report,
    )
