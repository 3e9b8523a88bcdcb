"""Task units handed to agents: in the order of what they need, with retries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from caesar_agent.va.conversion import TASK_UNIT, task_fields
from caesar_agent.va.errors import UnresolvedInputError
from caesar_agent.va.evidence import BlockReason, Evidence
from caesar_agent.va.graph import ReadyQueue, check_graph, evidence_by_id, resolve_inputs
from caesar_agent.va.lifecycle import TaskLifecycle
from caesar_agent.va.message import ProtocolMessage
from caesar_agent.va.task_unit import Pitfall, TaskContext, TaskUnit
from pytest_caesar.gates.gates import Gate, GateLike, as_gates, criteria_gates
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.va.conversation import ORCHESTRATOR, Messages, advance_with, conversation_of
from pytest_caesar.va.dispatched import Dispatched, DispatchedUnits
from pytest_caesar.va.evidence import evidence_of, pitfall_of
from pytest_caesar.va.given_units import (
    UndeliverableError,
    UnitLike,
    check_deliverable,
    check_ids,
    check_unit,
    task_units,
)

if TYPE_CHECKING:
    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.runs.run import Run

Agent: TypeAlias = "AgentTarget | str | None"


_OF_THE_UNIT = frozenset(
    {"objective", "context", "constraints", "acceptance_criteria", "promised", "task_fields"}
)
"""What ``Orchestrator.delegate`` takes, and each unit says for itself."""


class Delegates(Protocol):
    """Who delegates, as far as dispatching needs it: an ``Orchestrator``.

    Attributes:
        runs: every run so far, the last one last.
        clock: gives times in UTC.
        new_id: gives ids of tasks.
    """

    runs: list[Run]
    clock: Callable[[], datetime]
    new_id: Callable[[], str]

    @property
    def check(self) -> Callable[..., object]:
        """Refuse what cannot be delegated; nothing is written."""

    @property
    def delegate(self) -> Callable[..., Run]:
        """Give one task to one agent and wait for its run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    agent: Agent | Mapping[str, Agent]
    gates: Mapping[str, tuple[Gate, ...]]
    before: Mapping[str, Evidence]
    correlation_ids: Mapping[str, str]
    retries: int
    timeout: float | None
    others: Mapping[str, Any]


def dispatch(
    orchestrator: Delegates,
    units: UnitLike | Iterable[UnitLike],
    *,
    agent: Agent | Mapping[str, Agent] = None,
    gates: Iterable[GateLike] | Mapping[str, Iterable[GateLike]] = (),
    done: Iterable[Evidence] = (),
    retries: int = 0,
    timeout: float | None = None,
    **options: Any,
) -> Dispatched | DispatchedUnits:
    """Hand task units to agents, one at a time, and wait for all of them.

    Whatever can be refused is refused before the first agent starts. A unit is
    dispatched when all that it depends on is completed, of several the most urgent
    first; what depends on something that is not completed is stopped.

    Args:
        orchestrator: who delegates.
        units: one unit, or several; a mapping is taken as the JSON of a unit. A message
            that dispatches one gives the correlation id of its first attempt too.
        agent: who works, for all units or by id; as for ``Orchestrator.delegate``.
        gates: asked after each unit, or by id, besides criteria that are commands.
        done: evidence of units that were worked on before: these may depend on them, and
            take their outputs. What is dispatched again does not count.
        retries: attempts after one that failed, at most, for each unit; each is told
            how the earlier ones failed.
        timeout: seconds for units without a timeout of their own; as for
            ``Orchestrator.delegate``.
        options: whatever else ``Orchestrator.delegate`` takes, for all units.

    Returns:
        What became of it, for one unit; else of all of them.

    Raises:
        TaskGraphError: the units do not fit together, or one cannot be delegated.
        UndeliverableError: a unit is nested too deep, or too large, for a task.
        GateError: a gate cannot be asked as it is given.
        CaesarError: as ``Orchestrator.delegate``.
    """
    misplaced = sorted(_OF_THE_UNIT & options.keys())
    if misplaced:
        raise DelegationError(
            problem=f"{misplaced[0]} is what each unit says, not dispatch(): put it there"
        )
    alone = isinstance(units, TaskUnit | Mapping | ProtocolMessage)
    several: Iterable[Any] = [units] if alone else units
    before = evidence_by_id(done)
    correlation_ids: dict[str, str] = {}
    by_id = check_graph(task_units(several, correlation_ids), done=before.values())
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise DelegationError(problem=f"retries is {retries!r}: expected a number of at least 0")
    check_ids("agent", agent, by_id)
    check_ids("gates", gates, by_id)
    for unit in by_id.values():
        check_unit(unit)
        check_deliverable(unit)
    asked = _Options(
        agent=agent,
        gates={unit.id: _gates_of(unit, gates) for unit in by_id.values()},
        before={key: item for key, item in before.items() if key not in by_id},
        correlation_ids=correlation_ids,
        retries=retries,
        timeout=timeout,
        others=options,
    )
    for unit in by_id.values():
        orchestrator.check(**_delegation_of(unit, asked))
    dispatched = _work_through(orchestrator, by_id, asked)
    return next(iter(dispatched)) if alone else dispatched


def _work_through(
    orchestrator: Delegates, by_id: Mapping[str, TaskUnit], options: _Options
) -> DispatchedUnits:
    waiting = dict(by_id)
    done: dict[str, Dispatched] = {}
    stopped: dict[str, Dispatched] = {}
    evidence = dict(options.before)
    completed = {key for key, item in evidence.items() if item.status == "completed"}
    queue = ReadyQueue(waiting.values(), completed)
    while (unit := queue.pop()) is not None:
        del waiting[unit.id]
        try:
            resolved = resolve_inputs(unit, evidence)
            check_deliverable(resolved)
        except (UnresolvedInputError, UndeliverableError) as error:
            stopped[unit.id] = _stopped(orchestrator, unit, str(error), options)
            continue
        done[unit.id] = dispatched = _attempt(orchestrator, resolved, options)
        evidence[unit.id] = dispatched.evidence
        if dispatched.evidence.status == "completed":
            completed.add(unit.id)
            queue.complete(unit.id)
    for unit in _in_order_of_need(waiting):
        cause = next(other for other in unit.depends_on if other not in completed)
        state = done[cause].state if cause in done else None
        if cause in options.before:
            state = options.before[cause].status
        how = _ENDS[state] if state else "was not dispatched"
        reason = f"it depends on {cause}, which {how}"
        stopped[unit.id] = _stopped(orchestrator, unit, reason, options)
    return DispatchedUnits((*done, *stopped), {**done, **stopped})


_ENDS = {"failed": "failed", "blocked": "is blocked", "cancelled": "was cancelled"}


def _attempt(orchestrator: Delegates, unit: TaskUnit, options: _Options) -> Dispatched:
    """Dispatch a unit until it does not fail, or no retry is left."""
    runs: list[Run] = []
    messages: list[Any] = []
    lifecycle: TaskLifecycle | None = None
    while True:
        run = orchestrator.delegate(**_delegation_of(unit, options))
        evidence = evidence_of(run)
        correlation_id = run.task.id
        if unit.id in options.correlation_ids:
            given = options.correlation_ids[unit.id]
            correlation_id = f"{given}#{len(runs) + 1}" if runs else given
        lifecycle = advance_with(lifecycle, run, evidence, correlation_id=correlation_id)
        runs.append(run)
        messages += conversation_of(run, evidence=evidence, correlation_id=correlation_id)
        if lifecycle.state != "failed" or len(runs) > options.retries:
            return Dispatched(
                unit=unit,
                evidence=evidence,
                lifecycle=lifecycle,
                runs=tuple(runs),
                messages=Messages(messages),
            )
        # The test around this one has asked for another attempt; this one's gates are history.
        orchestrator.runs[-1] = runs[-1] = replace(run, retried=True)
        unit = _warned(unit, pitfall_of(evidence, attempt=len(runs)))


def _delegation_of(unit: TaskUnit, options: _Options) -> dict[str, Any]:
    """Return what ``Orchestrator.delegate`` is given for a unit."""
    fields = task_fields(unit)
    agent = options.agent.get(unit.id) if isinstance(options.agent, Mapping) else options.agent
    return {
        "objective": fields.objective,
        "agent": agent,
        "context": fields.context,
        "constraints": fields.constraints,
        "acceptance_criteria": fields.acceptance_criteria,
        "timeout": fields.deadline_ms / 1000 if fields.deadline_ms else options.timeout,
        "gates": options.gates[unit.id],
        "promised": unit.promised,
        "task_fields": {TASK_UNIT: unit.dump()},
        **options.others,
    }


def _warned(unit: TaskUnit, pitfall: Pitfall) -> TaskUnit:
    context = unit.context or TaskContext()
    pitfalls = (*(context.pitfalls or ()), pitfall)
    return unit.model_copy(update={"context": context.model_copy(update={"pitfalls": pitfalls})})


def _stopped(orchestrator: Delegates, unit: TaskUnit, reason: str, options: _Options) -> Dispatched:
    """Return a unit that was never dispatched, and why."""
    correlation_id = options.correlation_ids.get(unit.id) or orchestrator.new_id()
    lifecycle = TaskLifecycle.begin(unit.id, correlation_id=correlation_id)
    return Dispatched(
        unit=unit,
        evidence=Evidence(
            task_id=unit.id,
            status="blocked",
            block_reason=BlockReason(type="dependency", description=reason),
        ),
        lifecycle=lifecycle.advance(
            "cancelled", at=orchestrator.clock(), reason=reason, actor=ORCHESTRATOR
        ),
    )


def _in_order_of_need(waiting: Mapping[str, TaskUnit]) -> Iterator[TaskUnit]:
    """Return units that are stopped so that each stands behind what it depends on."""
    needed = {other for unit in waiting.values() for other in unit.depends_on}
    queue = ReadyQueue(waiting.values(), needed - waiting.keys())
    while (unit := queue.pop()) is not None:
        yield unit
        queue.complete(unit.id)


def _gates_of(
    unit: TaskUnit, gates: Iterable[GateLike] | Mapping[str, Iterable[GateLike]]
) -> tuple[Gate, ...]:
    given = gates.get(unit.id, ()) if isinstance(gates, Mapping) else gates
    made = as_gates(given if isinstance(given, str) else tuple(given))
    return as_gates((*made, *criteria_gates(unit.acceptance_criteria, gates=made)))
