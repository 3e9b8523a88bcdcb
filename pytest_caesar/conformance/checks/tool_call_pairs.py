"""Beginnings and ends of tool calls, brought together as a watcher of the events would."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caesar_agent.documents.event import ToolUseEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """What became of tool calls.

    Attributes:
        unstarted: ends without a beginning.
        unended: beginnings without an end.
        renamed: beginnings and ends that belong together and have different ids.
    """

    unstarted: tuple[ToolUseEvent, ...]
    unended: tuple[ToolUseEvent, ...]
    renamed: tuple[tuple[ToolUseEvent, ToolUseEvent], ...]


def pair(events: Iterable[ToolUseEvent]) -> ToolCalls:
    """Bring beginnings and ends together: by id, and else by tool and summary.

    Source: OACP specification, events.jsonl, on id.
    """
    unstarted, renamed = [], []
    running: list[ToolUseEvent] = []
    for event in events:
        if event.status == "started":
            running.append(event)
            continue
        start = _start_of(event, running)
        if start is None:
            unstarted.append(event)
            continue
        running.remove(start)
        if start.id != event.id:
            renamed.append((start, event))
    return ToolCalls(unstarted=tuple(unstarted), unended=tuple(running), renamed=tuple(renamed))


def _start_of(end: ToolUseEvent, running: Sequence[ToolUseEvent]) -> ToolUseEvent | None:
    named = (one for one in running if end.id and one.id == end.id)
    alike = (
        one for one in running if (one.tool, one.input_summary) == (end.tool, end.input_summary)
    )
    return next(named, None) or next(alike, None)
