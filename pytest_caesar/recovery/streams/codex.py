"""``codex exec --json``, checked on the output of codex 0.171.0.

The agent's own words are ``agent_message`` items. What a sub-agent says is not in the
stream, apart from the state of a ``collab_tool_call``, which is not the agent's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent

_ACTIONS = {"add": "created", "delete": "deleted", "rename": "renamed", "update": "modified"}
_STATUSES = {"completed": "succeeded", "failed": "failed"}
_WHOLE = frozenset({"agent_message", "reasoning", "error", "file_change", "todo_list"})
"""Items that are told once, when they are complete."""

_TOP = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed", "error"})
_ITEM = frozenset({"item.started", "item.updated", "item.completed"})


class Codex(LineReader):
    """Reads ``codex exec --json``."""

    name: ClassVar[str] = "codex"
    program: ClassVar[str] = "codex"
    verified: ClassVar[str] = "codex 0.171.0"
    essential: ClassVar[tuple[bytes, ...]] = (b'"agent_message"', b'"turn.')

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
            usage = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
            self.count(line.get("usage"), usage)
            self.ended, self.failed = True, None
            return [base.finished("success")]
        elif kind == "turn.failed":
            reason = base.text(base.mapping(line, "error"), "message")
            self.ended, self.failed = True, reason or "the turn failed"
            return [base.error(reason, fatal=True), base.finished("failed", reason)]
        elif kind == "error":
            # A note on a retry, or the reason that the next turn.failed repeats.
            return [base.error(base.text(line, "message"), fatal=False)]
        elif kind not in _TOP:
            raise StrangeLineError(f"unknown type {kind!r}")
        return []

    def _item(
        self, kind: str, item: Mapping[str, object], start: int, end: int
    ) -> Iterable[StreamEvent]:
        what = base.text(item, "type")
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
            return _file_change(item)
        return _call(what, item, done=done)


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


def _command(item: Mapping[str, object]) -> str:
    command = item.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return " ".join(command)
    return base.text(item, "command")
