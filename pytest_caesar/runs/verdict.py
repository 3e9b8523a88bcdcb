"""From what was recovered and observed to what is handed on; pure."""

from __future__ import annotations

from collections import Counter
from typing import Any

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.task import Task
from pytest_caesar.recovery.contradictions import contradictions
from pytest_caesar.recovery.evidence import Recovered
from pytest_caesar.runs.activity import Activity, commands_of, usage_of
from pytest_caesar.runs.command_findings import command_findings
from pytest_caesar.runs.run_reconciliation import RunReconciliation
from pytest_caesar.runs.usage_findings import usage_findings
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.workspace.naming import shown
from pytest_caesar.workspace.reconciliation import (
    MAX_NAMED,
    ReconciledPath,
    Reconciliation,
    reconcile,
    reconciled_report,
)
from pytest_caesar.workspace.values import Observation


def settle(
    recovered: Recovered,
    *,
    observation: Observation,
    outcome: Outcome,
    task: Task,
    harness_findings: tuple[Diagnostic, ...],
    ignored: frozenset[str] = frozenset(),
    activity: Activity | None = None,
) -> dict[str, Any]:
    """Lay a recovered report beside what was observed.

    Returns:
        The fields of a ``Run`` that depend on the report: ``declared``, ``report``,
        ``source``, ``form``, ``changes_verified_by``, ``reconciliation``, ``usage``,
        ``diagnostics`` and ``ignored``.
    """
    declared = recovered.report
    seen = activity or Activity()
    commands = commands_of(seen, declared)
    if observation.verified:
        # What is synthesized is made from what git shows: nobody declared it.
        claims = () if recovered.source == "synthesized" else declared.changes
        reconciliation = reconcile(claims, observation, workspace=task.workspace, ignored=ignored)
        report = declared
        if recovered.source != "synthesized":
            report = reconciled_report(declared, reconciliation, observation)
    else:
        reconciliation, report = Reconciliation(), declared
    found = contradictions(
        declared,
        source=recovered.source,
        mode=task.mode,
        changes=observation.changes if observation.verified else None,
        outcome_status=outcome.status,
        exit_code=outcome.exit_code,
        killed_after_report=outcome.killed_after_report,
    )
    return {
        "declared": declared,
        "report": report,
        "source": recovered.source,
        "form": recovered.form,
        "changes_verified_by": "git" if observation.verified else "declaration",
        "reconciliation": RunReconciliation(reconciliation.entries, commands),
        "usage": usage_of(seen, declared),
        "diagnostics": (
            *harness_findings,
            *recovered.diagnostics,
            *reconciliation_findings(reconciliation, reported=recovered.source != "synthesized"),
            *command_findings(commands),
            *found,
            *usage_findings(declared, seen.usage),
        ),
        "ignored": ignored,
    }


_SENTENCES: dict[str, tuple[str, str]] = {
    "undeclared": (
        "undeclared-change",
        "git shows {path} {observed}, the report does not declare it",
    ),
    "phantom": (
        "phantom-change",
        "the report declares {path} {declared}, git shows no change there",
    ),
    "wrong-action": (
        "wrong-action",
        "the report declares {path} {declared}, git shows it {observed}",
    ),
    "unverified": (
        "unverified-change",
        "the report declares {path} {declared}; git ignores that path, so nobody can verify it",
    ),
}
"""Verdict of a reconciled path -> code and sentence of its diagnostic."""

_WITHIN = (
    "the report declares {path} {declared}; it lies in {within}, a repository of its own, so "
    "nobody can verify it"
)


def reconciliation_findings(
    reconciliation: Reconciliation, *, reported: bool = True
) -> tuple[Diagnostic, ...]:
    """Tell what the declaration and the observation do not agree on, in path order.

    Args:
        reconciliation: of a run.
        reported: an agent's report declares; without one nothing was declared.
    """
    if not reported and reconciliation.entries:
        count = len(reconciliation.entries)
        first = shown(reconciliation.entries[0].path)
        what = f"{first} changed" if count == 1 else f"{count} paths changed, {first} the first"
        message = f"git shows that {what}; nothing was declared (no report)"
        return (Diagnostic(code="undeclared-change", message=message),)
    counts: Counter[str] = Counter()
    found: list[Diagnostic] = []
    for entry in reconciliation.entries:
        if entry.verdict not in _SENTENCES:
            continue
        counts[entry.verdict] += 1
        if counts[entry.verdict] <= MAX_NAMED:
            found.append(_finding(entry))
    return (*found, *_counted(counts))


def _finding(entry: ReconciledPath) -> Diagnostic:
    code, sentence = _SENTENCES[entry.verdict]
    message = (_WITHIN if entry.within else sentence).format(
        path=shown(entry.path),
        declared=entry.declared_action,
        observed=entry.observed_action,
        within=shown(entry.within),
    )
    return Diagnostic(code=code, message=message, path=entry.path)


def _counted(counts: Counter[str]) -> list[Diagnostic]:
    """Count what is not named, a finding for each kind."""
    return [
        Diagnostic(
            code=_SENTENCES[verdict][0],
            message=f"{count - MAX_NAMED} more paths like the {MAX_NAMED} that are named; "
            "run.reconciliation has all of them",
        )
        for verdict, count in counts.items()
        if count > MAX_NAMED
    ]
