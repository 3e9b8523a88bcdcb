"""What every dialect gives: events, the agent's own words, how the stream ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.event import EventType
from pytest_caesar.recovery.tool_call import OWN_SERVER, CallLog, ToolCall
from pytest_caesar.recovery.usage import Meter, Usage

MAX_SUMMARY = 200
"""Characters of an ``input_summary``."""

_SUMMARY_KEYS = (
    "command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url",
    "prompt", "message", "description",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event in the common vocabulary, without ``protocol``, ``seq``, ``at`` and ``task_id``.

    Attributes:
        type: one of the types of ``caesar.event/v1``.
        fields: the fields that belong to that type; JSON values.
    """

    type: EventType
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnText:
    """One message of the agent itself.

    Attributes:
        text: as the agent wrote it.
        start, end: the lines of the stream that carry it, in bytes.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReading:
    """A whole stream, read.

    Attributes:
        dialect: its name.
        events: in stream order; empty when they were not asked for.
        own_texts: the agent's own messages, in stream order.
        final: its last message, or the structured one where the stream marks it.
        usage: tokens, cost and turns, as far as they are told.
        calls: of tools; not whole when only the words were asked for.
        whole: every JSON line was understood, and every call kept.
        failed: why the stream says, or shows, that the agent did not come to its end.
        diagnostics: lines that were skipped, and why.
    """

    dialect: str
    events: tuple[StreamEvent, ...] = ()
    own_texts: tuple[OwnText, ...] = ()
    final: str | None = None
    usage: Usage = field(default_factory=Usage)
    calls: tuple[ToolCall, ...] = ()
    whole: bool = True
    failed: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


class StrangeLineError(Exception):
    """A line of a known kind does not have the shape that kind has; it is skipped."""


class LineReader:
    """Reads the lines of one stream, in order; one subclass for each dialect.

    Subclasses raise ``StrangeLineError`` before they change anything.
    """

    name: ClassVar[str]
    program: ClassVar[str]
    verified: ClassVar[str]
    """The version whose captured output it was checked on, or "" when it was not."""
    essential: ClassVar[tuple[bytes, ...]] = ()
    """Byte strings, one of which stands in every line that carries the agent's own words,
    usage or an end; empty when every line must be decoded."""

    extends: ClassVar[str] = ""
    """A dialect whose lines it has too, so that they say nothing of which of both it is."""
    tells_creation: ClassVar[bool] = True
    """It says of a file that was written whether it is new."""

    def __init__(self) -> None:
        self.own_texts: list[OwnText] = []
        self.final: str | None = None
        self.meter = Meter()
        self.calls = CallLog()
        self.failed: str | None = None
        self.ended = False

    @staticmethod
    def recognises(line: Mapping[str, object]) -> bool:
        """Say whether a decoded line looks like one of this dialect."""
        raise NotImplementedError

    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        """Read one decoded line, which stands at these bytes, and return its events."""
        raise NotImplementedError

    def pass_over(self, line: bytes) -> None:
        """Take note of a line that is not decoded, because only the words are wanted."""

    def close(self) -> Iterable[StreamEvent]:
        """Return what was held back until the stream ended."""
        return ()

    def usage(self) -> Usage:
        """Return what is known so far of tokens, cost and turns."""
        self.meter.at_least = self.calls.sub_agents or not self.ended
        return self.meter.usage()

    def reason(self) -> str | None:
        """Say why the agent did not come to its end, or None."""
        if self.failed is not None:
            return self.failed
        return None if self.ended else "the stream ends before its closing line"

    def say(self, words: str, start: int, end: int) -> list[StreamEvent]:
        """Keep a message of the agent's own, and return the event for it."""
        if not words.strip():
            return []
        self.own_texts.append(OwnText(words, start, end))
        self.final = words
        return [message(words)]


def text(line: Mapping[str, object], name: str) -> str:
    """Return a field that must be a string."""
    value = line.get(name)
    if not isinstance(value, str):
        raise StrangeLineError(f"{name} is {kind(value)}, expected a string")
    return value


def word(line: Mapping[str, object], name: str) -> str:
    """Return a field that is a string, and "" for anything else."""
    value = line.get(name)
    return value if isinstance(value, str) else ""


def optional_text(line: Mapping[str, object], name: str) -> str:
    """Return a field that may be absent or null, as ""."""
    return "" if line.get(name) is None else text(line, name)


def mapping(line: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a field that must be an object."""
    value = line.get(name)
    if not isinstance(value, dict):
        raise StrangeLineError(f"{name} is {kind(value)}, expected an object")
    return value


def optional_mapping(line: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a field that may be absent or null, as {}."""
    return {} if line.get(name) is None else mapping(line, name)


def entries(line: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """Return a field that must be a list of objects."""
    value = line.get(name)
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise StrangeLineError(f"{name} is {kind(value)}, expected a list of objects")
    return value


def kind(value: object) -> str:
    """Name the JSON type of a value, with its article."""
    if value is None:
        return "absent"
    names = {bool: "a boolean", str: "a string", dict: "an object", list: "a list"}
    return names.get(type(value), "a number")


def message(words: str) -> StreamEvent:
    """Tell that the agent says something."""
    return StreamEvent("message", {"text": words})


def thinking(words: str) -> list[StreamEvent]:
    """Tell that the agent thinks; nothing when the stream hides what."""
    return [StreamEvent("thinking", {"text": words})] if words.strip() else []


def tool_use(tool: str, call: str, summary: str, status: str) -> StreamEvent:
    """Tell that a tool starts, has succeeded or has failed."""
    fields = {"tool": tool, "id": call, "input_summary": shorten(summary), "status": status}
    return StreamEvent("tool_use", fields)


def file_changed(path: str, action: str) -> StreamEvent:
    """Tell that the stream says that a file changed; the path as it stands there."""
    return StreamEvent("file_changed", {"path": path, "action": action})


def error(words: str, *, fatal: bool) -> StreamEvent:
    """Tell of a problem that the program reports."""
    return StreamEvent("error", {"message": words, "fatal": fatal})


def finished(status: str, summary: str = "", exit_code: int | None = None) -> StreamEvent:
    """Tell that the agent is done, as the stream says."""
    return StreamEvent("finished", {"status": status, "summary": summary, "exit_code": exit_code})


def summarize(arguments: Mapping[str, object]) -> str:
    """Say in a few words what a tool was called with."""
    for name in _SUMMARY_KEYS:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return shorten(value)
    return shorten(json.dumps(arguments, ensure_ascii=False)) if arguments else ""


def foreign_server(server: str) -> bool:
    """Tell whether a server of tools is somebody else's: nobody sees what its tools do."""
    return server != OWN_SERVER


def shorten(words: str) -> str:
    """Cut to ``MAX_SUMMARY`` characters."""
    return words if len(words) <= MAX_SUMMARY else words[: MAX_SUMMARY - 1] + "…"
