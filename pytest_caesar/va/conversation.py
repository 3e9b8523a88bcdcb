"""From a run to what orchestrator and agent said to each other, and to its execution; pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from caesar_agent.documents.timestamps import format_timestamp, parse_timestamp
from caesar_agent.va.conversion import as_date_time, progress_message, unit_of
from caesar_agent.va.evidence import Evidence
from caesar_agent.va.lifecycle import TaskLifecycle, TaskState
from caesar_agent.va.message import (
    AcceptedPayload,
    AnyPayload,
    BlockedPayload,
    CancelPayload,
    CompletedPayload,
    DispatchPayload,
    FailedPayload,
    ProtocolMessage,
)
from pytest_caesar.va.evidence import evidence_of

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run

ORCHESTRATOR = "orchestrator"
"""Who says dispatch and cancel. Source: message schema, ``sourceId``."""


class Messages(tuple[ProtocolMessage, ...]):
    """Messages in the order in which they are said.

    A type of its own, so that a snapshot of it is a ``.messages.json`` file.
    """

    __slots__ = ()
    caesar_snapshot_kind = "messages"

    def of_type(self, name: str) -> Messages:
        """Return the messages of one type, in order."""
        return Messages(message for message in self if message.type == name)


def conversation_of(
    run: Run, *, evidence: Evidence | None = None, correlation_id: str | None = None
) -> Messages:
    """Tell a run as messages: dispatch, accepted, progress…, then how it ended.

    It ends with completed, failed or blocked, or with cancel when the orchestrator took
    the task back. Lost are the questions and answers beyond what their
    events tell, and what ``evidence_of`` and ``progress_message`` name.

    Args:
        run: the run.
        evidence: as ``evidence_of`` gives it; made when None.
        correlation_id: ties the messages together; the id of the task of the run by
            default, since every attempt has one of its own.
    """
    unit = unit_of(run.task)
    evidence = evidence or evidence_of(run)
    agent, correlation_id = run.task.agent, correlation_id or run.task.id
    begun, ended = times_of(run)

    def carrying(payload: AnyPayload, at: datetime, source: str) -> ProtocolMessage:
        return ProtocolMessage.carrying(
            payload,
            at=format_timestamp(at),
            correlation_id=correlation_id,
            source_id=source,
        )

    messages = [
        carrying(DispatchPayload(task=unit), _instant(run.task.created_at), ORCHESTRATOR),
        carrying(AcceptedPayload(task_id=unit.id), begun, agent),
    ]
    for event in run.events:
        told = progress_message(
            event, correlation_id=correlation_id, task_id=unit.id, agent_id=agent
        )
        if told is not None:
            messages.append(told)
    # What the harness tells of an end may be younger than what the agent told of its own.
    told_last = _instant(messages[-1].timestamp)
    if told_last <= _latest(run):
        ended = max(ended, told_last)
    if run.outcome.status == "cancelled":
        cancel = CancelPayload(task_id=unit.id, reason="cancelled by the orchestrator")
        return Messages((*messages, carrying(cancel, ended, ORCHESTRATOR)))
    last: dict[str, Callable[..., AnyPayload]] = {
        "completed": CompletedPayload,
        "failed": FailedPayload,
        "blocked": BlockedPayload,
    }
    return Messages((*messages, carrying(last[evidence.status](evidence=evidence), ended, agent)))


def advance_with(
    lifecycle: TaskLifecycle | None, run: Run, evidence: Evidence, *, correlation_id: str
) -> TaskLifecycle:
    """Return a task's lifecycle after a run: the first attempt, or a retry of a failed one.

    Raises:
        IllegalTransitionError: the latest attempt is not over, or did not fail.
    """
    begun, ended = times_of(run)
    if lifecycle is None:
        lifecycle = TaskLifecycle.begin(
            evidence.task_id, correlation_id=correlation_id, agent_id=run.task.agent
        ).advance("running", at=begun, actor=ORCHESTRATOR)
    else:
        reason = f"attempt {lifecycle.current.attempt + 1}"
        lifecycle = lifecycle.advance(
            "running", at=begun, actor=ORCHESTRATOR, reason=reason, correlation_id=correlation_id
        )
    cancelled = run.outcome.status == "cancelled"
    state: TaskState = "cancelled" if cancelled else evidence.status
    return lifecycle.advance(
        state,
        at=ended,
        actor=ORCHESTRATOR if cancelled else run.task.agent,
        reason=_reason(evidence),
    )


def times_of(run: Run) -> tuple[datetime, datetime]:
    """Return when the agent started and ended, as the events say where they can be believed.

    Else the time of the task, and what the process took.
    """
    created = _instant(run.task.created_at)
    begun = max([created, *_times(run, "started")[:1]])
    ended = begun + timedelta(milliseconds=run.outcome.duration_ms)
    return begun, min([time for time in _times(run, "finished") if time >= begun], default=ended)


def _times(run: Run, kind: str) -> list[datetime]:
    """Return the times of events of a kind; an agent may have written any, in any year."""
    latest = _latest(run)
    times = [_instant(event.at) for event in run.events.of_type(kind)]
    return [time for time in times if time <= latest]


def _latest(run: Run) -> datetime:
    """Return until when the times in the events of a task are believed."""
    return _instant(run.task.created_at) + timedelta(milliseconds=run.task.deadline_ms, days=1)


def _instant(at: str) -> datetime:
    return parse_timestamp(as_date_time(at))


def _reason(evidence: Evidence) -> str | None:
    if evidence.failure_detail:
        return evidence.failure_detail.hypothesis
    return evidence.block_reason.description if evidence.block_reason else None
