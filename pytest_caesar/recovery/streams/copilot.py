"""``copilot --output-format json``; unverified.

Made from a capture of a run that failed at once and from what the reference reads, not
checked against the current program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent

_FAMILIES = ("session.", "assistant.", "model.", "user.", "tool.", "hook.", "subagent.", "system.")


class Copilot(LineReader):
    """Reads the JSON lines of the Copilot CLI."""

    name: ClassVar[str] = "copilot"
    program: ClassVar[str] = "copilot"
    verified: ClassVar[str] = ""
    essential: ClassVar[tuple[bytes, ...]] = (
        b'"assistant.message"',
        b'"session.error"',
        b'"result"',
    )

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[str, tuple[str, str]] = {}

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        kind = line.get("type")
        if kind == "result":
            return "exitCode" in line and "sessionId" in line
        return isinstance(kind, str) and kind.startswith(_FAMILIES) and "data" in line

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        kind = base.text(line, "type")
        if kind == "result":
            return self._result(line)
        if not kind.startswith(_FAMILIES):
            raise StrangeLineError(f"unknown type {kind!r}")
        data = base.optional_mapping(line, "data")
        if kind == "session.error":
            self.failed = base.text(data, "message")
            return [base.error(self.failed, fatal=True)]
        if kind == "assistant.message":
            if data.get("parentToolCallId") is not None:
                return []
            return self.say(base.optional_text(data, "content"), start, end)
        if kind == "tool.execution_start":
            tool, call = base.text(data, "toolName"), base.optional_text(data, "toolCallId")
            summary = base.summarize(base.optional_mapping(data, "arguments"))
            self._calls[call] = (tool, summary)
            return [base.tool_use(tool, call, summary, "started")]
        if kind == "tool.execution_complete":
            call = base.optional_text(data, "toolCallId")
            tool, summary = self._calls.pop(call, (base.optional_text(data, "toolName"), ""))
            status = "failed" if data.get("success") is False else "succeeded"
            return [base.tool_use(tool, call, summary, status)]
        return []

    def _result(self, line: Mapping[str, object]) -> list[StreamEvent]:
        code = line.get("exitCode")
        if not isinstance(code, int) or isinstance(code, bool):
            raise StrangeLineError(f"exitCode is {base.kind(code)}, expected an integer")
        self.count(line.get("usage"), {"duration_ms": "sessionDurationMs"})
        self.ended = True
        if code != 0 and self.failed is None:
            self.failed = f"its result says exit code {code}"
        return [base.finished("success" if code == 0 else "failed", exit_code=code)]
