"""va-agent-protocol as type checkers see it: checked by mypy, never run."""

from __future__ import annotations

from caesar_agent.va import (
    Evidence,
    GateResult,
    InputRef,
    ProgressPayload,
    ProtocolMessage,
    TaskExecution,
    TaskLifecycle,
    TaskState,
    TaskUnit,
)
from pytest_caesar import Orchestrator, Run
from pytest_caesar.va import (
    CommandGate,
    Dispatched,
    DispatchedUnits,
    Evaluation,
    Messages,
    ModelGate,
    conversation_of,
    evidence_of,
)


def units() -> TaskUnit:
    TaskUnit(id="a", objective="o")  # type: ignore[call-arg]
    TaskUnit(id="a", objective="o", acceptance_criteria=("c",), priority="P9")  # type: ignore[arg-type]
    return TaskUnit(
        id="a",
        objective="o",
        acceptance_criteria=("c",),
        priority="P0",
        depends_on=("b",),
        inputs={"n": InputRef(from_task="b", output_key="k"), "m": 3},
    )


def lifecycle() -> TaskState:
    task: TaskLifecycle = TaskLifecycle.begin("a").advance("running")
    task.advance("done")  # type: ignore[arg-type]
    execution: TaskExecution = task.current
    return execution.current_state


def judge(run: Run) -> Evaluation:
    return Evaluation(score=1, rationale=run.summary)


def dispatching(orchestrator: Orchestrator, unit: TaskUnit) -> Evidence:
    one: Dispatched = orchestrator.dispatch(unit, retries=1)
    several: DispatchedUnits = orchestrator.dispatch([unit], agent={"a": "fixer"})
    evidence: Evidence = several["a"].evidence
    run: Run = one.run
    gates: tuple[GateResult, ...] = run.gates
    first: ProtocolMessage = one.messages[0]
    if isinstance(first.payload, ProgressPayload):
        share: float | None = first.payload.completion_estimate
        assert share != len(gates)
    said: Messages = conversation_of(run, evidence=evidence)
    assert said.of_type("progress")
    return evidence_of(run)


def gating(orchestrator: Orchestrator) -> Run:
    return orchestrator.delegate(
        "Fix it",
        gates=[
            "pytest -q",
            ["ruff", "check"],
            CommandGate("mypy", timeout=30),
            ModelGate("j", judge, 0.5),
        ],
        promised=["url"],
    )
