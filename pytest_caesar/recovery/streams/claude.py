"""``claude --print --output-format stream-json --verbose``; unverified.

Made from captures of Claude Code 2.1, not checked against the current program. Lines
with a ``parent_tool_use_id`` are those of a nested agent: its words are not the agent's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent
from pytest_caesar.recovery.tool_call import OWN_SERVER, from_text
from pytest_caesar.recovery.usage import Usage, added, count, usage

_USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
_MODEL_USAGE = (
    "inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens",
)  # fmt: skip
"""Input, of the cache, into the cache, output: the three first stand beside each other."""

_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")

_SILENT = frozenset({"rate_limit_event", "stream_event", "control_request", "control_response"})


class Claude(LineReader):
    """Reads the ``stream-json`` of Claude Code."""

    name: ClassVar[str] = "claude"
    program: ClassVar[str] = "claude"
    verified: ClassVar[str] = ""
    essential: ClassVar[tuple[bytes, ...]] = (b'"assistant"', b'"result"')
    shells: ClassVar[frozenset[str]] = frozenset({"Bash"})
    """Tools that run a command line."""

    def __init__(self) -> None:
        super().__init__()
        self._messages: dict[str, tuple[str, bool, dict[str, int]]] = {}
        self._result_line: Mapping[str, object] | None = None

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
            self._ends(line)
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
        self._count(base.mapping(line, "message"), nested=nested)
        events: list[StreamEvent] = []
        for kind, block in read:
            if kind == "tool_use":
                arguments = base.optional_mapping(block, "input")
                tool, call = base.text(block, "name"), base.optional_text(block, "id")
                events.append(base.tool_use(tool, call, base.summarize(arguments), "started"))
                command = arguments.get("command") if tool in self.shells else None
                self.calls.start(
                    call,
                    tool,
                    arguments,
                    command=command if isinstance(command, str) else None,
                    at=from_text(line.get("timestamp")),
                    hides=tool.startswith("mcp__") and not tool.startswith(f"mcp__{OWN_SERVER}__"),
                    sub_agent=tool in {"Task", "Agent"},
                    nested=nested,
                )
            elif nested:
                continue
            elif kind == "text":
                events += self.say(base.text(block, "text"), start, end)
            elif kind == "thinking":
                events += base.thinking(base.optional_text(block, "thinking"))
        return events

    def _ends(self, line: Mapping[str, object]) -> None:
        """Keep what came out of tools. An exit code is told of a command that failed alone."""
        at = from_text(line.get("timestamp"))
        for block in _blocks(base.mapping(line, "message")):
            if block.get("type") != "tool_result":
                continue
            failed = block.get("is_error") is True
            output = _text(block.get("content"))
            code = _EXIT_CODE.match(output) if failed else None
            self.calls.end(
                base.optional_text(block, "tool_use_id"),
                succeeded=not failed,
                exit_code=int(code[1]) if code else None,
                output=output,
                at=at,
            )

    def _count(self, message: Mapping[str, object], *, nested: bool) -> None:
        """Keep the usage of a message, which every block of it repeats."""
        name, used = base.word(message, "id"), message.get("usage")
        if name and isinstance(used, dict):
            self._messages[name] = (base.word(message, "model"), nested, _tokens(used))

    @override
    def usage(self) -> Usage:
        turns = sum(not nested for _, nested, _ in self._messages.values()) or None
        if self._result_line is None:
            # What the last line sums up is not there yet: an answer is counted as it begins.
            parts = [usage(**tokens) for _, _, tokens in self._messages.values()]
            if not parts:
                return Usage()
            return replace(added(parts), turns=turns, at_least=True, source="stream")
        return self._summed(self._result_line, turns)

    def _summed(self, line: Mapping[str, object], turns: int | None) -> Usage:
        """Read the last line, where ``modelUsage`` has what sub-agents used, and ``usage`` not."""
        used, models = line.get("usage"), line.get("modelUsage")
        whole = usage(**_tokens(used)) if isinstance(used, dict) else Usage()
        by_model = {
            name: usage(**_tokens(part, _MODEL_USAGE), cost_usd=count(part.get("costUSD")) or None)
            for name, part in (models.items() if isinstance(models, dict) else ())
            if isinstance(part, dict)
        }
        all_of_them = added(by_model.values())
        if (all_of_them.total_tokens or 0) > (whole.total_tokens or 0):
            whole = all_of_them
        told, milliseconds = count(line.get("num_turns")), count(line.get("duration_ms"))
        return replace(
            whole,
            cost_usd=count(line.get("total_cost_usd")) or None,
            turns=turns if turns is not None or told is None else int(told),
            duration=None if milliseconds is None else milliseconds / 1000,
            by_model=by_model,
            at_least=self.calls.sub_agents and not by_model,
            source="stream",
        )

    def _result(self, line: Mapping[str, object], start: int, end: int) -> list[StreamEvent]:
        words = base.optional_text(line, "result")
        subtype = base.word(line, "subtype")
        # ``is_error`` is false where the turns or the budget ran out; the subtype says so.
        failed = line.get("is_error") is True or subtype not in {"", "success"}
        self._result_line = line
        self.ended = True
        self.failed = (words or subtype or "is_error") if failed else None
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


def _tokens(used: Mapping[str, object], names: tuple[str, ...] = _USAGE) -> dict[str, int]:
    """Read one usage; {} where it tells neither input nor output."""
    numbers = [count(used.get(name)) for name in names]
    if numbers[0] is None and numbers[3] is None:
        return {}
    asked, read, written, said = (int(number or 0) for number in numbers)
    return {
        "input_tokens": asked + read + written,
        "cached_input_tokens": read,
        "cache_write_tokens": written,
        "output_tokens": said,
    }


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(base.word(block, "text") for block in content if isinstance(block, dict))
    return content if isinstance(content, str) else ""
