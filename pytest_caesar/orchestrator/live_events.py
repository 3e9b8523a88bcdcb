"""What a run tells while it goes on, and the event log that is left of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import Any

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.event import AnswerEvent, ErrorEvent, Event, QuestionEvent
from caesar_agent.documents.task import Task
from caesar_agent.documents.timestamps import utc_now
from caesar_agent.errors import CaesarError
from caesar_agent.events.lines import EventReading
from caesar_agent.events.log import EventLog
from caesar_agent.events.reading import EventTail, mentions, read_events
from caesar_agent.events.remarks import remarks
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.recovery.sources import MAX_LOG_BYTES
from pytest_caesar.recovery.streams.base import StreamReading
from pytest_caesar.recovery.streams.dialects import detect, open_translator, tells_creation
from pytest_caesar.recovery.streams.translator import Translator
from pytest_caesar.recovery.usage import Usage
from pytest_caesar.supervision.logs import Log
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.time_left import format_seconds

STREAM_CHUNK = 1024 * 1024
"""Bytes of a native stream that one poll reads at most, so that supervision goes on beside it."""

LAST_OUTPUT = 4096
"""Bytes at the end of the log that are shown of an agent which tells no events."""


class Listeners:
    """Tells several of each event.

    Args:
        shown: shows events to people, or None; it may fail, and is then told no more.
        others: never raise.
    """

    def __init__(
        self, shown: Callable[[Event], None] | None, *others: Callable[[Event], None]
    ) -> None:
        self._shown = shown
        self._others = others
        self.quiet = getattr(shown, "quiet", None)

    def __call__(self, event: Event) -> None:
        """Tell all of them."""
        for other in self._others:
            other(event)
        if self._shown is not None:
            try:
                self._shown(event)
            except (OSError, ValueError):
                self._shown = self.quiet = None


class Narration:
    """The event log of one delegation, from the orchestrator's side.

    It writes ``started`` and the end, turns a native stream into events while it is
    printed, and shows every event as it comes. Nothing that an agent does to the log
    stops a delegation: what cannot be written or read becomes a diagnostic.

    Args:
        task: whose events these are.
        directory: its folder.
        dialect: the native stream on stdout, or None.
        log: ``raw.log``, as the agent writes it.
        on_event: called with every event as it comes, or None; where it has a method
            ``quiet``, that is called with the task's id and a source of the last output at
            every look, so that an agent without events is seen too.
        on_usage: called at every look with what the stream tells so far of tokens and cost.
        now: gives the times of events that the orchestrator writes.
        existed: tells whether a path was there before the agent, for streams that do not say
            whether a file is new.

    Attributes:
        events: after ``close``: all that the log holds.
        diagnostics: what was wrong with the log.
        stream: after ``close``: the native stream, read; None for plain output.
    """

    def __init__(
        self,
        *,
        task: Task,
        directory: TaskDirectory,
        dialect: str | None,
        log: Log,
        on_event: Callable[[Event], None] | None,
        on_usage: Callable[[Usage], None] | None = None,
        now: Callable[[], datetime] = utc_now,
        existed: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.events: tuple[Event, ...] = ()
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._task = task
        self._directory = directory
        self._writer = EventLog(
            directory.events_file, task_id=task.id, now=now, directory=directory
        )
        self._tail = EventTail(directory.events_file, task_id=task.id)
        self._on_event = on_event
        self._existed = existed if dialect and not tells_creation(dialect) else None
        self._on_usage = on_usage
        self._log = log
        self._read = 0
        self._translator: Translator | None = open_translator(dialect) if dialect else None
        self._unwritable: Diagnostic | None = None
        self._complete = False
        self._silent = False
        self.stream: StreamReading | None = None

    def started(self, command: str) -> None:
        """Write the ``started`` event, right before the agent starts."""
        self._append(type="started", agent=self._task.agent, command=command)

    def poll(self) -> None:
        """Translate and show what is new; called while the agent runs."""
        if self._translator is not None:
            self._translate(self._log.read_at(self._read, STREAM_CHUNK))
        if self._on_usage is not None and not (self._translator and self._translator.ended):
            self._on_usage(self.usage())
        if self._on_event is not None:
            try:
                self._show(self._on_event)
            except (OSError, ValueError):
                # The reader of a pipe has gone, a disk is full: the agent works on unseen.
                self._on_event = None

    def _show(self, on_event: Callable[[Event], None]) -> None:
        for event in self._tail.read().events:
            on_event(event)
        quiet = getattr(on_event, "quiet", None)
        if quiet is not None:
            quiet(self._task.id, self._last_output)

    def tell(self, message: str) -> None:
        """Write that something went on, in the words of the orchestrator."""
        self._append(type="progress", message=message)

    def play_back(self) -> None:
        """Let the event log that lies there be all that is told: nothing is added to it."""
        self._complete = True

    def usage(self) -> Usage:
        """Return what the stream tells so far of tokens, cost and turns."""
        return Usage() if self._translator is None else self._translator.usage()

    def _last_output(self) -> bytes:
        return self._log.read_at(max(0, self._log.size - LAST_OUTPUT), LAST_OUTPUT)

    def close(self, outcome: Outcome) -> None:
        """Translate the rest, write how it ended, and read the whole log.

        Where the agent wrote ``finished`` itself, that word stands and none is added.
        """
        self._on_usage = None
        cut = self._translate_rest()
        reading: EventReading | None = None
        if self._complete:
            pass  # it has its end already
        elif outcome.timed_out:
            deadline = format_seconds(self._task.deadline_ms)
            text = f"the deadline of {deadline} passed; the agent was ended"
            self._append(type="error", message=text, fatal=True)
        elif outcome.status == "cancelled":
            self._append(
                type="error", message="the task was cancelled; the agent was stopped", fatal=True
            )
        else:
            # A log that takes its time is read a second time only where there is no other way.
            if mentions(self._directory.events_file, b'"finished"'):
                reading = self._read_all()
            if reading is None or not any(event.type == "finished" for event in reading.events):
                self._append(
                    type="finished",
                    status="success" if outcome.status == "succeeded" else "failed",
                    exit_code=outcome.exit_code,
                )
                reading = None
        reading = reading or self._read_all()
        self.events = reading.events
        whole = not any(item.code == "events-cut" for item in reading.diagnostics)
        odd = remarks(self.events, whole=whole)
        self.diagnostics = (*reading.diagnostics, *odd, *cut, *self._lost_event_findings())
        if self._unwritable is not None:
            self.diagnostics = (*self.diagnostics, self._unwritable)
        self.poll()

    def _read_all(self) -> EventReading:
        problem = self._replaced()
        if problem is not None:
            return EventReading((), (problem,))
        return read_events(self._directory.events_file, task_id=self._task.id)

    def _replaced(self) -> Diagnostic | None:
        """Tell that the path of the log leads to another folder than was made for the task."""
        try:
            with self._directory.opened():
                return None
        except OSError:
            if not os.path.lexists(self._directory.path):
                return None
        return Diagnostic(
            code="file-unreadable",
            message="events.jsonl was not read: another folder, or a link to one, took the place "
            "of the task directory",
            path=str(self._directory.events_file),
        )

    def _translate_rest(self) -> list[Diagnostic]:
        """Translate what is left of the stream, as far back as recovery reads at most."""
        if self._translator is None:
            dialect = detect(self._log.read_at(0, STREAM_CHUNK))
            if dialect is None:
                return []
            # An agent of nobody's catalogue that prints such a stream: no events are made of it.
            self._translator, self._silent = open_translator(dialect), True
        assert self._translator is not None
        found = []
        size = self._log.size
        if size - self._read > MAX_LOG_BYTES:
            start = size - MAX_LOG_BYTES
            self._translator.gap()
            found.append(
                Diagnostic(
                    code="events-cut",
                    message=f"{start - self._read} bytes of the native stream were not turned "
                    f"into events; only the last {MAX_LOG_BYTES} were",
                    path=str(self._log.path),
                )
            )
            self._read = start
            self._write_all(self._translator.feed(b"\n"))  # the line before the gap has no end
        while self._read < size:
            chunk = self._log.read_at(self._read, min(STREAM_CHUNK, size - self._read))
            if not chunk:
                break
            self._translate(chunk)
        self._write_all(self._translator.finish())
        self.stream = self._translator.close()
        return [] if self._silent else found

    def _lost_event_findings(self) -> list[Diagnostic]:
        """Tell of questions without a channel, and of requests that could not be answered in one."""
        if self._task.channel is not None:
            return [
                Diagnostic(code="request-unanswerable", message=one_line(event.message, limit=300))
                for event in self.events
                if isinstance(event, ErrorEvent)
                and (event.model_extra or {}).get("code") == "request-unanswerable"
            ]
        answered = {event.id for event in self.events if isinstance(event, AnswerEvent)}
        return [
            Diagnostic(
                code="unanswered-question",
                message=f"the agent asked {one_line(event.question, limit=120)!r} in its events, "
                "and the task had no return channel",
            )
            for event in self.events
            if isinstance(event, QuestionEvent) and event.id not in answered
        ]

    def _translate(self, chunk: bytes) -> None:
        self._read += len(chunk)
        if chunk and self._translator is not None:
            self._write_all(self._translator.feed(chunk))

    def _write_all(self, events: tuple[Any, ...]) -> None:
        if self._complete or self._silent:
            return
        for event in events:
            fields = dict(event.fields)
            guessed = self._existed is not None and fields.get("action") == "modified"
            if guessed and self._existed and not self._existed(fields["path"]):
                fields["action"] = "created"
            self._append(type=event.type, **fields)

    def _append(self, **event: Any) -> None:
        try:
            self._writer.append(**event)
        except (CaesarError, OSError) as error:
            self._unwritable = Diagnostic(
                code="events-unwritable",
                message=f"an event could not be written to the log: {error}",
                path=str(self._directory.events_file),
            )
