"""``copilot --output-format json``, checked on the output of Copilot CLI 1.0.102."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent
from pytest_caesar.recovery.tool_call import OWN_SERVER, from_text
from pytest_caesar.recovery.usage import Usage, count

_OWN = f"{OWN_SERVER}-"
_WRITING = {"create": "created", "edit": "modified"}
_FAMILIES = ("session.", "assistant.", "model.", "user.", "tool.", "hook.", "subagent.", "system.")


class Copilot(LineReader):
    """Reads the JSON lines of the Copilot CLI."""

    name: ClassVar[str] = "copilot"
    program: ClassVar[str] = "copilot"
    verified: ClassVar[str] = "Copilot CLI 1.0.102"
    essential: ClassVar[tuple[bytes, ...]] = (
        b'"assistant.message"',
        b'"session.error"',
        b'"result"',
    )

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[str, tuple[str, str]] = {}
        self._files: dict[str, tuple[str, str]] = {}
        self._models: dict[str, int] = {}

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
            nested = data.get("parentToolCallId") is not None
            self._count(data, nested=nested)
            if nested:
                return []
            return self.say(base.optional_text(data, "content"), start, end)
        if kind == "tool.execution_start":
            tool, call = base.text(data, "toolName"), base.optional_text(data, "toolCallId")
            arguments = base.optional_mapping(data, "arguments")
            summary = base.summarize(arguments)
            command = arguments.get("command") if tool == "bash" else None
            self.calls.start(
                call,
                tool,
                arguments,
                command=command if isinstance(command, str) else None,
                at=from_text(line.get("timestamp")),
                # Tools of others are called SERVER-TOOL; what is typed into a shell runs there.
                hides=tool == "write_bash" or ("-" in tool and not tool.startswith(_OWN)),
                sub_agent=tool in {"task", "agent"},
                nested=data.get("parentToolCallId") is not None,
            )
            self._calls[call] = (tool, summary)
            path = base.word(arguments, "path")
            if tool in _WRITING and path:
                self._files[call] = (path, _WRITING[tool])
            return [base.tool_use(tool, call, summary, "started")]
        if kind == "tool.execution_complete":
            call = base.optional_text(data, "toolCallId")
            tool, summary = self._calls.pop(call, (base.optional_text(data, "toolName"), ""))
            shell = data.get("shellExecution")
            code = shell.get("exitCode") if isinstance(shell, dict) else None
            # A command that failed is told as a success.
            failed = data.get("success") is False or code not in (None, 0)
            status = "failed" if failed else "succeeded"
            result = data.get("result")
            self.calls.end(
                call,
                succeeded=not failed,
                exit_code=code,
                output=base.word(result, "content") if isinstance(result, dict) else None,
                at=from_text(line.get("timestamp")),
            )
            events = [base.tool_use(tool, call, summary, status)]
            path, action = self._files.pop(call, ("", ""))
            if path and not failed:
                events.append(base.file_changed(path, action))
            return events
        return []

    def _count(self, message: Mapping[str, object], *, nested: bool) -> None:
        """Count an answer of the model; how many tokens it took is not printed."""
        if not nested:
            self.meter.add(turns=1)
        model = base.word(message, "model")
        if model:
            self._models[model] = self._models.get(model, 0) + 1

    @override
    def usage(self) -> Usage:
        self.meter.at_least = self.calls.sub_agents or not self.ended
        return self.meter.usage(
            by_model={model: Usage(turns=turns) for model, turns in self._models.items()}
        )

    def _result(self, line: Mapping[str, object]) -> list[StreamEvent]:
        code = line.get("exitCode")
        if not isinstance(code, int) or isinstance(code, bool):
            raise StrangeLineError(f"exitCode is {base.kind(code)}, expected an integer")
        used = line.get("usage")
        milliseconds = count(used.get("sessionDurationMs")) if isinstance(used, dict) else None
        if milliseconds is not None:
            self.meter.add(duration=milliseconds / 1000)
        self.ended = True
        if code != 0 and self.failed is None:
            self.failed = f"its result says exit code {code}"
        return [base.finished("success" if code == 0 else "failed", exit_code=code)]
