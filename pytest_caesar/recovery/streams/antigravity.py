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
from pytest_caesar.recovery.usage import count

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

    def _count(self, result: Mapping[str, object]) -> None:
        """Add the numbers up; what stands beside input and output is seen by the total."""
        used, seconds = result.get("usage"), count(result.get("duration_seconds"))
        self.meter.add(turns=result.get("num_turns"), duration=seconds)
        if not isinstance(used, dict):
            return
        total = count(used.get("total_tokens"))
        asked, said = (count(used.get(f"{name}_tokens")) for name in ("input", "output"))
        thought, read = (count(used.get(f"{name}_tokens")) for name in ("thinking", "cache_read"))
        if None not in (total, asked, said):
            beside = (total or 0) - (asked or 0) - (said or 0)
            if beside and beside in (thought, (thought or 0) + (read or 0)):
                said = (said or 0) + (thought or 0)
            if beside and beside in (read, (thought or 0) + (read or 0)):
                asked = (asked or 0) + (read or 0)
        self.meter.add(
            input_tokens=asked,
            cached_input_tokens=read,
            output_tokens=said,
            reasoning_tokens=thought,
            total_tokens=total,
        )

    def _flush(self) -> list[StreamEvent]:
        words = "".join(self._deltas)
        self._deltas.clear()
        return self.say(words, *self._run)

    def _result(self, result: Mapping[str, object], start: int, end: int) -> list[StreamEvent]:
        status = base.text(result, "status")
        response = base.optional_text(result, "response")
        reason = base.optional_text(result, "error")
        events = self._flush()
        self._count(result)
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
