"""What a report says of an exception that ended the agent; pure."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType

from pydantic import ValidationError

from caesar_agent.console import printable
from caesar_agent.documents.problems import explain
from caesar_agent.running.waiting import await_result

MAX_DETAILS = 16_000
"""Longest traceback in a report, in characters; its end is kept, which says most."""

MAX_SUMMARY = 300
"""Longest text of an exception in a summary, in characters."""

PARTS = ("Report", "Change", "CommandRun", "Finding", "Question", "Artifact", "Usage")
"""Models that an agent may make a report of by hand, whose errors are told in our words."""


def describe(error: BaseException) -> str:
    """Return type and text of an exception on one line."""
    name = type(error).__name__
    if isinstance(error, ValidationError) and error.title in PARTS:
        # Made by hand; pydantic says it in many lines, with links.
        text = f"no valid {error.title}: {'; '.join(map(str, explain(error)))}"
    else:
        text = " ".join(str(error).split())
    return printable(f"{name}: {text}" if text else name, limit=MAX_SUMMARY)


def trace_of(error: BaseException, *, limit: int | None = MAX_DETAILS) -> str:
    """Return the traceback from the agent's own code on."""
    lines = traceback.format_exception(type(error), error, _own_frames(error.__traceback__))
    text = "".join(lines)
    if limit is not None and len(text) > limit:
        text = f"… ({len(text) - limit} characters left out)\n{text[-limit:]}"
    return text


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    ours = await_result.__code__.co_filename
    own = trace
    while own is not None:
        frame = own.tb_frame
        name = frame.f_code.co_filename
        # What calls ``main`` in our place hides itself as pytest has it.
        hidden = name == ours or frame.f_locals.get("__tracebackhide__", False)
        if not hidden and Path(name).parent.name != "asyncio":
            return own
        own = own.tb_next
    return trace
