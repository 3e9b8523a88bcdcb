"""What is odd about a whole event log, each event of which is valid; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.event import Event
from caesar_agent.events.tool_calls import ToolCall, pair_tools

MAX_NAMED = 5
"""Of one kind so many are named in a message; the others are counted."""


def remarks(events: Sequence[Event], *, whole: bool = True) -> tuple[Diagnostic, ...]:
    """Tell of sequence numbers that do not count on, and of tool calls with one half.

    Args:
        events: in the order of the log, of one task.
        whole: nothing before the first of them was left out.

    Returns:
        At most one diagnostic of each code. O(n).
    """
    return (*_sequence(events, whole=whole), *_tools(events, whole=whole))


def _sequence(events: Sequence[Event], *, whole: bool) -> list[Diagnostic]:
    seen: set[int] = set()
    repeated: list[int] = []
    backward: list[str] = []
    highest = -1
    for event in events:
        number = event.seq
        if number in seen:
            repeated.append(number)
        elif number < highest:
            backward.append(f"{number} after {highest}")
        seen.add(number)
        highest = max(highest, number)
    missing = _gaps(seen, first=0 if whole else min(seen, default=0))
    return [
        *_told("event-seq-repeated", "seq given more than once: ", map(str, repeated)),
        *_told("event-seq-missing", "seq that no event has: ", missing),
        *_told("event-seq-backward", "seq that goes backward: ", backward),
    ]


def _gaps(seen: set[int], *, first: int) -> list[str]:
    gaps = []
    expected = first
    for number in sorted(seen):
        if number > expected:
            last = number - 1
            gaps.append(str(expected) if last == expected else f"{expected} to {last}")
        expected = number + 1
    return gaps


def _tools(events: Sequence[Event], *, whole: bool) -> list[Diagnostic]:
    calls = pair_tools(events)
    unended = [_call(call) for call in calls if call.end is None]
    unbegun = [_call(call) for call in calls if call.start is None] if whole else []
    return [
        *_told("tool-call-unended", "no end was told of a call of ", unended),
        *_told("tool-call-unbegun", "no start was told of a call of ", unbegun),
    ]


def _call(call: ToolCall) -> str:
    event = call.start or call.end
    assert event is not None
    words = " ".join(filter(None, (event.tool, event.input_summary))) or event.id or "a tool"
    return one_line(words, limit=80)


def _told(code: str, text: str, found: Iterable[str]) -> list[Diagnostic]:
    named = list(found)
    if not named:
        return []
    more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
    return [Diagnostic(code=code, message=text + ", ".join(named[:MAX_NAMED]) + more)]
