"""Calls of tools, as pairs of ``tool_use`` events; pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from caesar_agent.documents.event import Event, ToolUseEvent


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool.

    Attributes:
        start: the event that announced it; None when only its end was told.
        end: the event that ended it; None while it runs, or when it was never told.
    """

    start: ToolUseEvent | None
    end: ToolUseEvent | None

    @property
    def tool(self) -> str:
        """Name of the tool, from whichever event has it."""
        return next((event.tool for event in (self.start, self.end) if event and event.tool), "")

    @property
    def running(self) -> bool:
        """Whether no end was told."""
        return self.end is None


def pair_tools(events: Iterable[Event]) -> tuple[ToolCall, ...]:
    """Pair the starts and ends of tool calls.

    By id where the end has one. Without an id by name and summary, the oldest call
    first, which cannot tell two calls of the same command that overlap. A second
    ``started`` with the id of a call that still runs is that call, not another.

    Args:
        events: in the order of the log; other types are passed over.

    Returns:
        The calls, in the order of their first events. O(n).

    Source: OACP specification, "events.jsonl", on ``tool_use``.
    """
    calls: list[ToolCall] = []
    running: dict[tuple[str, ...], deque[int]] = {}
    for event in events:
        if not isinstance(event, ToolUseEvent):
            continue
        key = (event.id,) if event.id else (event.tool, event.input_summary)
        waiting = running.setdefault(key, deque())
        if event.status == "started":
            if not (event.id and waiting):
                waiting.append(len(calls))
                calls.append(ToolCall(event, None))
        elif waiting:
            index = waiting.popleft()
            calls[index] = ToolCall(calls[index].start, event)
        else:
            calls.append(ToolCall(None, event))
    return tuple(calls)
