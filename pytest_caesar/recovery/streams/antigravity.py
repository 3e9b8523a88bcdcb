"""``agy --print --output-format stream-json``; unverified.

Made from a capture of a run that failed at once and from what the reference reads, not
checked against the current program. Deltas of one step are joined to one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from typing_extensions import override

from pytest_caesar.recovery.streams import base
from pytest_caesar.recovery.streams.base import LineReader, StrangeLineError, StreamEvent

_NO_TEXT = "Antigravity reported an error, without giving its text in its stream."


class Antigravity(LineReader):
    """Reads the ``stream-json`` of Antigravity."""

    name: ClassVar[str] = "antigravity"
    program: ClassVar[str] = "agy"
    verified: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._deltas: list[str] = []
        self._step: object = None
        self._run = (0, 0)

    @staticmethod
    @override
    def recognises(line: Mapping[str, object]) -> bool:
        kind = base.word(line, "event")
        return kind in {"init", "step_update", "result"} and isinstance(line.get(kind), dict)

    @override
    def read(self, line: Mapping[str, object], start: int, end: int) -> Iterable[StreamEvent]:
        kind = base.text(line, "event")
        if kind == "step_update":
            return self._update(base.mapping(line, kind), start, end)
        if kind == "result":
            return self._result(base.mapping(line, kind), start, end)
        if kind == "error":
            reason = _reason(line)
            self.failed = reason
            return [*self._flush(), base.error(reason, fatal=True)]
        if kind != "init":
            raise StrangeLineError(f"unknown event {kind!r}")
        return []

    @override
    def close(self) -> Iterable[StreamEvent]:
        return self._flush()

    def _update(self, step: Mapping[str, object], start: int, end: int) -> list[StreamEvent]:
        kind = base.optional_text(step, "step_type")
        delta = base.optional_text(step, "text_delta")
        events = self._flush() if step.get("step_index") != self._step else []
        if kind == "error_message":
            return [*events, base.error(_NO_TEXT, fatal=False)]
        if kind == "agent_response":
            if not self._deltas:
                self._run = (start, end)
            self._run = (self._run[0], end)
            self._step = step.get("step_index")
            if delta:
                self._deltas.append(delta)
            if step.get("state") == "DONE":
                events += self._flush()
        return events

    def _flush(self) -> list[StreamEvent]:
        words = "".join(self._deltas)
        self._deltas.clear()
        return self.say(words, *self._run)

    def _result(self, result: Mapping[str, object], start: int, end: int) -> list[StreamEvent]:
        status = base.text(result, "status")
        response = base.optional_text(result, "response")
        reason = base.optional_text(result, "error")
        events = self._flush()
        usage = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
        self.count(result.get("usage"), usage)
        self.ended = True
        if response.strip() and response != self.final:
            self.say(response, start, end)
        if reason:
            events.append(base.error(reason, fatal=True))
        if status == "SUCCESS":
            return [*events, base.finished("success", reason)]
        self.failed = reason or f"its result says {status}"
        return [*events, base.finished("failed", reason)]


def _reason(line: Mapping[str, object]) -> str:
    problem = line.get("error")
    if isinstance(problem, str):
        return problem
    if isinstance(problem, dict):
        return base.optional_text(problem, "message") or _NO_TEXT
    return base.optional_text(line, "message") or _NO_TEXT
