"""The states of a task, and the executions that go through them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Final, Literal, get_args

from pydantic import Field

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.timestamps import format_timestamp, parse_timestamp, utc_now
from caesar_agent.va.base import ClosedDocument, ClosedPart
from caesar_agent.va.errors import IllegalTransitionError
from caesar_agent.va.fields import Array, DateTime, Maybe, Ordinal

TaskState = Literal["pending", "running", "completed", "failed", "blocked", "cancelled"]

TRANSITIONS: Final[Mapping[TaskState, tuple[TaskState, ...]]] = {
    "pending": ("running", "cancelled"),
    "running": ("completed", "failed", "blocked", "cancelled"),
    "blocked": ("running", "failed", "cancelled"),
    "completed": (),
    "failed": ("running",),
    "cancelled": (),
}
"""Where a task may go from each state. Source: lifecycle schema, ``ValidTransitions``."""

_ENDS: Final = frozenset({"completed", "failed", "cancelled"})


def check_transition(task_id: str, from_state: TaskState, to_state: TaskState) -> None:
    """Refuse a transition that is not listed.

    Raises:
        IllegalTransitionError: with both states and those that would be allowed.
    """
    allowed = TRANSITIONS[from_state]
    if to_state not in allowed:
        raise IllegalTransitionError(
            task_id=task_id, from_state=from_state, to_state=to_state, allowed=allowed
        )


class StateTransition(ClosedPart):
    """One step from state to state.

    Attributes:
        from_state: state before; ``from`` in JSON.
        to_state: state after; ``to`` in JSON.
        timestamp: when it happened, RFC 3339.
        reason: why; absent when nobody says.
        actor: who did it: an agent's id, ``orchestrator`` or ``human``; absent when
            nobody says.

    Source: va-agent-protocol 0.1.0, lifecycle schema, ``StateTransition``.
    """

    from_state: TaskState = Field(alias="from")
    to_state: TaskState = Field(alias="to")
    timestamp: DateTime
    reason: Maybe[str] = None
    actor: Maybe[str] = None


class TaskExecution(ClosedDocument):
    """One attempt at a task.

    Attributes:
        task_id: the task.
        correlation_id: identifier of this attempt alone.
        agent_id: who does it; absent when nobody was chosen yet.
        current_state: where it stands.
        attempt: number of the attempt, from 1; default 1.
        transitions: every step so far, in order.
        started_at: when it first ran, RFC 3339; absent before.
        completed_at: when it ended, RFC 3339; absent before.

    Source: va-agent-protocol 0.1.0, lifecycle schema, ``TaskExecution``.
    """

    kind: ClassVar[str] = "va-lifecycle"
    version: ClassVar[str] = ""

    task_id: str
    correlation_id: str
    agent_id: Maybe[str] = None
    current_state: TaskState
    attempt: Ordinal = 1
    transitions: Array[StateTransition]
    started_at: Maybe[DateTime] = None
    completed_at: Maybe[DateTime] = None

    @classmethod
    def begin(
        cls, task_id: str, *, correlation_id: str | None = None, agent_id: str | None = None
    ) -> TaskExecution:
        """Return the first attempt at a task, pending; its correlation id is new by default."""
        return cls(
            task_id=task_id,
            correlation_id=correlation_id or _new_id(),
            agent_id=agent_id,
            current_state="pending",
            transitions=(),
        )

    def advance(
        self,
        to: TaskState,
        *,
        at: datetime | None = None,
        reason: str | None = None,
        actor: str | None = None,
        correlation_id: str | None = None,
    ) -> TaskExecution:
        """Return the execution in its next state.

        From ``failed`` to ``running`` that is another execution: the next attempt, with
        a history and a correlation id of its own.

        Args:
            to: the next state.
            at: when, with an offset; now by default.
            reason: why.
            actor: who did it.
            correlation_id: of a next attempt; new by default.

        Raises:
            IllegalTransitionError: the transition is not listed.
            ValueError: ``correlation_id`` is this execution's own, or is given although
                no attempt begins.
        """
        check_transition(self.task_id, self.current_state, to)
        moment = format_timestamp(at or utc_now())
        step = StateTransition(
            from_state=self.current_state,
            to_state=to,
            timestamp=moment,
            reason=reason,
            actor=actor,
        )
        if self.current_state == "failed":
            if correlation_id == self.correlation_id:
                raise ValueError(f"the correlation id {correlation_id!r} is the failed attempt's")
            return TaskExecution(
                task_id=self.task_id,
                correlation_id=correlation_id or _new_id(),
                agent_id=self.agent_id,
                current_state=to,
                attempt=self.attempt + 1,
                transitions=(step,),
                started_at=moment,
            )
        if correlation_id is not None:
            raise ValueError("an execution keeps its correlation id: only a retry has a new one")
        return self.model_copy(
            update={
                "current_state": to,
                "transitions": (*self.transitions, step),
                "started_at": self.started_at or (moment if to == "running" else None),
                "completed_at": moment if to in _ENDS else None,
            }
        )

    def remarks(self) -> tuple[Diagnostic, ...]:
        """Name steps that are not allowed or do not join, and a state that no step leads to."""
        found = []
        before: StateTransition | None = None
        for index, step in enumerate(self.transitions):
            place = f"transitions[{index}]"
            if step.to_state not in TRANSITIONS[step.from_state]:
                found.append(f"{place} goes from {step.from_state} to {step.to_state}")
            if before and step.from_state != before.to_state:
                found.append(f"{place} starts at {step.from_state}, not at {before.to_state}")
            elif before and step.from_state == "failed":
                found.append(f"{place} is a retry, which is an execution of its own")
            if before and parse_timestamp(step.timestamp) < parse_timestamp(before.timestamp):
                found.append(f"{place} is older than the step before it")
            before = step
        if before and before.to_state != self.current_state:
            found.append(
                f"currentState is {self.current_state}, and the last step led to {before.to_state}"
            )
        elif not before and self.current_state != "pending":
            found.append(f"currentState is {self.current_state}, and no step leads to it")
        return tuple(Diagnostic(code="va-history", message=message) for message in found)


@dataclass(frozen=True, slots=True)
class TaskLifecycle:
    """A task and all attempts at it.

    Attributes:
        task_id: the task.
        executions: the attempts in order, at least one.
    """

    task_id: str
    executions: tuple[TaskExecution, ...]

    @classmethod
    def begin(
        cls, task_id: str, *, correlation_id: str | None = None, agent_id: str | None = None
    ) -> TaskLifecycle:
        """Return a task that is pending; as ``TaskExecution.begin``."""
        execution = TaskExecution.begin(task_id, correlation_id=correlation_id, agent_id=agent_id)
        return cls(task_id, (execution,))

    @property
    def current(self) -> TaskExecution:
        """The latest attempt."""
        return self.executions[-1]

    @property
    def state(self) -> TaskState:
        """Where the task stands."""
        return self.current.current_state

    def advance(
        self,
        to: TaskState,
        *,
        at: datetime | None = None,
        reason: str | None = None,
        actor: str | None = None,
        correlation_id: str | None = None,
    ) -> TaskLifecycle:
        """Return the task in its next state; as ``TaskExecution.advance``.

        Raises:
            IllegalTransitionError: the transition is not listed.
            ValueError: ``correlation_id`` belongs to an earlier attempt, or is given
                although no attempt begins.
        """
        if correlation_id in {execution.correlation_id for execution in self.executions}:
            raise ValueError(f"the correlation id {correlation_id!r} is an earlier attempt's")
        following = self.current.advance(
            to, at=at, reason=reason, actor=actor, correlation_id=correlation_id
        )
        kept = self.executions if self.state == "failed" else self.executions[:-1]
        return replace(self, executions=(*kept, following))


def _new_id() -> str:
    return str(uuid.uuid4())


assert set(TRANSITIONS) == set(get_args(TaskState))
