"""Bytes of an event log to events; pure, and linear whatever the bytes are."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.decoding import decode
from caesar_agent.documents.event import Event
from caesar_agent.errors import DocumentError

MAX_LINE_BYTES = 8 * 2**20
"""Length of one line that is read at most, in bytes: 8 MiB."""

MAX_DIAGNOSTICS = 1000
"""Broken lines that are named one by one; a log of blanks and noise has millions."""

MAX_SALVAGES = 4
"""Places in a broken line that are tried as the beginning, or as the end, of a whole event."""

_EVENT_START = re.compile(rb'\{[ \t]*"protocol"[ \t]*:[ \t]*"caesar\.event/')


@dataclass(frozen=True, slots=True)
class EventReading:
    """What was read of an event log.

    Attributes:
        events: in the order of the log.
        diagnostics: what was skipped and why, with line numbers, in the order of the log.
    """

    events: tuple[Event, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(slots=True)
class LineReader:
    """Takes lines one after the other and gathers events and diagnostics.

    Attributes:
        task_id: events of other tasks are skipped with a diagnostic; None takes all.
        path: the log, for diagnostics; None when there is no file.
        line: number of the last line that was taken.
    """

    task_id: str | None = None
    path: str | None = None
    line: int = 0
    _events: list[Event] = field(default_factory=list)
    _diagnostics: list[Diagnostic] = field(default_factory=list)
    _problems: int = 0

    def take_lines(self, data: bytes) -> None:
        """Take whole lines; ``data`` is empty or ends with a newline."""
        for line in data.split(b"\n")[:-1]:
            self.take(line)

    def take(self, data: bytes) -> None:
        """Take one line without its newline; blank lines count and say nothing."""
        self.line += 1
        if data.endswith(b"\r"):
            data = data[:-1]
        if data and not data.isspace():
            self._read(data)

    def take_unfinished(self, data: bytes) -> None:
        """Take what stands behind the last newline once nothing more can come."""
        if not data or data.isspace():
            return
        self.line += 1
        try:
            self._deliver(Event.from_value(_decode(data)))
        except DocumentError as error:
            self._refuse(data, error, unfinished=True)

    def result(self) -> EventReading:
        """Return what was gathered since the last call."""
        reading = EventReading(tuple(self._events), tuple(self._diagnostics))
        self._events, self._diagnostics = [], []
        return reading

    def note(self, code: str, message: str, *, line: int | None = None) -> None:
        """Add a diagnostic about a line, the present one unless another is given.

        Before the first line it is about the whole log.
        """
        self._problems += 1
        if self._problems == MAX_DIAGNOSTICS + 1:
            code, message = "events-too-many-problems", "more lines are broken than are listed"
        elif self._problems > MAX_DIAGNOSTICS:
            return
        self._diagnostics.append(
            Diagnostic(code=code, message=message, path=self.path, line=line or self.line or None)
        )

    def _read(self, data: bytes) -> None:
        if len(data) > MAX_LINE_BYTES:
            self.note("event-line-too-long", f"{len(data)} bytes are more than {MAX_LINE_BYTES}")
            return
        try:
            self._deliver(Event.from_value(_decode(data)))
        except DocumentError as error:
            self._refuse(data, error, unfinished=False)

    def _refuse(self, data: bytes, error: DocumentError, *, unfinished: bool) -> None:
        if error.code == "unsupported-version":
            self.note("event-unsupported-version", error.problem)
        elif self._salvage(data):
            return
        elif unfinished and error.code == "truncated":
            self.note("event-line-incomplete", "the last line has no end; its writer was cut off")
        else:
            # The line is told beside the message; within it there is only one.
            self.note("event-line-invalid", str(error).replace("(line 1, column", "(column"))

    def _salvage(self, data: bytes) -> bool:
        """Deliver the events that stand whole on a line with others or the rests of others."""
        starts = [match.start() for match in _EVENT_START.finditer(data, 1)]
        if not starts:
            return False
        events, end = _whole_events(data, [*starts, len(data)])
        rest = [start for start in starts if start >= end]
        for start in rest[-MAX_SALVAGES:]:
            ends = [later - start for later in starts if later > start]
            behind, length = _whole_events(data[start:], [*ends, len(data) - start])
            if start + length == len(data):
                self.note(
                    "event-line-torn",
                    f"{start - end} bytes before the event are the rest of another",
                )
                events, end = [*events, *behind], len(data)
                break
        else:
            if not events:
                return False
            where = f"{len(data) - end} bytes behind the event are the beginning of another"
            together = f"{len(events)} events stand on one line, which is meant for one"
            self.note("event-line-torn", where if end < len(data) else together)
        for event in events:
            self._deliver(event)
        return True

    def _deliver(self, event: Event) -> None:
        if self.task_id is not None and event.task_id != self.task_id:
            self.note(
                "event-of-another-task",
                f'expected task "{one_line(self.task_id, limit=60)}", '
                f'found "{one_line(event.task_id, limit=60)}"',
            )
        else:
            self._events.append(event)


def _whole_events(data: bytes, ends: list[int]) -> tuple[list[Event], int]:
    """Return the events that follow each other from the start on, and where the last one ends."""
    events: list[Event] = []
    at = missed = 0
    for end in ends:
        event = _whole_event(data[at:end])
        if event is not None:
            events.append(event)
            at = end
        elif (missed := missed + 1) == MAX_SALVAGES:
            # An event may hold what looks like another one's beginning, but not for ever.
            break
    return events, at


def _whole_event(data: bytes) -> Event | None:
    try:
        return Event.from_value(_decode(data))
    except DocumentError:
        return None


def _decode(line: bytes) -> object:
    # A line is UTF-8 or broken: guessing at UTF-16 is for whole documents.
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        cut = error.reason == "unexpected end of data"
        raise DocumentError(
            kind="event",
            code="truncated" if cut else "bad-encoding",
            where="",
            problem=f"byte 0x{line[error.start]:02x} at offset {error.start} is not UTF-8",
        ) from None
    return decode(text, kind="event").value


def plain_utf8(data: bytes) -> tuple[bytes, str | None]:
    """Return a whole log as UTF-8 without a byte order mark, and the code of what it was.

    Some shells write UTF-16 when output is redirected; a mark says so.
    """
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :], "byte-order-mark"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="surrogatepass" if len(data) % 2 == 0 else "replace")
        return text.encode(errors="surrogatepass"), "unusual-encoding"
    return data, None
