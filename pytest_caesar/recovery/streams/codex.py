"""``codex exec --json``, checked on the output of codex 0.171.0.

The agent's own words are ``agent_message`` items. What a sub-agent says is not in the
stream, apart from the state of a ``collab_tool_call``, which is not the agent's word.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.shell_words import shell_text, unwrapped
from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent
from pytest_caesar.recovery.usage import Usage

_ACTIONS = {"add": "created", "delete": "deleted", "rename": "renamed", "update": "modified"}
_STATUSES = {"completed": "succeeded", "failed": "failed"}
_USAGE = {
    "input_tokens": "input_tokens",
    "cached_input_tokens": "cached_input_tokens",
    "cache_write_tokens": "cache_write_input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_output_tokens",
}
"""Ours -> theirs: the sum over the main thread's requests, parts inside the whole."""

_WHOLE = frozenset({"agent_message", "reasoning", "error", "file_change", "todo_list"})
"""Items that are told once, when they are complete."""

_TOP = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed", "error"})
_ITEM = frozenset({"item.started", "item.updated", "item.completed"})


class Codex(LineReader):
    """Reads ``codex exec --json``."""

    name: ClassVar[str] = "codex"
    program: ClassVar[str] = "codex"
    verified: ClassVar[str] = "codex 0.171.0"
    essential: ClassVar[tuple[bytes, ...]] = (b'"agent_message"', b'"turn.', b'"type":"error"')

    def __init__(self) -> None:
        super().__init__()
        self._complaint = ""
        self._did_something = False

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        kind = base.word(line, "type")
        if kind in _ITEM:
            return isinstance(line.get("item"), dict)
        return (kind == "thread.started" and "thread_id" in line) or (
            kind in {"turn.started", "turn.completed", "turn.failed"}
        )

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        kind = base.text(line, "type")
        if kind in _ITEM:
            return self._item(kind, base.mapping(line, "item"), start, end)
        if kind == "turn.started":
            self.ended, self.failed = False, None
        elif kind == "turn.completed":
            used = line.get("usage")
            if isinstance(used, dict):
                self.meter.add(**{ours: used.get(theirs) for ours, theirs in _USAGE.items()})
            self.ended, self.failed = True, None
            return [base.finished("success")]
        elif kind == "turn.failed":
            reason = base.text(base.mapping(line, "error"), "message")
            self.ended, self.failed = True, reason or "the turn failed"
            return [base.error(reason, fatal=True), base.finished("failed", reason)]
        elif kind == "error":
            # A note on a retry, or the reason that the next turn.failed repeats.
            self._complaint = base.text(line, "message")
            return [base.error(self._complaint, fatal=False)]
        elif kind not in _TOP:
            raise StrangeLineError(f"unknown type {kind!r}")
        return []

    def _item(
        self, kind: str, item: Mapping[str, object], start: int, end: int
    ) -> Iterable[StreamEvent]:
        what = base.text(item, "type")
        self._did_something = self._did_something or what != "error"
        done = kind == "item.completed"
        if what in _WHOLE and not done:
            return []
        if what == "agent_message":
            return self.say(base.text(item, "text"), start, end)
        if what == "reasoning":
            return base.thinking(base.text(item, "text"))
        if what == "error":
            return [base.error(base.text(item, "message"), fatal=False)]
        if what == "file_change":
            events = _file_change(item)
            self._note(item, "file_change", {"changes": item["changes"]}, done=True)
            return events
        return self._call(what, item, done=done)

    def _call(self, what: str, item: Mapping[str, object], *, done: bool) -> list[StreamEvent]:
        events = _call(what, item, done=done)
        if what == "command_execution":
            command = _command_line(item)
            self._note(item, "shell", {"command": _command(item)}, done=done, command=command)
        elif what == "mcp_tool_call":
            server = base.text(item, "server")
            name = f"{server}.{base.text(item, 'tool')}"
            arguments = base.optional_mapping(item, "arguments")
            self._note(item, name, arguments, done=done, hides=base.foreign_server(server))
        elif what == "collab_tool_call":
            arguments = {"prompt": base.optional_text(item, "prompt")}
            self._note(item, base.text(item, "tool"), arguments, done=done, sub_agent=True)
        elif what == "web_search":
            arguments = {"query": base.optional_text(item, "query")}
            self._note(item, what, arguments, done=done)
        return events

    def _note(
        self,
        item: Mapping[str, object],
        tool: str,
        arguments: Mapping[str, object],
        *,
        done: bool,
        command: str | None = None,
        hides: bool = False,
        sub_agent: bool = False,
    ) -> None:
        """Keep a call; one that was never run, because it was declined, has no exit code."""
        key = base.word(item, "id")
        status = base.word(item, "status")
        if command is not None and status == "declined":
            command = None
        self.calls.start(key, tool, arguments, command=command, hides=hides, sub_agent=sub_agent)
        if done:
            self.calls.end(
                key,
                succeeded=status not in {"failed", "declined"},
                exit_code=item.get("exit_code"),
                output=_output(item),
            )

    @override
    def pass_over(self, line: bytes) -> None:
        self._did_something = self._did_something or b'"item"' in line

    @override
    def reason(self) -> str | None:
        if self.failed is None and not self.ended and self._complaint:
            if self._did_something:
                return f"the stream ends before its closing line, last with {self._complaint!r}"
            return f"nothing but retries came, the last with {self._complaint!r}"
        return super().reason()

    @override
    def usage(self) -> Usage:
        # Of a turn that failed nothing is told.
        told = super().usage()
        return replace(told, at_least=True) if self.failed is not None and told.known else told


def _call(what: str, item: Mapping[str, object], *, done: bool) -> list[StreamEvent]:
    call = base.optional_text(item, "id")
    status = _STATUSES.get(base.optional_text(item, "status"), "started")
    if what == "command_execution":
        return [base.tool_use("shell", call, _command(item), status)]
    if what == "mcp_tool_call":
        tool = f"{base.text(item, 'server')}.{base.text(item, 'tool')}"
        summary = base.summarize(base.optional_mapping(item, "arguments"))
        return [base.tool_use(tool, call, summary, status)]
    if what == "collab_tool_call":
        prompt = base.optional_text(item, "prompt")
        return [base.tool_use(base.text(item, "tool"), call, prompt, status)]
    if what == "web_search":
        status = "succeeded" if done else "started"
        return [base.tool_use(what, call, base.optional_text(item, "query"), status)]
    if what == "todo_list":
        return []
    raise StrangeLineError(f"unknown item {what!r}")


def _file_change(item: Mapping[str, object]) -> list[StreamEvent]:
    changes = [
        (base.text(change, "path"), base.optional_text(change, "kind"))
        for change in base.entries(item, "changes")
    ]
    if item.get("status") == "failed":
        paths = ", ".join(path for path, _ in changes)
        return [base.tool_use("file_change", base.optional_text(item, "id"), paths, "failed")]
    return [base.file_changed(path, _ACTIONS.get(kind, "modified")) for path, kind in changes]


def _command_line(item: Mapping[str, object]) -> str:
    """Return what the model asked to run, without the shell that codex runs it with."""
    command = item.get("command")
    if isinstance(command, list):
        argv = [str(word) for word in command]
        return shell_text(argv) or shlex.join(argv)
    return unwrapped(base.text(item, "command"))


def _output(item: Mapping[str, object]) -> str | None:
    if isinstance(item.get("aggregated_output"), str):
        return base.text(item, "aggregated_output")
    problem, result = item.get("error"), item.get("result")
    if isinstance(problem, dict):
        return base.word(problem, "message")
    if isinstance(result, dict) and isinstance(result.get("content"), list):
        blocks = result["content"]
        return "".join(base.word(block, "text") for block in blocks if isinstance(block, dict))
    return None


def _command(item: Mapping[str, object]) -> str:
    command = item.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return " ".join(command)
    return base.text(item, "command")
