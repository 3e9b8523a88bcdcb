"""Task units handed to agents: in the order of what they need, with retries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from caesar_agent.documents.decoding import decode
from caesar_agent.errors import CaesarError, DocumentError
from caesar_agent.task_directory import MAX_DOCUMENT_BYTES
from caesar_agent.terminal import one_line
from caesar_agent.va.conversion import TASK_UNIT, task_fields
from caesar_agent.va.errors import TaskGraphError, UnresolvedInputError
from caesar_agent.va.evidence import BlockReason, Evidence
from caesar_agent.va.graph import check_graph, next_ready, resolve_inputs
from caesar_agent.va.lifecycle import TaskLifecycle
from caesar_agent.va.task_unit import Pitfall, TaskContext, TaskUnit
from pytest_caesar.orchestrator.plan import DEFAULT_TIMEOUT, MAX_DEADLINE_MS, DelegationError
from pytest_caesar.va.conversation import ORCHESTRATOR, Messages, advance_with, conversation_of
from pytest_caesar.va.dispatched import Dispatched, DispatchedUnits
from pytest_caesar.va.evidence import evidence_of, pitfall_of
from pytest_caesar.va.gates import Gate, GateLike, as_gates, criteria_gates

if TYPE_CHECKING:
    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.orchestrator.orchestrator import Orchestrator
    from pytest_caesar.orchestrator.run import Run

Agent: TypeAlias = "AgentTarget | str | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wishes:
    agent: Agent | Mapping[str, Agent]
    gates: Mapping[str, tuple[Gate, ...]]
    retries: int
    timeout: float
    others: Mapping[str, Any]


def dispatch(
    orchestrator: Orchestrator,
    units: TaskUnit | Mapping[str, Any] | Iterable[TaskUnit | Mapping[str, Any]],
    *,
    agent: Agent | Mapping[str, Agent] = None,
    gates: Iterable[GateLike] | Mapping[str, Iterable[GateLike]] = (),
    retries: int = 0,
    timeout: float = DEFAULT_TIMEOUT,
    **wishes: Any,
) -> Dispatched | DispatchedUnits:
    """Hand task units to agents, one at a time, and wait for all of them.

    Whatever can be refused is refused before the first agent starts. A unit is
    dispatched when all that it depends on is completed, of several the most urgent
    first; what depends on something that is not completed is stopped.

    Args:
        orchestrator: who delegates.
        units: one unit, or several; a mapping is taken as the JSON of a unit.
        agent: who works, for all units or by id; as for ``Orchestrator.delegate``.
        gates: asked after each unit, or by id, besides criteria that are commands.
        retries: attempts after one that failed, at most, for each unit; each is told
            how the earlier ones failed.
        timeout: seconds for units without a timeout of their own.
        wishes: whatever else ``Orchestrator.delegate`` takes, for all units.

    Returns:
        What became of it, for one unit; else of all of them.

    Raises:
        TaskGraphError: the units do not fit together, or one cannot be delegated.
        GateError: a gate cannot be asked as it is given.
        CaesarError: as ``Orchestrator.delegate``.
    """
    alone = isinstance(units, TaskUnit | Mapping)
    several: Iterable[Any] = [units] if alone else units
    by_id = check_graph(
        unit if isinstance(unit, TaskUnit) else TaskUnit.from_value(dict(unit)) for unit in several
    )
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise DelegationError(problem=f"retries is {retries!r}: expected a number of at least 0")
    _check_ids("agent", agent, by_id)
    _check_ids("gates", gates, by_id)
    for unit in by_id.values():
        _check_unit(unit)
    asked = _Wishes(
        agent=agent,
        gates={unit.id: _gates_of(unit, gates) for unit in by_id.values()},
        retries=retries,
        timeout=timeout,
        others=wishes,
    )
    done = _work_through(orchestrator, by_id, asked)
    return next(iter(done)) if alone else done


def _work_through(
    orchestrator: Orchestrator, by_id: Mapping[str, TaskUnit], wishes: _Wishes
) -> DispatchedUnits:
    waiting = dict(by_id)
    done: dict[str, Dispatched] = {}
    stopped: dict[str, Dispatched] = {}
    while True:
        completed = {task_id for task_id, item in done.items() if item.completed}
        unit = next_ready(waiting.values(), completed)
        if unit is None:
            break
        del waiting[unit.id]
        try:
            resolved = resolve_inputs(unit, {key: item.evidence for key, item in done.items()})
            check_deliverable(resolved)
        except (UnresolvedInputError, UndeliverableError) as error:
            stopped[unit.id] = _stopped(orchestrator, unit, str(error))
            continue
        done[unit.id] = _attempt(orchestrator, resolved, wishes)
    for unit in _in_order_of_need(waiting):
        cause = next(other for other in unit.depends_on if other not in completed)
        how = _ENDS[done[cause].state] if cause in done else "was not dispatched"
        reason = f"it depends on {cause}, which {how}"
        stopped[unit.id] = _stopped(orchestrator, unit, reason)
    return DispatchedUnits((*done, *stopped), {**done, **stopped})


_ENDS = {"failed": "failed", "blocked": "is blocked", "cancelled": "was cancelled"}


class UndeliverableError(CaesarError):
    """A task unit cannot be written into a task that agents can read.

    Attributes:
        task_id: the unit.
        problem: what is too much.
    """

    task_id: str
    problem: str

    def message(self) -> str:
        """Name the unit and the problem."""
        return f"task {one_line(self.task_id, limit=60)!r}: its inputs cannot be handed over: {self.problem}"


def check_deliverable(unit: TaskUnit) -> None:
    """Refuse a unit whose inputs, which other agents wrote, make a task that nobody can read.

    Raises:
        UndeliverableError: they are nested too deep, or too large.
    """
    if not unit.inputs:
        return
    text = json.dumps({TASK_UNIT: unit.dump()}, indent=2)
    # They stand in the task twice: in the unit, and in the context that tells them.
    if 2 * len(text) > MAX_DOCUMENT_BYTES:
        problem = f"a task of more than {MAX_DOCUMENT_BYTES} bytes is not read"
        raise UndeliverableError(task_id=unit.id, problem=problem)
    try:
        decode(text)
    except DocumentError as error:
        raise UndeliverableError(task_id=unit.id, problem=error.problem) from None


def _attempt(orchestrator: Orchestrator, unit: TaskUnit, wishes: _Wishes) -> Dispatched:
    """Dispatch a unit until it does not fail, or no retry is left."""
    runs: list[Run] = []
    messages: list[Any] = []
    lifecycle: TaskLifecycle | None = None
    while True:
        run = _delegate(orchestrator, unit, wishes)
        evidence = evidence_of(run)
        lifecycle = advance_with(lifecycle, run, evidence)
        runs.append(run)
        messages += conversation_of(run, evidence=evidence)
        if lifecycle.state != "failed" or len(runs) > wishes.retries:
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


def _delegate(orchestrator: Orchestrator, unit: TaskUnit, wishes: _Wishes) -> Run:
    fields = task_fields(unit)
    agent = wishes.agent.get(unit.id) if isinstance(wishes.agent, Mapping) else wishes.agent
    return orchestrator.delegate(
        fields.objective,
        agent=agent,
        context=fields.context,
        constraints=fields.constraints,
        acceptance_criteria=fields.acceptance_criteria,
        timeout=fields.deadline_ms / 1000 if fields.deadline_ms else wishes.timeout,
        gates=wishes.gates[unit.id],
        promised=unit.promised,
        task_fields={TASK_UNIT: unit.dump()},
        **wishes.others,
    )


def _warned(unit: TaskUnit, pitfall: Pitfall) -> TaskUnit:
    context = unit.context or TaskContext()
    pitfalls = (*(context.pitfalls or ()), pitfall)
    return unit.model_copy(update={"context": context.model_copy(update={"pitfalls": pitfalls})})


def _stopped(orchestrator: Orchestrator, unit: TaskUnit, reason: str) -> Dispatched:
    """Return a unit that was never dispatched, and why."""
    lifecycle = TaskLifecycle.begin(unit.id, correlation_id=orchestrator.new_id())
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
    left = dict(waiting)
    free = {other for unit in left.values() for other in unit.depends_on if other not in left}
    while left:
        unit = next_ready(left.values(), free)
        assert unit is not None
        free.add(unit.id)
        yield left.pop(unit.id)


def _gates_of(
    unit: TaskUnit, gates: Iterable[GateLike] | Mapping[str, Iterable[GateLike]]
) -> tuple[Gate, ...]:
    given = gates.get(unit.id, ()) if isinstance(gates, Mapping) else gates
    made = as_gates(given if isinstance(given, str) else tuple(given))
    return as_gates((*made, *criteria_gates(unit.acceptance_criteria, gates=made)))


def _check_unit(unit: TaskUnit) -> None:
    if not unit.objective.strip():
        problem = "the objective is empty: say in a sentence what the agent is to do"
        raise TaskGraphError(task_id=unit.id, problem=problem)
    if unit.timeout and unit.timeout > MAX_DEADLINE_MS:
        problem = f"the timeout is {unit.timeout} ms: at most {MAX_DEADLINE_MS} can be kept"
        raise TaskGraphError(task_id=unit.id, problem=problem)


def _check_ids(name: str, given: object, by_id: Mapping[str, TaskUnit]) -> None:
    unknown = sorted(set(given) - set(by_id)) if isinstance(given, Mapping) else []
    if unknown:
        raise TaskGraphError(
            task_id=unknown[0],
            problem=f"{name} names it, and it is none of the units: {', '.join(by_id)}",
        )
