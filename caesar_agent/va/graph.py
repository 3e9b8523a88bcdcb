"""Task units that depend on each other: what is wrong with them, who is next; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from caesar_agent.console import one_line
from caesar_agent.va.errors import TaskGraphError, UnresolvedInputError
from caesar_agent.va.evidence import Evidence
from caesar_agent.va.task_unit import InputRef, TaskUnit


def check_graph(units: Iterable[TaskUnit], *, done: Iterable[Evidence] = ()) -> dict[str, TaskUnit]:
    """Refuse what cannot be worked through; return the units by id, in their order.

    Args:
        units: what is to be done.
        done: evidence of other units that were worked on before.

    Raises:
        TaskGraphError: two units have one id; one depends on a unit that is not there, on
            itself, or in a circle; an input refers to a unit that is not in
            ``dependsOn``, or to an output that is not in that unit's contract.
    """
    before = evidence_by_id(done)
    by_id: dict[str, TaskUnit] = {}
    for unit in units:
        if unit.id in by_id:
            raise TaskGraphError(task_id=unit.id, problem="two units have this id; ids are unique")
        by_id[unit.id] = unit
    for unit in by_id.values():
        for other in unit.depends_on:
            if other not in by_id and other not in before:
                raise TaskGraphError(
                    task_id=unit.id,
                    problem=f"depends on {_name(other)}, which is none of the units: "
                    f"{_names({**by_id, **before})}",
                )
        for name, reference in unit.references.items():
            _check_reference(unit, name, reference, by_id)
    _check_cycles(by_id)
    return by_id


def evidence_by_id(done: Iterable[Evidence]) -> dict[str, Evidence]:
    """Return the evidence of each unit, by its id; of several about one unit the last."""
    return {evidence.task_id: evidence for evidence in done}


def _check_reference(
    unit: TaskUnit, name: str, reference: InputRef, by_id: Mapping[str, TaskUnit]
) -> None:
    source = reference.from_task
    if source not in unit.depends_on:
        raise TaskGraphError(
            task_id=unit.id,
            problem=f"the input {_name(name)} is an output of {_name(source)}, which is not in "
            f"dependsOn: {_names(unit.depends_on)}",
        )
    promised = by_id[source].promised if source in by_id else ()
    if promised and reference.output_key not in promised:
        raise TaskGraphError(
            task_id=unit.id,
            problem=f"the input {_name(name)} is the output {_name(reference.output_key)} of "
            f"{_name(source)}, whose contract promises {_names(promised)}",
        )


def _check_cycles(by_id: Mapping[str, TaskUnit]) -> None:
    """Take away what depends on nothing that is left, until nothing is left; O(n + m)."""
    waiting = {unit.id: by_id.keys() & unit.depends_on for unit in by_id.values()}
    needed_by: dict[str, list[str]] = {}
    for unit_id, others in waiting.items():
        for other in others:
            needed_by.setdefault(other, []).append(unit_id)
    free = [unit_id for unit_id, others in waiting.items() if not others]
    while free:
        unit_id = free.pop()
        del waiting[unit_id]
        for other in needed_by.get(unit_id, ()):
            waiting[other].discard(unit_id)
            if not waiting[other]:
                free.append(other)
    if not waiting:
        return
    # Whatever is left waits for something that is left, so this walk comes round.
    path = [next(iter(waiting))]
    seen = {path[0]: 0}
    while True:
        path.append(next(other for other in by_id[path[-1]].depends_on if other in waiting))
        if path[-1] in seen:
            cycle = tuple(path[seen[path[-1]] :])
            break
        seen[path[-1]] = len(path) - 1
    told = " -> ".join(one_line(step, limit=60) for step in cycle)
    raise TaskGraphError(task_id=cycle[0], problem=f"it waits for itself: {told}", cycle=cycle)


class ReadyQueue:
    """Gives units in the order in which they are dispatched; n units cost O(n log n) in all.

    Of those whose dependencies are completed the most urgent is the next, and of equals the
    one that came first.

    Args:
        units: what has not been dispatched yet.
        completed: ids of the units that are completed.
    """

    def __init__(self, units: Iterable[TaskUnit], completed: Iterable[str] = ()) -> None:
        self._completed = set(completed)
        self._ready: list[tuple[str, int, TaskUnit]] = []
        self._missing: dict[int, int] = {}
        self._dependents: dict[str, list[tuple[int, TaskUnit]]] = {}
        for place, unit in enumerate(units):
            missing = set(unit.depends_on) - self._completed
            if missing:
                self._missing[place] = len(missing)
                for other in missing:
                    self._dependents.setdefault(other, []).append((place, unit))
            else:
                self._ready.append((unit.priority, place, unit))
        heapify(self._ready)

    def pop(self) -> TaskUnit | None:
        """Return the next unit, once; None when none is ready."""
        return heappop(self._ready)[2] if self._ready else None

    def complete(self, ident: str) -> None:
        """Take note that a unit is completed, so that others may be ready."""
        if ident in self._completed:
            return
        self._completed.add(ident)
        for place, unit in self._dependents.pop(ident, ()):
            self._missing[place] -= 1
            if not self._missing[place]:
                heappush(self._ready, (unit.priority, place, unit))


def dispatch_order(units: Iterable[TaskUnit], *, done: Iterable[Evidence] = ()) -> tuple[str, ...]:
    """Return the ids in the order in which they are dispatched when each completes.

    Args:
        units: what is to be done.
        done: evidence of units that were worked on before, whatever became of them.

    Raises:
        TaskGraphError: as ``check_graph``.
    """
    before = evidence_by_id(done)
    waiting = check_graph(units, done=before.values())
    known = before.keys() - waiting.keys()
    queue = ReadyQueue(waiting.values(), known)
    order: list[str] = []
    while (following := queue.pop()) is not None:
        order.append(following.id)
        queue.complete(following.id)
    return tuple(order)


def resolve_inputs(unit: TaskUnit, evidence: Mapping[str, Evidence]) -> TaskUnit:
    """Put the outputs of other units where inputs refer to them.

    Args:
        unit: whose dependencies are completed.
        evidence: of each of them, by id.

    Raises:
        UnresolvedInputError: an output was not handed over.
    """
    if not unit.references:
        return unit
    inputs = dict(unit.inputs or {})
    for name, reference in unit.references.items():
        outputs = evidence[reference.from_task].outputs or {}
        if reference.output_key not in outputs:
            raise UnresolvedInputError(
                task_id=unit.id,
                name=name,
                from_task=reference.from_task,
                output_key=reference.output_key,
                found=tuple(sorted(outputs)),
            )
        inputs[name] = outputs[reference.output_key]
    return unit.model_copy(update={"inputs": inputs})


def _name(text: str) -> str:
    return repr(one_line(text, limit=60))


def _names(ids: Iterable[str] | Sequence[str]) -> str:
    shown = [one_line(item, limit=60) for item in ids]
    more = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
    return (", ".join(shown[:10]) + more) or "none"
