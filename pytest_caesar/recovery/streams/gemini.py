"""``gemini --output-format stream-json``, checked on the output of Gemini CLI 0.61.0.

What the agent says comes in chunks without an id or an end mark: a run of them up to
the next line of another kind is one message. The prompt is echoed as a user message.
The ``error`` line was not seen; it is read as the documentation describes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent

_WRITING = frozenset({"write_file", "replace"})


class Gemini(LineReader):
    """Reads ``gemini --output-format stream-json``."""

    name: ClassVar[str] = "gemini"
    program: ClassVar[str] = "gemini"
    verified: ClassVar[str] = "Gemini CLI 0.61.0"
    essential: ClassVar[tuple[bytes, ...]] = (b'"message"', b'"tool_use"', b'"result"', b'"error"')

    def __init__(self) -> None:
        super().__init__()
        self._chunks: list[str] = []
        self._run = (0, 0)
        self._calls: dict[str, tuple[str, str, str]] = {}

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        kind = base.word(line, "type")
        if not isinstance(line.get("timestamp"), str):
            return False
        if kind == "init":
            return "session_id" in line and "model" in line
        if kind == "message":
            return base.word(line, "role") in {"user", "assistant"} and "content" in line
        if kind == "result":
            return "status" in line and "exitCode" not in line
        return kind in {"tool_use", "tool_result"} and "tool_id" in line

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        kind = base.text(line, "type")
        if kind == "message":
            return self._message(line, start, end)
        if kind == "tool_use":
            return self._tool_use(line)
        if kind == "tool_result":
            return self._tool_result(line)
        if kind == "result":
            return self._result(line)
        if kind == "error":
            return [*self._flush(), base.error(base.text(line, "message"), fatal=False)]
        if kind != "init":
            raise StrangeLineError(f"unknown type {kind!r}")
        return []

    @override
    def close(self) -> Iterable[StreamEvent]:
        return self._flush()

    def _message(self, line: Mapping[str, object], start: int, end: int) -> list[StreamEvent]:
        role, content = base.text(line, "role"), base.text(line, "content")
        if role != "assistant":
            return self._flush()
        events: list[StreamEvent] = []
        if line.get("delta") is not True:
            events = self._flush()
        if not self._chunks:
            self._run = (start, end)
        self._chunks.append(content)
        self._run = (self._run[0], end)
        if line.get("delta") is not True:
            events += self._flush()
        return events

    def _flush(self) -> list[StreamEvent]:
        words = "".join(self._chunks)
        self._chunks.clear()
        return self.say(words, *self._run)

    def _tool_use(self, line: Mapping[str, object]) -> list[StreamEvent]:
        tool, call = base.text(line, "tool_name"), base.text(line, "tool_id")
        arguments = base.optional_mapping(line, "parameters")
        summary = base.summarize(arguments)
        path = arguments.get("file_path")
        changed = path if tool in _WRITING and isinstance(path, str) else ""
        self._calls[call] = (tool, summary, changed)
        return [*self._flush(), base.tool_use(tool, call, summary, "started")]

    def _tool_result(self, line: Mapping[str, object]) -> list[StreamEvent]:
        call, status = base.text(line, "tool_id"), base.text(line, "status")
        tool, summary, changed = self._calls.pop(call, ("", "", ""))
        status = "succeeded" if status == "success" else "failed"
        events = [*self._flush(), base.tool_use(tool, call, summary, status)]
        if changed and status == "succeeded":
            # Whether the file was there before is not said.
            events.append(base.file_changed(changed, "modified"))
        return events

    def _result(self, line: Mapping[str, object]) -> list[StreamEvent]:
        status = base.text(line, "status")
        problem = base.optional_mapping(line, "error")
        reason = base.optional_text(problem, "message")
        events = self._flush()
        self.count(
            line.get("stats"),
            {
                "input_tokens": "input_tokens",
                "output_tokens": "output_tokens",
                "duration_ms": "duration_ms",
            },
        )
        self.ended = True
        if status == "success":
            return [*events, base.finished("success")]
        self.failed = reason or "the run ended with an error"
        return [*events, base.error(self.failed, fatal=True), base.finished("failed", reason)]
