"""From task units to tasks and back, and from events to messages; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timezone
from typing import Any, Final

from caesar_agent.console import printable
from caesar_agent.documents.event import Event
from caesar_agent.documents.task import Isolation, Mode, Task
from caesar_agent.documents.timestamps import format_timestamp, parse_timestamp
from caesar_agent.errors import DocumentError
from caesar_agent.va.message import LogLevel, ProgressLog, ProgressPayload, ProtocolMessage
from caesar_agent.va.task_unit import Pitfall, TaskContext, TaskUnit

TASK_UNIT: Final = "va_task_unit"
"""Field of ``task.json`` that holds the task unit, with its references resolved."""

DEFAULT_DEADLINE_MS: Final = 600_000
"""Milliseconds for a task unit without a timeout. Source: the reference, ``default_timeout``."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFields:
    """What a task unit says in the words of a task.

    Attributes:
        objective: the objective.
        context: files, notes, pitfalls, inputs and promised outputs, in Markdown; or "".
        constraints: the constraints.
        acceptance_criteria: the acceptance criteria.
        deadline_ms: the timeout in milliseconds, or None for the default deadline.
    """

    objective: str
    context: str
    constraints: tuple[str, ...]
    acceptance_criteria: tuple[str, ...]
    deadline_ms: int | None


def task_fields(unit: TaskUnit) -> TaskFields:
    """Say a task unit in the words of a task.

    Not said are ``priority`` and ``dependsOn``, which an orchestrator has acted on,
    ``context.codebaseRoot``, since the orchestrator decides on the workspace, and
    ``metadata``, which the protocol does not look into.
    """
    return TaskFields(
        objective=unit.objective,
        context="\n\n".join(_sections(unit)),
        constraints=unit.constraints,
        acceptance_criteria=unit.acceptance_criteria,
        deadline_ms=unit.timeout or None,
    )


def task_of(  # noqa: PLR0913 - the fields of a task, all by name
    unit: TaskUnit,
    *,
    id: str,  # noqa: A002 - the name in the contract
    created_at: str,
    agent: str,
    workspace: str,
    report_path: str,
    events_path: str,
    mode: Mode = "write",
    isolation: Isolation = "worktree",
    default_deadline_ms: int = DEFAULT_DEADLINE_MS,
) -> Task:
    """Make the task that hands a task unit to an agent.

    The words are those of ``task_fields``, which names what they do not say. Nothing
    is lost all the same: the unit stands in the field ``va_task_unit``, where an agent
    that speaks the protocol finds it with ``unit_of``.

    Args:
        unit: with its references resolved.
        id: of the task, which is the orchestrator's own.
        created_at: RFC 3339.
        agent: who does it.
        workspace: absolute path.
        report_path: absolute path.
        events_path: absolute path.
        mode: of which a task unit does not speak.
        isolation: likewise.
        default_deadline_ms: for a ``timeout`` that is 0 or absent.

    Raises:
        DocumentError: the objective is empty, or the timeout beyond what every JSON
            reader agrees on; a task unit may have both.
    """
    fields = task_fields(unit)
    return Task.from_value(
        {
            "protocol": Task.version,
            "id": id,
            "created_at": created_at,
            "agent": agent,
            "objective": fields.objective,
            "context": fields.context,
            "constraints": list(fields.constraints),
            "acceptance_criteria": list(fields.acceptance_criteria),
            "mode": mode,
            "isolation": isolation,
            "workspace": workspace,
            "deadline_ms": fields.deadline_ms or default_deadline_ms,
            "report_path": report_path,
            "events_path": events_path,
            TASK_UNIT: unit.dump(),
        }
    )


def unit_of(task: Task) -> TaskUnit:
    """Return the task unit that a task hands over; made from the task where it has none.

    In one that is made, the context is one entry of ``history``, a task without
    acceptance criteria has its objective as the only one, and lost are role, mode,
    isolation, network, depth, the channel and the paths.
    """
    value = (task.model_extra or {}).get(TASK_UNIT)
    if value is not None:
        try:
            return TaskUnit.from_value(value)
        except DocumentError:
            pass  # another program's field of the same name
    context = TaskContext(
        codebase_root=task.workspace, history=(task.context,) if task.context else None
    )
    return TaskUnit(
        id=task.id,
        objective=task.objective,
        constraints=task.constraints,
        acceptance_criteria=task.acceptance_criteria or (task.objective,),
        context=context,
        timeout=task.deadline_ms,
    )


def progress_message(
    event: Event, *, correlation_id: str, task_id: str, agent_id: str | None = None
) -> ProtocolMessage | None:
    """Tell an event as a progress message; None for ``started`` and ``finished``.

    These two are what ``accepted`` and the last message say. Of a time, what is finer
    than a millisecond is lost, and its offset, which becomes UTC; the order is kept,
    and ``data`` holds the event's own fields and its ``seq``.

    Args:
        event: of any type, also one that this version does not know.
        correlation_id: of the attempt.
        task_id: id of the task unit, which is not that of the task.
        agent_id: who works.
    """
    if event.type in {"started", "finished"}:
        return None
    own = {
        name: value
        for name, value in event.dump().items()
        if name not in {"protocol", "at", "task_id", "type"}
    }
    at = as_date_time(event.at)
    summary, level = _told(event.type, own)
    percent = own.get("pct") if event.type == "progress" else None
    payload = ProgressPayload(
        task_id=task_id,
        phase=event.type,
        summary=summary,
        completion_estimate=None if percent is None else percent / 100,
        logs=(ProgressLog(timestamp=at, level=level, message=summary),),
        data=own,
        agent_id=agent_id,
    )
    return ProtocolMessage.carrying(
        payload, at=at, correlation_id=correlation_id, source_id=agent_id
    )


def as_date_time(at: str) -> str:
    """Write a time of a document as messages have it; one that UTC cannot tell is moved there."""
    instant = parse_timestamp(at)
    try:
        return format_timestamp(instant)
    except OverflowError:
        # The offset leads out of the years 1 to 9999.
        return format_timestamp(instant.replace(tzinfo=timezone.utc))


def _told(kind: str, own: dict[str, Any]) -> tuple[str, LogLevel]:
    """Return an event in a sentence, and how grave it is."""
    if kind in {"thinking", "message"}:
        return own["text"], "debug" if kind == "thinking" else "info"
    if kind == "progress":
        return own["message"], "info"
    if kind == "tool_use":
        words = [own["tool"], own["status"], own["input_summary"]]
        return " ".join(filter(None, words)), "warn" if own["status"] == "failed" else "info"
    if kind == "file_changed":
        return f"{own['path']} {own['action']}", "info"
    if kind == "question":
        return own["question"], "warn"
    if kind == "answer":
        return own["answer"], "info"
    if kind == "error":
        return own["message"], "error"
    return kind, "debug"


def _sections(unit: TaskUnit) -> Iterable[str]:
    context = unit.context or TaskContext()
    if context.files:
        yield _section("Relevant files", _list(context.files))
    if context.history:
        yield _section("Notes from before", "\n\n".join(context.history))
    if context.pitfalls:
        yield _section("Pitfalls of earlier attempts", _list(map(_pitfall, context.pitfalls)))
    if unit.inputs:
        text = json.dumps(unit.dump()["inputs"], indent=2, ensure_ascii=False)
        # Outputs of another agent may hold them, and no command line takes one.
        text = _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        yield _section("Inputs", f"```json\n{text}\n```")
    if unit.promised:
        keys = "These keys are expected in the object `outputs` of the report:"
        yield _section("Outputs", f"{keys}\n\n{_list(unit.promised)}")


def _pitfall(pitfall: Pitfall) -> str:
    """Tell one in a sentence; its words are those of an agent, so nothing in them may act."""
    told = (
        f"{pitfall.id} ({pitfall.failure_type}): tried {pitfall.attempted}; "
        f"probably failed because {pitfall.hypothesis}"
    )
    if pitfall.missing_context:
        told += f"; missing was {pitfall.missing_context}"
    return printable(told, keep="\n\t").replace("\n", "\n  ")


def _section(title: str, body: str) -> str:
    return f"### {title}\n\n{body}"


def _list(entries: Iterable[str]) -> str:
    return "\n".join(f"- {entry}" for entry in entries)
