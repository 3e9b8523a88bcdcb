"""Task units handed to agents: in the order of what they need, with retries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from caesar_agent.va.conversion import TASK_UNIT, task_fields
from caesar_agent.va.errors import TaskGraphError, UnresolvedInputError
from caesar_agent.va.evidence import BlockReason, Evidence
from caesar_agent.va.graph import check_graph, next_ready, resolve_inputs
from caesar_agent.va.lifecycle import TaskLifecycle, TaskState
from caesar_agent.va.task_unit import Pitfall, TaskContext, TaskUnit
from pytest_caesar.orchestrator.plan import DEFAULT_TIMEOUT, MAX_DEADLINE_MS, DelegationError
from pytest_caesar.va.conversation import ORCHESTRATOR, Messages, advance_with, conversation_of
from pytest_caesar.va.evidence import evidence_of, pitfall_of
from pytest_caesar.va.gates import Gate, GateLike, as_gates, criteria_gates

if TYPE_CHECKING:
    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.orchestrator.orchestrator import Orchestrator
    from pytest_caesar.orchestrator.run import Run

Agent: TypeAlias = "AgentTarget | str | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """What became of one task unit.

    Attributes:
        unit: as it was last dispatched: references resolved, pitfalls added. As it was
            given when it never was.
        evidence: of the last attempt; ``blocked`` by a dependency when there was none.
        lifecycle: the attempts, each an execution.
        runs: one for each attempt, in order; empty when it was never dispatched.
        messages: what was said, in order, all attempts together.
    """

    unit: TaskUnit
    evidence: Evidence
    lifecycle: TaskLifecycle
    runs: tuple[Run, ...] = ()
    messages: Messages = field(default=Messages(), repr=False)

    @property
    def completed(self) -> bool:
        """The evidence says so."""
        return self.evidence.status == "completed"

    @property
    def state(self) -> TaskState:
        """Where the task stands."""
        return self.lifecycle.state

    @property
    def run(self) -> Run:
        """The run of the last attempt.

        Raises:
            LookupError: the unit was never dispatched; ``evidence`` says why.
        """
        if not self.runs:
            raise LookupError(f"{self.unit.id} was never dispatched: {_why(self.evidence)}")
        return self.runs[-1]

    def __repr__(self) -> str:
        attempts = len(self.runs)
        return (
            f"<Dispatched {self.unit.id}: {self.evidence.status}, {attempts} "
            f"attempt{'' if attempts == 1 else 's'}{_why(self.evidence, before=', ')}>"
        )


@dataclass(frozen=True, slots=True)
class DispatchedUnits:
    """What became of several task units; ``units["id"]`` is one of them.

    Attributes:
        order: ids in the order of dispatch; what was never dispatched stands last.
        by_id: each of them.
    """

    order: tuple[str, ...]
    by_id: Mapping[str, Dispatched]

    @property
    def completed(self) -> bool:
        """All of them are."""
        return all(unit.completed for unit in self)

    @property
    def evidence(self) -> dict[str, Evidence]:
        """The evidence of each, by id."""
        return {unit.unit.id: unit.evidence for unit in self}

    @property
    def messages(self) -> Messages:
        """What was said about all of them, in order."""
        return Messages(message for unit in self for message in unit.messages)

    def __getitem__(self, task_id: str) -> Dispatched:
        return self.by_id[task_id]

    def __iter__(self) -> Iterator[Dispatched]:
        return (self.by_id[task_id] for task_id in self.order)

    def __len__(self) -> int:
        return len(self.order)


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
        except UnresolvedInputError as error:
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


def _why(evidence: Evidence, *, before: str = "") -> str:
    if evidence.failure_detail:
        return before + evidence.failure_detail.hypothesis
    return before + evidence.block_reason.description if evidence.block_reason else ""
