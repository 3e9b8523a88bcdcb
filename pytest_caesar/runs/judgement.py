"""What gates and promised outputs say against a report of success; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from caesar_agent.va.evidence import GateResult


def judgement_findings(
    report: Report, *, gates: Iterable[GateResult], promised: tuple[str, ...]
) -> tuple[Diagnostic, ...]:
    """Return what speaks against ``success``; nothing where the report claims something else.

    Args:
        report: what the agent declared.
        gates: how the gates ended.
        promised: keys that ``outputs`` of a report of success must have.
    """
    if report.status != "success":
        return ()
    found = [
        Diagnostic(
            code="gate-failed" if gate.failed else "gate-warning",
            message=f"the report says success, and the gate {one_line(gate.gate, limit=120)!r} "
            f"{gate_ending(gate)}",
        )
        for gate in gates
        if not gate.passed
    ]
    missing = missing_outputs(report, promised)
    if missing:
        keys = ", ".join(one_line(key, limit=60) for key in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        found.append(
            Diagnostic(
                code="outputs-missing",
                message=f"the report says success, and its outputs lack {keys}{more}, "
                "which the task promises",
            )
        )
    return tuple(found)


def gate_ending(gate: GateResult) -> str:
    """Say in half a sentence how a gate ended."""
    if gate.type == "model-evaluation":
        soft = "" if gate.soft_threshold is None else f", and warnings from {gate.soft_threshold:g}"
        word = "gave a warning" if gate.severity == "warning" else "failed"
        verb = "passed" if gate.passed else word
        return f"{verb}: its score is {gate.score:g}, it passes from {gate.threshold:g}{soft}"
    if gate.passed:
        return "passed"
    if gate.exit_code is not None:
        return f"failed: exit code {gate.exit_code}"
    last = (gate.output or "").rstrip().rpartition("\n")[2]
    return f"failed: {one_line(last.strip('()'), limit=200) or 'no exit code'}"


def handed_over(report: Report) -> dict[str, Any]:
    """Return the outputs of a report; empty when there are none, or they are no object."""
    outputs = (report.model_extra or {}).get("outputs")
    return outputs if isinstance(outputs, dict) else {}


def missing_outputs(report: Report, promised: tuple[str, ...]) -> tuple[str, ...]:
    """Return the promised keys that a report does not hand over, in their order."""
    outputs = handed_over(report)
    return tuple(key for key in promised if key not in outputs)
