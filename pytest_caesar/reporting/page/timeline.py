"""What happened during a run, in order: events, questions and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pytest_caesar.reporting.page.text import PART_BYTES, line, seconds, size
from pytest_caesar.reporting.results.fields import (
    as_int,
    as_mapping,
    as_mappings,
    as_number,
    as_text,
)

TEXT: Final = 500
"""Characters of one entry that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One entry.

    Attributes:
        offset: seconds since the first entry, as ``+0.4 s``, or "".
        kind: type of the event, in words.
        text: what it says.
        tone: ``bad``, ``ask`` or "".
    """

    offset: str
    kind: str
    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Entries of a run, and what was left out."""

    moments: tuple[Moment, ...]
    note: str


def timeline(run: Mapping[str, Any]) -> Timeline:
    """Return the events of a run in order, and calls of tools that no event tells."""
    entries = as_mappings(run.get("timeline"))
    total = sum(as_int(count) or 0 for count in as_mapping(run.get("events")).values())
    calls = as_mappings(run.get("tool_calls"))
    if not any(as_text(entry.get("type")) == "tool_use" for entry in entries):
        entries = _merged(entries, [_call(call) for call in calls])
        total += len(calls)
    start = next((at for entry in entries if (at := _time(entry)) is not None), None)
    moments: list[Moment] = []
    held = 0
    for entry in reversed(entries):
        moment = _moment(entry, start)
        held += len(moment.text.encode("utf-8", "backslashreplace")) + 32
        if held > PART_BYTES:
            break
        moments.append(moment)
    moments.reverse()
    left_out = max(total, len(entries)) - len(moments)
    where = as_text(run.get("task_dir"))
    note = ""
    if left_out > 0:
        place = f" All are in {line(where, limit=1000)}/events.jsonl." if where else ""
        note = f"{left_out:,} earlier entries are left out.{place}".replace(",", "\u202f")
    return Timeline(moments=tuple(moments), note=note)


def _merged(
    events: Sequence[Mapping[str, Any]], calls: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Put calls where their times say; those without a time before the last event."""
    timed = [call for call in calls if _time(call) is not None]
    rest = [call for call in calls if _time(call) is None]
    if not timed:
        return [*events[:-1], *rest, *events[-1:]]
    known = [*events, *timed]
    known.sort(key=lambda entry: _time(entry) or 0.0)
    return [*known[:-1], *rest, *known[-1:]]


def _call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = call.get("arguments")
    words = [as_text(call.get("tool")), line(str(arguments if arguments is not None else ""))]
    if (code := as_int(call.get("exit_code"))) is not None:
        words.append(f"→ exit code {code}")
    if output := as_text(call.get("output")):
        words.append(f"({size(len(output.encode('utf-8', 'backslashreplace')))} of output)")
    if (duration := as_number(call.get("duration"))) is not None:
        words.append(seconds(duration))
    failed = call.get("status") in ("failed", "error")
    return {
        "at": call.get("at"),
        "type": "tool call failed" if failed else "tool call",
        "text": " ".join(filter(None, words)),
    }


def _moment(entry: Mapping[str, Any], start: float | None) -> Moment:
    kind = as_text(entry.get("type")).replace("_", " ")
    text = as_text(entry.get("text"))
    at = _time(entry)
    tone = "bad" if kind in ("error", "tool call failed") else ""
    return Moment(
        offset=f"+{at - start:.2f} s" if at is not None and start is not None else "",
        kind=line(kind, limit=40),
        text=line(text.removeprefix(kind).strip(), limit=TEXT),
        tone="ask" if kind in ("question", "answer") else tone,
    )


def _time(entry: Mapping[str, Any]) -> float | None:
    try:
        return datetime.fromisoformat(as_text(entry.get("at")).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
