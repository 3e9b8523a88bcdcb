"""``Evidence``: the proof of what a task did."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.va.base import ClosedDocument, ClosedPart
from caesar_agent.va.fields import Array, Maybe, Share, WholeNumber
from caesar_agent.va.task_unit import FailureType

EvidenceStatus = Literal["completed", "failed", "blocked"]
ArtifactType = Literal["file", "commit", "report", "diff", "log"]
GateType = Literal["command", "model-evaluation"]
GateSeverity = Literal["error", "warning"]


class Artifact(ClosedPart):
    """One thing that was produced.

    Attributes:
        type: file, commit, report, diff or log.
        path: path of the file, or SHA of the commit; absent when there is neither.
        description: what it is.

    Source: va-agent-protocol 0.1.0, evidence schema, ``Artifact``.
    """

    type: ArtifactType
    path: Maybe[str] = None
    description: str


class GateResult(ClosedPart):
    """What one quality gate said.

    Attributes:
        gate: name of the gate.
        type: ``command`` (default), or ``model-evaluation`` for a judge with a score.
        command: the command line that was run; absent for a judge.
        exit_code: its exit code; absent for a judge, and where there was none.
        passed: whether the gate passed.
        output: what it printed, possibly cut; absent when nothing was kept.
        duration_ms: how long it ran, in milliseconds; absent when not known.
        evaluator: who judged; absent for a command.
        score: the judgement, from 0 to 1; absent for a command.
        threshold: score from which on the gate passes, from 0 to 1; absent for a command.
        soft_threshold: score from which on a gate that does not pass is a warning and
            no error, from 0 to 1; absent when every failure is an error.
        severity: of a gate that did not pass: error to retry, warning to have a person
            look; absent when it passed.
        rationale: why the judge said so; absent for a command.

    Source: va-agent-protocol 0.1.0, evidence schema, ``GateResult``.
    """

    gate: str
    type: GateType = "command"
    command: Maybe[str] = None
    exit_code: Maybe[WholeNumber] = None
    passed: bool
    output: Maybe[str] = None
    duration_ms: Maybe[WholeNumber] = None
    evaluator: Maybe[str] = None
    score: Maybe[Share] = None
    threshold: Maybe[Share] = None
    soft_threshold: Maybe[Share] = None
    severity: Maybe[GateSeverity] = None
    rationale: Maybe[str] = None

    @property
    def failed(self) -> bool:
        """It did not pass, and is no mere warning."""
        return not self.passed and self.severity != "warning"


class DimensionFeedback(ClosedPart):
    """How one side of the work turned out.

    Attributes:
        score: from 0 to 1; absent when it was not measured.
        status: ok, mismatch or missing.
        detail: what was found; absent when there is no more to say.

    Source: va-agent-protocol 0.1.0, evidence schema, ``DimensionFeedback``.
    """

    score: Maybe[Share] = None
    status: Literal["ok", "mismatch", "missing"]
    detail: Maybe[str] = None


class FailureDetail(ClosedPart):
    """How a task failed, for the next attempt to learn from.

    Attributes:
        failure_type: gate, acceptance, review, timeout, crash or unknown.
        attempted: what was tried.
        hypothesis: why it probably failed.
        missing_context: what was not known; absent when nothing is said.
        dimensions: the sides of the work, by name; absent when not told apart.

    Source: va-agent-protocol 0.1.0, evidence schema, ``FailureDetail``.
    """

    failure_type: FailureType
    attempted: str
    hypothesis: str
    missing_context: Maybe[str] = None
    dimensions: Maybe[dict[str, DimensionFeedback]] = None


class BlockReason(ClosedPart):
    """What a task waits for.

    Attributes:
        type: human-decision, external-resource, dependency or permission.
        description: what is missing.
        required_action: what would let it go on; absent when nobody says.

    Source: va-agent-protocol 0.1.0, evidence schema, ``BlockReason``.
    """

    type: Literal["human-decision", "external-resource", "dependency", "permission"]
    description: str
    required_action: Maybe[str] = None


class Evidence(ClosedDocument):
    """Proof of what a task did, made from what a machine can verify.

    Attributes:
        task_id: the task.
        status: completed, failed or blocked.
        artifacts: what was produced; empty by default.
        gate_results: what the quality gates said; empty by default.
        verification: what was verified and how, in words; absent when nothing is said.
        failure_detail: how it failed; meant for ``failed``.
        block_reason: what it waits for; meant for ``blocked``.
        outputs: values for other tasks, by key; absent when there are none.

    Source: va-agent-protocol 0.1.0, evidence schema.
    """

    kind: ClassVar[str] = "va-evidence"
    version: ClassVar[str] = ""
    caesar_snapshot_kind: ClassVar[str] = "evidence"

    task_id: str
    status: EvidenceStatus
    artifacts: Array[Artifact] = ()
    gate_results: Array[GateResult] = ()
    verification: Maybe[str] = None
    failure_detail: Maybe[FailureDetail] = None
    block_reason: Maybe[BlockReason] = None
    outputs: Maybe[dict[str, Any]] = None

    def remarks(self) -> tuple[Diagnostic, ...]:
        """Say what the schema describes and does not demand: details, and gates that held."""
        found = []
        if self.status == "failed" and self.failure_detail is None:
            found.append("the status is failed, and there is no failureDetail")
        if self.status == "blocked" and self.block_reason is None:
            found.append("the status is blocked, and there is no blockReason")
        for index, gate in enumerate(self.gate_results):
            if gate.type == "command" and gate.command is None:
                found.append(f"gateResults[{index}] is of a command, and does not say which")
            if self.status == "completed" and gate.failed:
                found.append(f"the status is completed, and gateResults[{index}] did not pass")
        return tuple(Diagnostic(code="va-evidence-weak", message=message) for message in found)
