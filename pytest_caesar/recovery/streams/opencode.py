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
from pytest_caesar.recovery.tool_call import OWN_SERVER, from_milliseconds
from pytest_caesar.recovery.usage import Usage, count

_TYPES = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use", "error"})
_OWN_TOOLS = frozenset(
    [
        "apply_patch",
        "bash",
        "codesearch",
        "edit",
        "glob",
        "grep",
        "invalid",
        "list",
        "lsp",
        "multiedit",
        "patch",
        "plan_enter",
        "plan_exit",
        "question",
        "read",
        "skill",
        "task",
        "todoread",
        "todowrite",
        "webfetch",
        "websearch",
        "write",
    ]
)

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
        self._uncounted = False
        self._open = False

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
            return self._tool(part)
        if kind == "step_finish":
            self._reason = base.optional_text(part, "reason")
            self.ended = self._reason == "stop"
            self._open = False
            self._count(part)
        elif kind == "step_start":
            self._open = True
        return []

    def _tool(self, part: Mapping[str, object]) -> list[StreamEvent]:
        events = _tool(part)
        tool, state = base.text(part, "tool"), base.mapping(part, "state")
        arguments = base.optional_mapping(state, "input")
        metadata, time = base.optional_mapping(state, "metadata"), state.get("time")
        begun, ended = (
            tuple(from_milliseconds(time.get(name)) for name in ("start", "end"))
            if isinstance(time, dict)
            else (None, None)
        )
        key = base.optional_text(part, "callID")
        command = arguments.get("command") if tool == "bash" else None
        self.calls.start(
            key,
            tool,
            arguments,
            command=command if isinstance(command, str) else None,
            at=begun,
            hides=_foreign(tool),
            sub_agent=tool == "task",
        )
        if state.get("status") in _STATUSES:
            self.calls.end(
                key,
                succeeded=events[0].fields["status"] == "succeeded",
                exit_code=metadata.get("exit"),
                output=base.word(state, "output") or base.word(state, "error"),
                at=ended,
            )
        return events

    def _count(self, step: Mapping[str, object]) -> None:
        """Add a step up; one of zeros without a total was never counted by anybody."""
        self.meter.add(turns=1)
        tokens = step.get("tokens")
        counted = tokens if isinstance(tokens, dict) else {}
        cache = counted.get("cache")
        cached = cache if isinstance(cache, dict) else {}
        read, written = (count(cached.get(name)) or 0 for name in ("read", "write"))
        asked, said, thought = (
            count(counted.get(name)) or 0 for name in ("input", "output", "reasoning")
        )
        if "total" not in counted and not any((asked, said, thought, read, written)):
            self._uncounted = True
            return
        # What was cached and what was thought stands beside input and output.
        self.meter.add(
            input_tokens=asked + read + written,
            cached_input_tokens=read,
            cache_write_tokens=written,
            output_tokens=said + thought,
            reasoning_tokens=thought,
            total_tokens=counted.get("total"),
            cost_usd=step.get("cost"),
        )

    @override
    def usage(self) -> Usage:
        self.meter.at_least = self.calls.sub_agents or self._uncounted or self._open
        return self.meter.usage()

    @override
    def reason(self) -> str | None:
        if self.failed is None and self._reason not in {"", "stop"}:
            return f"the stream ends after a step that finished with {self._reason!r}"
        return super().reason()


def _foreign(tool: str) -> bool:
    """Tell whether a tool is one of somebody else's server: these are called SERVER_TOOL."""
    return tool not in _OWN_TOOLS and not tool.startswith(f"{OWN_SERVER}_")


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
