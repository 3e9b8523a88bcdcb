"""``TaskUnit``: what is to be achieved, never how."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.va.base import ClosedDocument, ClosedPart
from caesar_agent.va.fields import Array, AtLeastOne, Maybe, Milliseconds

Priority = Literal["P0", "P1", "P2", "P3"]
FailureType = Literal["gate", "acceptance", "review", "timeout", "crash", "unknown"]


class InputRef(ClosedPart):
    """An input that is an output of another task, resolved before dispatch.

    Attributes:
        from_task: id of that task; must be in ``depends_on``.
        output_key: key in the ``outputs`` of its evidence.

    Source: va-agent-protocol 0.1.0, task-unit schema, ``InputRef``.
    """

    from_task: str
    output_key: str


class Pitfall(ClosedPart):
    """How an earlier attempt failed.

    Attributes:
        id: identifier of the pitfall.
        failure_type: what it failed at.
        attempted: what was tried.
        hypothesis: why it probably failed.
        missing_context: what was not known then; absent when nothing is said.

    Source: va-agent-protocol 0.1.0, task-unit schema, ``Pitfall``.
    """

    id: str
    failure_type: FailureType
    attempted: str
    hypothesis: str
    missing_context: Maybe[str] = None


class TaskContext(ClosedPart):
    """What the agent is given to know.

    Attributes:
        codebase_root: absolute path of the working directory; absent when nobody says.
        files: relevant files, relative to ``codebase_root``; absent when none are named.
        history: earlier decisions and notes; absent when there are none.
        pitfalls: how earlier attempts failed; absent when there were none.

    Source: va-agent-protocol 0.1.0, task-unit schema, ``TaskContext``.
    """

    codebase_root: Maybe[str] = None
    files: Maybe[Array[str]] = None
    history: Maybe[Array[str]] = None
    pitfalls: Maybe[Array[Pitfall]] = None


class OutputContract(ClosedPart):
    """What a task promises to hand over.

    Attributes:
        keys: keys of the ``outputs`` of its evidence; absent when none are promised.

    Source: va-agent-protocol 0.1.0, task-unit schema, ``outputContract``.
    """

    keys: Maybe[Array[str]] = None


def _reference(value: object) -> object:
    """Take whatever looks like a reference for one, also where a program wrote it."""
    if (
        isinstance(value, dict)
        and value.keys() == {"fromTask", "outputKey"}
        and all(isinstance(item, str) for item in value.values())
    ):
        return InputRef(from_task=value["fromTask"], output_key=value["outputKey"])
    return value


Input = Annotated[InputRef | Any, Field(union_mode="left_to_right"), BeforeValidator(_reference)]
"""A reference, or any JSON value; what could be either is a reference."""


class TaskUnit(ClosedDocument):
    """One unit of work.

    Attributes:
        id: identifier of the task.
        objective: what must be achieved.
        constraints: what must hold throughout; empty by default.
        acceptance_criteria: what must hold afterwards, at least one; each should be
            something that a machine can check.
        context: what the agent is given to know; absent when nothing is said.
        priority: P0 critical, P1 high (default), P2 medium, P3 nice to have.
        depends_on: ids of tasks that must complete before; empty by default.
        timeout: time the agent has, in milliseconds; 0 or absent for no limit.
        inputs: by name, any JSON value, or an ``InputRef``; absent when there are none.
        output_contract: what it promises to hand over; absent when nothing.
        metadata: whatever a program around it wants to keep; absent when nothing.

    Source: va-agent-protocol 0.1.0, task-unit schema.
    """

    kind: ClassVar[str] = "va-task-unit"
    version: ClassVar[str] = ""

    id: str
    objective: str
    constraints: Array[str] = ()
    acceptance_criteria: AtLeastOne[str]
    context: Maybe[TaskContext] = None
    priority: Priority = "P1"
    depends_on: Array[str] = ()
    timeout: Maybe[Milliseconds] = None
    inputs: Maybe[dict[str, Input]] = None
    output_contract: Maybe[OutputContract] = None
    metadata: Maybe[dict[str, Any]] = None

    @property
    def references(self) -> dict[str, InputRef]:
        """The inputs that are outputs of other tasks, by name."""
        return {
            name: value
            for name, value in (self.inputs or {}).items()
            if isinstance(value, InputRef)
        }

    @property
    def promised(self) -> tuple[str, ...]:
        """The keys that the output contract lists, each once."""
        keys = self.output_contract.keys if self.output_contract else None
        return tuple(dict.fromkeys(keys or ()))

    def remarks(self) -> tuple[Diagnostic, ...]:
        """Name inputs whose task is not in ``dependsOn``, and a task that waits for itself."""
        found = [
            f"inputs.{name} is an output of {reference.from_task!r}, which is not in dependsOn"
            for name, reference in self.references.items()
            if reference.from_task not in self.depends_on
        ]
        if self.id in self.depends_on:
            found.append("the task depends on itself")
        return tuple(Diagnostic(code="va-reference", message=message) for message in found)
