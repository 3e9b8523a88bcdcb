"""Lines of a native stream to events, as they arrive or all at once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.recovery.streams.base import (
    LineReader,
    StrangeLineError,
    StreamEvent,
    StreamReading,
)
from pytest_caesar.recovery.usage import Usage

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Size of one line that is decoded; longer ones are skipped, so that memory stays bounded."""

MAX_TOLD = 3
"""Skipped lines that are told one by one, of each kind."""


class Translator:
    """Reads one native stream piece by piece.

    Pieces may be cut anywhere. A line that is strange in any way is skipped and told;
    nothing in the stream raises.

    Args:
        reader: a fresh reader of the dialect.
        keep_events: hand all events out again in the reading that ``close`` returns.
        words_only: leave out lines that only tell what tools did; most of a stream.
    """

    def __init__(
        self, reader: LineReader, *, keep_events: bool = False, words_only: bool = False
    ) -> None:
        self._reader = reader
        self._keep_events = keep_events
        self._essential = reader.essential if words_only else ()
        self._events: list[StreamEvent] = []
        self._rest = bytearray()
        self._offset = 0
        self._line = 0
        self._overlong = False
        self._skipped: Counter[str] = Counter()
        self._diagnostics: list[Diagnostic] = []
        self._finished = False
        self._whole = True
        self._reading: StreamReading | None = None

    def feed(self, data: bytes) -> tuple[StreamEvent, ...]:
        """Take the next bytes and return the events that they complete."""
        events: list[StreamEvent] = []
        position = 0
        while (newline := data.find(b"\n", position)) >= 0:
            events.extend(self._complete(data[position:newline], ended=True))
            position = newline + 1
        if position < len(data):
            self._hold(data[position:])
        return self._kept(events)

    def finish(self) -> tuple[StreamEvent, ...]:
        """Read what is left, a last line without its line break included; nothing comes after."""
        events: list[StreamEvent] = []
        if not self._finished:
            self._finished = True
            if self._rest or self._overlong:
                events.extend(self._complete(b"", ended=False))
            events.extend(self._reader.close())
        return self._kept(events)

    def gap(self) -> None:
        """Note that the stream goes on elsewhere: something between was not read."""
        self._whole = False

    @property
    def ended(self) -> bool:
        """Whether the agent has come to its end, as the stream says so far."""
        return self._reader.ended

    def usage(self) -> Usage:
        """Return what is known so far of tokens, cost and turns."""
        return self._reader.usage()

    def close(self) -> StreamReading:
        """Finish, and sum the stream up."""
        self.finish()
        if self._reading is None:
            self._reading = StreamReading(
                dialect=self._reader.name,
                events=tuple(self._events),
                own_texts=tuple(self._reader.own_texts),
                final=self._reader.final,
                usage=self._reader.usage(),
                calls=self._reader.calls.calls,
                whole=self._whole and not self._reader.calls.dropped,
                failed=self._reader.reason(),
                diagnostics=(*self._diagnostics, *self._summaries()),
            )
        return self._reading

    def _kept(self, events: list[StreamEvent]) -> tuple[StreamEvent, ...]:
        if self._keep_events:
            self._events.extend(events)
        return tuple(events)

    def _hold(self, piece: bytes) -> None:
        if len(self._rest) + len(piece) > MAX_LINE_BYTES:
            self._overlong = True
        if self._overlong:
            # Only its length still matters.
            self._offset += len(self._rest) + len(piece)
            self._rest.clear()
        else:
            self._rest += piece

    def _complete(self, piece: bytes, *, ended: bool) -> Iterator[StreamEvent]:
        self._line += 1
        if self._overlong or len(self._rest) + len(piece) > MAX_LINE_BYTES:
            self._offset += len(self._rest) + len(piece) + ended
            self._rest.clear()
            self._overlong = False
            self._whole = False
            self._skip("stream-line-too-long", f"longer than {MAX_LINE_BYTES} bytes")
            return
        line = bytes(self._rest) + piece if self._rest else piece
        self._rest.clear()
        start = self._offset
        self._offset += len(line) + ended
        yield from self._read(line, start)

    def _read(self, line: bytes, start: int) -> Iterator[StreamEvent]:
        stripped = line.strip(b" \t\r")
        if not stripped:
            return
        if not stripped.startswith(b"{"):
            self._skip("stream-line-not-json", "not a JSON object")
            return
        if self._essential and not any(name in stripped for name in self._essential):
            self._reader.pass_over(stripped)
            return
        try:
            value = json.loads(stripped)
        except (ValueError, RecursionError):
            self._whole = False
            self._skip("stream-line-not-json", "not a JSON object")
            return
        try:
            yield from self._reader.read(value, start, start + len(line))
        except StrangeLineError as strange:
            self._whole = False
            self._skip("stream-line-strange", one_line(str(strange), limit=120))
        except RecursionError:
            self._whole = False
            self._skip("stream-line-strange", "nested too deeply")

    def _skip(self, code: str, problem: str) -> None:
        self._skipped[code] += 1
        if self._skipped[code] <= MAX_TOLD:
            message = f"line {self._line} of the {self._reader.name} stream was skipped: {problem}"
            self._diagnostics.append(
                Diagnostic(code=code, message=message, path="raw.log", line=self._line)
            )

    def _summaries(self) -> Iterator[Diagnostic]:
        for code, count in self._skipped.items():
            if count > MAX_TOLD:
                message = (
                    f"{count - MAX_TOLD} more lines of the {self._reader.name} stream were skipped"
                )
                yield Diagnostic(code=code, message=message, path="raw.log")
