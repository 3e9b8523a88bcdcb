"""``pi --mode json``, checked on the output of pi 0.73.1.

Messages come whole at their ``message_end``; updates of them are passed over. A command
that failed is an error, whose text ends with its exit code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent

_TYPES = frozenset(
    {
        *("session", "agent_start", "agent_end", "turn_start", "turn_end"),
        *("message_start", "message_update", "message_end"),
        *("tool_execution_start", "tool_execution_update", "tool_execution_end"),
        *("auto_retry_start", "auto_retry_end", "queue_update"),
        *("compaction_start", "compaction_end"),
    }
)
_WRITING = {"write": "modified", "edit": "modified"}
_EXIT_CODE = re.compile(r"Command exited with code (\d{1,3})\s*$")


class Pi(LineReader):
    """Reads ``pi --mode json``."""

    name: ClassVar[str] = "pi"
    program: ClassVar[str] = "pi"
    verified: ClassVar[str] = "pi 0.73.1"
    tells_creation: ClassVar[bool] = False
    essential: ClassVar[tuple[bytes, ...]] = (b'"type":"message_end"', b'"type":"agent_end"')

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[str, tuple[str, str, str]] = {}

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        kind = base.word(line, "type")
        if kind == "session":
            return "version" in line and "cwd" in line
        return kind in _TYPES and "data" not in line and "timestamp" not in line

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        kind = base.text(line, "type")
        if kind not in _TYPES:
            raise StrangeLineError(f"unknown type {kind!r}")
        if kind == "message_end":
            return self._message(base.mapping(line, "message"), start, end)
        if kind == "tool_execution_start":
            return self._starts(line)
        if kind == "tool_execution_end":
            return self._ends(line)
        if kind == "agent_end":
            self.ended = True
            if self.failed is not None:
                return [base.finished("failed", self.failed)]
            return [base.finished("success")]
        return []

    def _message(self, message: Mapping[str, object], start: int, end: int) -> list[StreamEvent]:
        if base.word(message, "role") != "assistant":
            return []
        used = message.get("usage")
        if isinstance(used, dict):
            self.meter.add(
                turns=1,
                input_tokens=used.get("input"),
                output_tokens=used.get("output"),
            )
        events: list[StreamEvent] = []
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "text":
                events += self.say(base.optional_text(block, "text"), start, end)
            elif isinstance(block, dict) and block.get("type") == "thinking":
                events += base.thinking(base.optional_text(block, "thinking"))
        if base.word(message, "stopReason") in ("error", "aborted"):
            self.failed = base.word(message, "errorMessage") or "the model's answer broke off"
            events.append(base.error(self.failed, fatal=False))
        else:
            self.failed = None
        return events

    def _starts(self, line: Mapping[str, object]) -> list[StreamEvent]:
        tool, call = base.text(line, "toolName"), base.text(line, "toolCallId")
        arguments = base.optional_mapping(line, "args")
        summary = base.summarize(arguments)
        path = base.word(arguments, "path") if tool in _WRITING else ""
        command = arguments.get("command") if tool == "bash" else None
        self._calls[call] = (tool, summary, path)
        self.calls.start(
            call, tool, arguments, command=command if isinstance(command, str) else None
        )
        return [base.tool_use(tool, call, summary, "started")]

    def _ends(self, line: Mapping[str, object]) -> list[StreamEvent]:
        call, failed = base.text(line, "toolCallId"), line.get("isError") is True
        tool, summary, path = self._calls.pop(call, (base.word(line, "toolName"), "", ""))
        output = _text(line.get("result"))
        code = _EXIT_CODE.search(output) if failed else None
        shell = tool == "bash"
        self.calls.end(
            call,
            succeeded=not failed,
            exit_code=int(code[1]) if code else 0 if shell and not failed else None,
            output=output,
        )
        events = [base.tool_use(tool, call, summary, "failed" if failed else "succeeded")]
        if path and not failed:
            events.append(base.file_changed(path, _WRITING[tool]))
        return events


def _text(result: object) -> str:
    content = result.get("content") if isinstance(result, dict) else None
    blocks = content if isinstance(content, list) else []
    return "\n".join(base.word(block, "text") for block in blocks if isinstance(block, dict))
