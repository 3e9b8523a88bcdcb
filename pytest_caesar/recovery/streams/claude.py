"""``claude --print --output-format stream-json --verbose``; unverified.

Made from captures of Claude Code 2.1, not checked against the current program. Lines
with a ``parent_tool_use_id`` are those of a nested agent: its words are not the agent's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent

_SILENT = frozenset({"rate_limit_event", "stream_event", "control_request", "control_response"})


class Claude(LineReader):
    """Reads the ``stream-json`` of Claude Code."""

    name: ClassVar[str] = "claude"
    program: ClassVar[str] = "claude"
    verified: ClassVar[str] = ""
    essential: ClassVar[tuple[bytes, ...]] = (b'"assistant"', b'"result"')

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        kind = base.word(line, "type")
        if kind in {"assistant", "user"}:
            return isinstance(line.get("message"), dict)
        return kind in {"system", "result"} and isinstance(line.get("subtype"), str)

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        kind = base.text(line, "type")
        if kind == "assistant":
            return self._assistant(line, start, end)
        if kind == "user":
            return _tool_results(line)
        if kind == "result":
            return self._result(line, start, end)
        if kind == "system":
            if line.get("subtype") == "thinking_tokens":
                tokens = line.get("estimated_tokens")
                if not isinstance(tokens, int):
                    raise StrangeLineError(f"estimated_tokens is {base.kind(tokens)}")
                words = f"Thinking in progress (~{tokens} tokens)"
                return [StreamEvent("progress", {"message": words})]
            return []
        if kind not in _SILENT:
            raise StrangeLineError(f"unknown type {kind!r}")
        return []

    def _assistant(self, line: Mapping[str, object], start: int, end: int) -> list[StreamEvent]:
        nested = line.get("parent_tool_use_id") is not None
        blocks = _blocks(base.mapping(line, "message"))
        read = [(base.text(block, "type"), block) for block in blocks]
        events: list[StreamEvent] = []
        for kind, block in read:
            if kind == "tool_use":
                arguments = base.optional_mapping(block, "input")
                tool, call = base.text(block, "name"), base.optional_text(block, "id")
                events.append(base.tool_use(tool, call, base.summarize(arguments), "started"))
            elif nested:
                continue
            elif kind == "text":
                events += self.say(base.text(block, "text"), start, end)
            elif kind == "thinking":
                events += base.thinking(base.optional_text(block, "thinking"))
        return events

    def _result(self, line: Mapping[str, object], start: int, end: int) -> list[StreamEvent]:
        words = base.optional_text(line, "result")
        failed = line.get("is_error") is True
        self.count(
            line.get("usage"),
            {"input_tokens": "input_tokens", "output_tokens": "output_tokens"},
        )
        self.count(line, {"duration_ms": "duration_ms", "cost_usd": "total_cost_usd"})
        self.ended = True
        self.failed = (words or base.optional_text(line, "subtype")) if failed else None
        events = [] if failed else self.say(words, start, end)
        structured = line.get("structured_output")
        if isinstance(structured, dict) and not failed:
            self.final = json.dumps(structured, ensure_ascii=False)
        status = "failed" if failed else "success"
        return [*events, base.finished(status, (self.failed or "") if failed else "")]


def _blocks(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    if isinstance(message.get("content"), str):
        return [{"type": "text", "text": message["content"]}]
    return base.entries(message, "content")


def _tool_results(line: Mapping[str, object]) -> list[StreamEvent]:
    return [
        base.tool_use(
            "",
            base.optional_text(block, "tool_use_id"),
            "",
            "failed" if block.get("is_error") is True else "succeeded",
        )
        for block in _blocks(base.mapping(line, "message"))
        if block.get("type") == "tool_result"
    ]
