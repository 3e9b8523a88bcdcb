"""``gemini --output-format stream-json``, checked on the output of Gemini CLI 0.61.0.

What the agent says comes in chunks without an id or an end mark: a run of them up to
the next line of another kind is one message. The prompt is echoed as a user message.
The ``error`` line was not seen; it is read as the documentation describes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent
from pytest_caesar.recovery.tool_call import OWN_SERVER, from_text
from pytest_caesar.recovery.usage import Usage, count, usage

_USAGE = {
    "input_tokens": "input_tokens",
    "cached_input_tokens": "cached",
    "output_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}
_SHELL = "run_shell_command"
_SUB_AGENTS = frozenset({"invoke_agent", "delegate_to_agent", "codebase_investigator"})
_WRITING = frozenset({"write_file", "replace"})


class Gemini(LineReader):
    """Reads ``gemini --output-format stream-json``."""

    name: ClassVar[str] = "gemini"
    program: ClassVar[str] = "gemini"
    verified: ClassVar[str] = "Gemini CLI 0.61.0"
    essential: ClassVar[tuple[bytes, ...]] = (b'"message"', b'"tool_use"', b'"result"', b'"error"')

    tells_creation: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self._chunks: list[str] = []
        self._run = (0, 0)
        self._calls: dict[str, tuple[str, str, str]] = {}
        self._speaking = False
        self._models: dict[str, Usage] = {}

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
        self._answering(speaking=role == "assistant")
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
        self._answering(speaking=True)
        self._calls[call] = (tool, summary, changed)
        command = arguments.get("command") if tool == _SHELL else None
        self.calls.start(
            call,
            tool,
            arguments,
            command=command if isinstance(command, str) else None,
            at=from_text(line.get("timestamp")),
            hides=tool.startswith("mcp_") and not tool.startswith(f"mcp_{OWN_SERVER}_"),
            sub_agent=tool in _SUB_AGENTS,
        )
        return [*self._flush(), base.tool_use(tool, call, summary, "started")]

    def _tool_result(self, line: Mapping[str, object]) -> list[StreamEvent]:
        call, status = base.text(line, "tool_id"), base.text(line, "status")
        tool, summary, changed = self._calls.pop(call, ("", "", ""))
        status = "succeeded" if status == "success" else "failed"
        self._answering(speaking=False)
        problem = line.get("error")
        self.calls.end(
            call,
            succeeded=status == "succeeded",
            output=base.word(problem, "message")
            if isinstance(problem, dict)
            else base.word(line, "output"),
            at=from_text(line.get("timestamp")),
        )
        events = [*self._flush(), base.tool_use(tool, call, summary, status)]
        if changed and status == "succeeded":
            # Whether the file was there before is not said.
            events.append(base.file_changed(changed, "modified"))
        return events

    def _answering(self, *, speaking: bool) -> None:
        """Count the answers of the model: what it says and calls up to the next result."""
        if speaking and not self._speaking:
            self.meter.add(turns=1)
        self._speaking = speaking

    def _count(self, stats: object, *, failed: bool) -> None:
        counted = _tokens(stats)
        if not isinstance(stats, dict) or not (failed or any(counted.values())):
            return  # a run that came to its end asked a model for something
        milliseconds = count(stats.get("duration_ms"))
        duration = None if milliseconds is None else milliseconds / 1000
        self.meter.add(**counted, duration=duration)
        models = stats.get("models")
        for name, part in models.items() if isinstance(models, dict) else ():
            tokens = _tokens(part)
            if any(tokens.values()):
                self._models[name] = usage(**tokens)

    @override
    def usage(self) -> Usage:
        # What a sub-agent used is in the numbers of the end; its answers are nowhere.
        self.meter.at_least = not self.ended
        told = self.meter.usage(by_model=self._models)
        return replace(told, turns=None) if self.calls.sub_agents else told

    def _result(self, line: Mapping[str, object]) -> list[StreamEvent]:
        status = base.text(line, "status")
        problem = base.optional_mapping(line, "error")
        reason = base.optional_text(problem, "message")
        events = self._flush()
        self._count(line.get("stats"), failed=status != "success")
        self.ended = True
        if status == "success":
            return [*events, base.finished("success")]
        self.failed = reason or "the run ended with an error"
        return [*events, base.error(self.failed, fatal=True), base.finished("failed", reason)]


def _tokens(stats: object) -> dict[str, int | None]:
    """Read the numbers of a run, or of one model of it: cached ones are inside the input."""
    if not isinstance(stats, dict):
        return {}
    read = {ours: count(stats.get(theirs)) for ours, theirs in _USAGE.items()}
    return {name: None if number is None else int(number) for name, number in read.items()}
