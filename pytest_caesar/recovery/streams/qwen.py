"""``qwen -o stream-json``, checked on the output of Qwen Code 0.15.10.

The lines of Claude Code, with the tools of Gemini CLI: a command that failed is no error
there, and its exit code is not printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import StreamEvent
from pytest_caesar.recovery.streams.claude import Claude

_WRITING = frozenset({"write_file", "edit"})


class Qwen(Claude):
    """Reads the ``stream-json`` of Qwen Code."""

    name: ClassVar[str] = "qwen"
    program: ClassVar[str] = "qwen"
    verified: ClassVar[str] = "Qwen Code 0.15.10"
    extends: ClassVar[str] = "claude"
    tells_creation: ClassVar[bool] = False
    shells: ClassVar[frozenset[str]] = frozenset({"run_shell_command"})

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, str] = {}

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        return base.word(line, "type") == "system" and "qwen_code_version" in line

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        events = list(super().read(line, start, end))
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, dict):
                continue
            arguments = block.get("input")
            if block.get("name") in _WRITING and isinstance(arguments, dict):
                self._files[base.word(block, "id")] = base.word(arguments, "file_path")
            path = self._files.pop(base.word(block, "tool_use_id"), "")
            if path and block.get("is_error") is not True:
                events.append(base.file_changed(path, "modified"))
        return events
