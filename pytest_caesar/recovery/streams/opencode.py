"""``opencode run --format json``, checked on the output of opencode 1.18.33.

Tools are told only when they are done. There is no closing line: the agent came to
its end when its last step finished with ``stop``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent

_TYPES = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use", "error"})
_STATUSES = {"completed": "succeeded", "error": "failed"}


class OpenCode(LineReader):
    """Reads ``opencode run --format json``."""

    name: ClassVar[str] = "opencode"
    program: ClassVar[str] = "opencode"
    verified: ClassVar[str] = "opencode 1.18.33"
    essential: ClassVar[tuple[bytes, ...]] = (b'"text"', b'"step_finish"', b'"error"')

    def __init__(self) -> None:
        super().__init__()
        self._reason = ""

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        return (
            base.word(line, "type") in _TYPES
            and isinstance(line.get("sessionID"), str)
            and (isinstance(line.get("part"), dict) or isinstance(line.get("error"), dict))
        )

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        kind = base.text(line, "type")
        if kind == "error":
            reason = _reason(base.mapping(line, "error"))
            self.failed = reason
            return [base.error(reason, fatal=True)]
        if kind not in _TYPES:
            raise StrangeLineError(f"unknown type {kind!r}")
        part = base.mapping(line, "part")
        if kind == "text":
            return self.say(base.text(part, "text"), start, end)
        if kind == "reasoning":
            return base.thinking(base.text(part, "text"))
        if kind == "tool_use":
            return _tool(part)
        if kind == "step_finish":
            self._reason = base.optional_text(part, "reason")
            self.ended = self._reason == "stop"
            usage = {"input_tokens": "input", "output_tokens": "output"}
            self.count(part.get("tokens"), usage)
            self.count(part, {"cost_usd": "cost"})
        return []

    @override
    def reason(self) -> str | None:
        if self.failed is None and self._reason not in {"", "stop"}:
            return f"the stream ends after a step that finished with {self._reason!r}"
        return super().reason()


def _tool(part: Mapping[str, object]) -> list[StreamEvent]:
    tool = base.text(part, "tool")
    state = base.mapping(part, "state")
    arguments = base.optional_mapping(state, "input")
    metadata = base.optional_mapping(state, "metadata")
    status = _STATUSES.get(base.optional_text(state, "status"), "started")
    if tool == "invalid" or metadata.get("exit") not in (None, 0):
        # Told as completed: a command that failed, and a tool that does not exist.
        status = "failed"
    summary = base.optional_text(state, "title") or base.summarize(arguments)
    events = [base.tool_use(tool, base.optional_text(part, "callID"), summary, status)]
    path = arguments.get("filePath")
    if status == "succeeded" and tool in {"write", "edit"} and isinstance(path, str):
        created = tool == "write" and metadata.get("exists") is False
        events.append(base.file_changed(path, "created" if created else "modified"))
    return events


def _reason(problem: Mapping[str, object]) -> str:
    data = base.optional_mapping(problem, "data")
    name = base.optional_text(problem, "name")
    return base.optional_text(data, "message") or name or "an error without a message"
