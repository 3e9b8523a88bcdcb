"""What ``dispatch`` is given: task units in any form, and what of them cannot be delegated."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from caesar_agent.console import one_line
from caesar_agent.documents.decoding import decode
from caesar_agent.errors import CaesarError, DocumentError
from caesar_agent.task_directory import MAX_DOCUMENT_BYTES
from caesar_agent.va.conversion import TASK_UNIT
from caesar_agent.va.errors import TaskGraphError
from caesar_agent.va.message import DispatchPayload, ProtocolMessage
from caesar_agent.va.task_unit import TaskUnit
from pytest_caesar.agents.durations import MAX_DEADLINE_MS
from pytest_caesar.runs.errors import DelegationError

UnitLike: TypeAlias = TaskUnit | Mapping[str, Any] | ProtocolMessage
"""A task unit, the JSON of one, or a message that dispatches one."""


def task_units(units: object, correlation_ids: dict[str, str]) -> Iterator[TaskUnit]:
    """Yield task units; note the correlation ids that messages give for them.

    Raises:
        DelegationError: something is no task unit.
        DocumentError: something is the JSON of none.
    """
    if isinstance(units, str) or not isinstance(units, Iterable):
        raise _no_unit(units)
    for unit in units:
        if isinstance(unit, TaskUnit):
            yield unit
        elif isinstance(unit, Mapping):
            yield TaskUnit.from_value(dict(unit))
        elif isinstance(unit, ProtocolMessage) and isinstance(unit.payload, DispatchPayload):
            correlation_ids[unit.payload.task.id] = unit.correlation_id
            yield unit.payload.task
        else:
            raise _no_unit(unit)


def _no_unit(given: object) -> DelegationError:
    return DelegationError(
        problem=f"dispatch() was given {one_line(repr(given), limit=80)}: expected a TaskUnit, "
        "the JSON of one as a mapping, a message that dispatches one, or several of them"
    )


def check_unit(unit: TaskUnit) -> None:
    """Refuse a unit that the schema allows and no task can say.

    Raises:
        TaskGraphError: it has no objective, or a timeout beyond what can be kept.
    """
    if not unit.objective.strip():
        problem = "the objective is empty: say in a sentence what the agent is to do"
        raise TaskGraphError(task_id=unit.id, problem=problem)
    if unit.timeout and unit.timeout > MAX_DEADLINE_MS:
        problem = f"the timeout is {unit.timeout} ms: at most {MAX_DEADLINE_MS} can be kept"
        raise TaskGraphError(task_id=unit.id, problem=problem)


def check_ids(name: str, given: object, by_id: Mapping[str, TaskUnit]) -> None:
    """Refuse a mapping by id that names what is none of the units.

    Raises:
        TaskGraphError: on the first of them.
    """
    unknown = sorted(set(given) - set(by_id)) if isinstance(given, Mapping) else []
    if unknown:
        raise TaskGraphError(
            task_id=unknown[0],
            problem=f"{name} names it, and it is none of the units: {', '.join(by_id)}",
        )


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
        return (
            f"task {one_line(self.task_id, limit=60)!r}: it cannot be handed over: {self.problem}"
        )


def check_deliverable(unit: TaskUnit) -> None:
    """Refuse a unit that makes a task which nobody can read; other agents may have made it so.

    Raises:
        UndeliverableError: it is nested too deep, or too large.
    """
    text = json.dumps({TASK_UNIT: unit.dump()}, indent=2)
    # What is long stands in the task twice: in the unit, and where the task tells it.
    if 2 * len(text) > MAX_DOCUMENT_BYTES:
        problem = f"a task of more than {MAX_DOCUMENT_BYTES} bytes is not read"
        raise UndeliverableError(task_id=unit.id, problem=problem)
    try:
        decode(text)
    except DocumentError as error:
        raise UndeliverableError(task_id=unit.id, problem=error.problem) from None
