"""What an agent prints that speaks the Agent Client Protocol, version 1: JSON-RPC, a line each.

Messages and thoughts come in chunks, and end where something else begins. Usage is what the
answer to the prompt tells; Gemini CLI tells it in ``_meta``, and opencode the last request's
alone. Exit codes stand in the raw output of a tool where its agent gives them (opencode).

Source: the schema of the protocol, version 1.19.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, OwnText, StrangeLineError, StreamEvent
from pytest_caesar.recovery.usage import Usage

_WORDS = {"agent_message_chunk": "message", "agent_thought_chunk": "thinking"}
_KNOWN = frozenset(
    {
        *("user_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update"),
        *("available_commands_update", "current_mode_update", "config_option_update"),
        *("session_info_update", "plan_update", "plan_removed"),
        *_WORDS,
    }
)
_ANSWERS = frozenset({"agentCapabilities", "sessionId", "stopReason"})
"""Fields of answers that no other protocol over JSON-RPC has."""

_STOPPED = {
    "max_tokens": "the model's answer was cut at its longest",
    "max_turn_requests": "the turn took more requests to the model than are allowed",
    "refusal": "the agent refused to go on",
    "cancelled": "the turn was cancelled",
}


class Acp(LineReader):
    """Reads the agent's side of ACP."""

    name: ClassVar[str] = "acp"
    program: ClassVar[str] = "an agent that speaks ACP"
    verified: ClassVar[str] = "agent-client-protocol 0.12.1, Gemini CLI 0.61.0"
    tells_creation: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self._kind = ""
        self._chunks: list[str] = []
        self._start = self._end = 0
        self._tools: dict[str, tuple[str, str]] = {}
        self._closed: set[str] = set()
        self._changed: set[tuple[str, str]] = set()
        self._last_request_alone = False

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        if line.get("jsonrpc") != "2.0":
            return False
        method, result = line.get("method"), line.get("result")
        if isinstance(method, str):  # MCP has others
            return method.startswith(("session/", "fs/", "terminal/"))
        return isinstance(result, dict) and not _ANSWERS.isdisjoint(result)

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        method = line.get("method")
        if method == "session/update":
            return self._update(base.mapping(base.mapping(line, "params"), "update"), start, end)
        # What else it asks for says nothing of its work: git tells what was written.
        return self._answer(line) if method is None else []

    def _update(self, update: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        kind = base.text(update, "sessionUpdate")
        if kind not in _KNOWN:
            raise StrangeLineError(f"unknown update {base.shorten(kind)!r}")
        if kind in _WORDS:
            return self._word(_WORDS[kind], update, start, end)
        if kind in ("tool_call", "tool_call_update"):
            return [*self._flush(), *self._call(update)]
        if kind == "plan":
            return [*self._flush(), *_plan(update)]
        if kind == "usage_update":
            self._cost(update)
        return []

    def _answer(self, line: Mapping[str, object]) -> Iterable[StreamEvent]:
        """Read an answer to what the client asked: who it is, how the turn ended, an error."""
        if "error" in line:
            return self._error(base.optional_mapping(line, "error"))
        result = line.get("result")
        if not isinstance(result, dict):
            return []
        agent = result.get("agentInfo")
        name = base.word(agent, "name") if isinstance(agent, dict) else ""
        self._last_request_alone |= name.lower().startswith("opencode")
        return [*self._flush(), *self._stop(result)] if "stopReason" in result else []

    @override
    def usage(self) -> Usage:
        used = super().usage()
        return replace(used, at_least=True) if self._last_request_alone and used.known else used

    @override
    def close(self) -> Iterable[StreamEvent]:
        return self._flush()

    def _word(
        self, kind: str, update: Mapping[str, object], start: int, end: int
    ) -> list[StreamEvent]:
        content = base.mapping(update, "content")
        words = base.word(content, "text") if content.get("type") == "text" else ""
        events = self._flush() if kind != self._kind else []
        if not self._chunks:
            self._start = start
        self._kind, self._end = kind, end
        self._chunks.append(words)
        return events

    def _flush(self) -> list[StreamEvent]:
        """End the message or the thought that came in chunks."""
        words, kind = "".join(self._chunks), self._kind
        self._chunks, self._kind = [], ""
        if not words.strip():
            return []
        if kind == "thinking":
            return base.thinking(words)
        self.own_texts.append(OwnText(words, self._start, self._end))
        self.final = words
        return [base.message(words)]

    def _call(self, update: Mapping[str, object]) -> list[StreamEvent]:
        call = base.text(update, "toolCallId")
        events: list[StreamEvent] = []
        arguments = update.get("rawInput")
        given = arguments if isinstance(arguments, dict) else {}
        kind = base.word(update, "kind")
        if call not in self._tools:
            title = base.word(update, "title")
            tool = kind or "other"
            summary = base.summarize(given) or title
            self._tools[call] = (tool, summary)
            self.calls.start(call, tool, given or {"title": title}, command=_command(tool, given))
            events.append(base.tool_use(tool, call, summary, "started"))
        tool, summary = self._tools[call]
        status = base.word(update, "status")
        if status in ("completed", "failed") and call not in self._closed:
            self._closed.add(call)
            ok = status == "completed"
            code = _exit_code(update.get("rawOutput"))
            self.calls.end(call, succeeded=ok, exit_code=code, output=_output(update))
            events.append(base.tool_use(tool, call, summary, "succeeded" if ok else "failed"))
        for path, action in _diffs(update):
            if status != "failed" and (call, path) not in self._changed:
                self._changed.add((call, path))
                events.append(base.file_changed(path, action))
        return events

    def _cost(self, update: Mapping[str, object]) -> None:
        cost = update.get("cost")
        if isinstance(cost, dict) and cost.get("currency") == "USD":
            amount = cost.get("amount")
            if isinstance(amount, (int, float)) and not isinstance(amount, bool):
                self.meter.numbers["cost_usd"] = float(amount)  # a sum

    def _stop(self, result: Mapping[str, object]) -> list[StreamEvent]:
        reason = base.text(result, "stopReason")
        self.ended = reason == "end_turn"
        self._use(result)
        if self.ended:
            self.failed = None
            return [base.finished("success")]
        self.failed = _STOPPED.get(reason, f"the turn ended with {base.shorten(reason)!r}")
        return [base.finished("failed", self.failed)]

    def _use(self, result: Mapping[str, object]) -> None:
        used = result.get("usage")
        meta = result.get("_meta")
        if isinstance(used, dict):
            self.meter.add(
                input_tokens=used.get("inputTokens"),
                output_tokens=used.get("outputTokens"),
                cached_input_tokens=used.get("cachedReadTokens"),
                cache_write_tokens=used.get("cachedWriteTokens"),
                reasoning_tokens=used.get("thoughtTokens"),
                total_tokens=used.get("totalTokens"),
            )
        elif isinstance(meta, dict) and isinstance(meta.get("quota"), dict):
            counted = meta["quota"].get("token_count")
            if isinstance(counted, dict):
                self.meter.add(
                    input_tokens=counted.get("input_tokens"),
                    output_tokens=counted.get("output_tokens"),
                )

    def _error(self, error: Mapping[str, object]) -> list[StreamEvent]:
        text = base.word(error, "message") or "the agent answered with an error"
        self.failed = text
        return [*self._flush(), base.error(text, fatal=True)]


def _plan(update: Mapping[str, object]) -> list[StreamEvent]:
    entries = base.entries(update, "entries")
    if not entries:
        return []
    done = sum(entry.get("status") == "completed" for entry in entries)
    current = next(
        (base.word(entry, "content") for entry in entries if entry.get("status") == "in_progress"),
        "",
    )
    text = f"{done} of {len(entries)} steps done" + (f": {current}" if current else "")
    return [StreamEvent("progress", {"message": base.shorten(text)})]


def _command(tool: str, given: Mapping[str, object]) -> str | None:
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(command)
    return command if tool == "execute" and isinstance(command, str) else None


def _exit_code(output: object) -> int | None:
    """Return an exit code that stands in the raw output, or in its metadata."""
    if not isinstance(output, dict):
        return None
    places = [output, output.get("metadata")]
    for place in places:
        for name in ("exitCode", "exit_code", "exit"):
            code = place.get(name) if isinstance(place, dict) else None
            if isinstance(code, int) and not isinstance(code, bool):
                return code
    return None


def _output(update: Mapping[str, object]) -> str | None:
    texts = []
    content = update.get("content")
    for part in content if isinstance(content, list) else ():
        inner = part.get("content") if isinstance(part, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("text"), str):
            texts.append(inner["text"])
    raw = update.get("rawOutput")
    if not texts and isinstance(raw, dict) and isinstance(raw.get("output"), str):
        texts.append(raw["output"])
    return "\n".join(texts) if texts else None


def _diffs(update: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    content = update.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "diff":
            path = part.get("path")
            if isinstance(path, str) and path:
                yield path, "created" if part.get("oldText") is None else "modified"
