"""From a run to its evidence: what git, gates and the process say, then what the agent says; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from caesar_agent.console import one_line
from caesar_agent.va.conversion import unit_of
from caesar_agent.va.evidence import (
    Artifact,
    BlockReason,
    DimensionFeedback,
    Evidence,
    FailureDetail,
    GateResult,
)
from caesar_agent.va.task_unit import Pitfall
from pytest_caesar.runs.failing_codes import is_refuted
from pytest_caesar.runs.judgement import gate_ending, handed_over, missing_outputs
from pytest_caesar.runs.record import PATCH_NAME
from pytest_caesar.va.causes import Cause, cause_of

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run

MAX_GATE_WORDS = 600
"""Characters of what a gate says that a dimension repeats: the last ones."""

MAX_WORDS = 2000
"""Characters of an agent's own account that evidence repeats in one place."""


def evidence_of(run: Run) -> Evidence:
    """Say what is proven about a run.

    ``completed`` takes more than a report of success: the process ended as it should,
    no gate failed, nothing that was promised is missing, a read-only task changed
    nothing. A gate that only gave a warning, or a workspace of which git could not tell
    what changed, makes the task ``blocked``, for a person to look at. ``partial`` becomes
    ``failed``, since not every criterion is met.

    Lost are findings, commands, usage, events and diagnostics, the agent's ``details``,
    the contents of changes (an artifact names the patch), and whether the report was
    ``failed`` or ``partial``. Paths that are not UTF-8 keep their bytes as escapes.
    """
    unit = unit_of(run.task)
    outputs = handed_over(run.report)
    cause = cause_of(run)
    status = "completed" if cause is None else "failed"
    if cause is None and _doubts(run):
        status = "blocked"
    said_blocked = run.report.status == "blocked" and run.outcome.status == "succeeded"
    if said_blocked and not is_refuted(run):
        status = "blocked"
    return Evidence(
        task_id=unit.id,
        status=status,  # type: ignore[arg-type]
        artifacts=tuple(_artifacts(run)),
        gate_results=run.gates,
        verification=_verification(run),
        failure_detail=_failure(run, cause) if cause and status == "failed" else None,
        block_reason=_block_reason(run) if status == "blocked" else None,
        outputs=outputs or None,
    )


def pitfall_of(evidence: Evidence, *, attempt: int) -> Pitfall:
    """Make of a failed attempt what the next one is warned of.

    Raises:
        ValueError: the attempt did not fail.
    """
    detail = evidence.failure_detail
    if detail is None:
        raise ValueError(f"the evidence of {evidence.task_id!r} is {evidence.status}, not failed")
    missing = [
        f"{name}: {side.detail or side.status}"
        for name, side in (detail.dimensions or {}).items()
        if side.status != "ok"
    ]
    context = "; ".join(filter(None, (detail.missing_context, *missing)))
    return Pitfall(
        id=f"{evidence.task_id}#{attempt}",
        failure_type=detail.failure_type,
        attempted=detail.attempted,
        hypothesis=detail.hypothesis,
        missing_context=context or None,
    )


def _artifacts(run: Run) -> Iterator[Artifact]:
    if run.changes_verified_by == "git":
        for change in run.changes:
            origin = f" from {_text(change.old_path)}" if change.old_path else ""
            kind = "" if change.kind == "file" else f" {change.kind}"
            note = f" ({change.note})" if change.note else ""
            yield Artifact(
                type="file",
                path=_text(change.path),
                description=f"{change.action}{kind}{origin}{note}",
            )
    else:
        for declared in run.declared.changes:
            yield Artifact(
                type="file", path=declared.path, description=f"{declared.action}, not verified"
            )
    for artifact in run.report.artifacts:
        told = artifact.description or "kept by the agent"
        yield Artifact(type="file", path=artifact.path, description=f"{told}, not verified")
    head = run.observation.head
    if run.observation.verified and head and run.task.base_ref and head != run.task.base_ref:
        yield Artifact(type="commit", path=head, description="HEAD of the workspace")
    if run.patch:
        yield Artifact(
            type="diff",
            path=_text(str(run.task_dir / PATCH_NAME)),
            description="all changes against the start, for git apply",
        )
    if run.source != "synthesized":
        yield Artifact(
            type="report",
            path=_text(run.task.report_path) if run.source == "file" else None,
            description=f"the agent's own report, from {run.source}",
        )
    if run.raw_log:
        yield Artifact(
            type="log",
            path=_text(str(run.task_dir / "raw.log")),
            description="what the agent printed",
        )


def _verification(run: Run) -> str:
    parts = []
    if run.changes_verified_by == "git":
        count = len(run.changes)
        parts.append(f"git shows {count} change{'' if count == 1 else 's'}")
        odd = len(run.reconciliation.undeclared) + len(run.reconciliation.phantom)
        parts.append(f"{odd} not as declared" if odd else "all as declared")
    else:
        parts.append("git could not tell what changed, so the declaration stands alone")
    if run.gates:
        passed = sum(gate.passed for gate in run.gates)
        parts.append(f"{passed} of {len(run.gates)} gates passed")
    else:
        parts.append("no gate was asked")
    parts.append(f"the report came from {run.source}")
    parts.append(f"the process {run.outcome.status.replace('_', ' ')}")
    return "; ".join(parts)


def _failure(run: Run, cause: Cause) -> FailureDetail:
    report = run.report
    summary = report.summary[:MAX_WORDS]
    missing = [*report.next_steps, *(question.question for question in report.questions)]
    return FailureDetail(
        failure_type=cause.kind,
        attempted=summary,
        hypothesis=cause.text,
        missing_context="; ".join(missing)[:MAX_WORDS] or None,
        dimensions=_dimensions(run),
    )


def _dimensions(run: Run) -> dict[str, DimensionFeedback]:
    """Tell the sides of a failure apart: report, changes, outputs, each gate, and what judges say."""
    sides = {
        "report": DimensionFeedback(status="missing", detail="no report could be read")
        if run.source == "synthesized"
        else DimensionFeedback(status="ok", detail=f"from {run.source}: {run.report.status}")
    }
    odd = [
        f"{one_line(entry.path, limit=80)} {entry.verdict}"
        for entry in run.reconciliation.entries
        if entry.verdict != "matched"
    ]
    if run.changes_verified_by == "git":
        sides["changes"] = DimensionFeedback(
            status="mismatch" if odd else "ok", detail="; ".join(odd[:10]) or None
        )
    if run.promised:
        lacking = missing_outputs(run.report, run.promised)
        sides["outputs"] = DimensionFeedback(
            status="missing" if lacking else "ok", detail=", ".join(lacking) or None
        )
    for gate in run.gates:
        sides[f"gate: {gate.gate}"] = DimensionFeedback(
            score=gate.score,
            status="ok" if gate.passed else "mismatch",
            detail=None if gate.passed else _detail(gate),
        )
    return {**sides, **run.dimensions}


def _detail(gate: GateResult) -> str:
    """Say how a gate ended, and the end of what it printed: that is what a retry learns from."""
    told = gate.output or gate.rationale or ""
    if gate.type == "command" and gate.exit_code is None:
        told = told.rstrip().rpartition("\n")[0]  # the ending is its last line
    return "\n".join(filter(None, (gate_ending(gate), told[-MAX_GATE_WORDS:])))


def _doubts(run: Run) -> list[str]:
    """Return what a person has to look at, although nothing failed."""
    unverified = [item.message for item in run.diagnostics if item.code == "workspace-unverified"]
    warnings = [gate for gate in run.gates if not gate.passed]
    return [
        *(one_line(message, limit=300) for message in unverified),
        *(f"{one_line(gate.gate, limit=120)} {gate_ending(gate)}" for gate in warnings),
    ]


def _block_reason(run: Run) -> BlockReason:
    questions = run.report.questions
    if run.report.status != "blocked":
        return BlockReason(
            type="human-decision",
            description="; ".join(_doubts(run)),
            required_action="decide whether that will do",
        )
    if not questions:
        return BlockReason(type="human-decision", description=run.report.summary[:MAX_WORDS])
    asked = [
        question.question + (f" ({' / '.join(question.options)})" if question.options else "")
        for question in questions
    ]
    return BlockReason(
        type="human-decision",
        description=run.report.summary[:MAX_WORDS],
        required_action=f"answer: {'; '.join(asked)}"[:MAX_WORDS],
    )


def _text(path: str) -> str:
    """Return a path as JSON can have it: bytes that are not UTF-8 become escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
