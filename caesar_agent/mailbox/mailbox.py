"""Questions and answers of one task, as files: ``questions/<id>.json``, ``answers/<id>.json``.

A question is open until ``answers/<id>.json`` exists. Whoever creates that file
first decides what became of it: an answer, or a note that it expired, was
withdrawn or was rejected. Nothing is ever deleted, so that a reader that was
killed finds every question again.
"""

from __future__ import annotations

import functools
import math
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from caesar_agent.clock import monotonic
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import DocumentError
from caesar_agent.mailbox import files
from caesar_agent.mailbox.errors import (
    AlreadyAnsweredError,
    ForeignReportError,
    QuestionError,
    QuestionExpiredError,
    QuestionRejectedError,
    QuestionWithdrawnError,
    UnknownQuestionError,
)
from caesar_agent.mailbox.reader import AskedQuestion, Attempts, Broken, MailboxReader
from caesar_agent.mailbox.staleness import is_stale
from caesar_agent.mailbox.values import (
    Reply,
    Silence,
    check_text,
    encode,
    file_name,
    now,
    parse_question,
    parse_reply,
)
from caesar_agent.task_directory import MAX_DOCUMENT_BYTES, TaskDirectory, write_atomic

if TYPE_CHECKING:
    from caesar_agent.documents.question import QuestionFile
    from caesar_agent.documents.report import Report

DEFAULT_WAIT = 300.0
"""Longest wait for an answer unless the caller says otherwise, in seconds: five minutes,
from the specification. Never beyond the deadline of the task."""

SETTLE = 1.0
"""How long, in seconds, an answer that was first may take to be complete."""

_CLOSED = {
    "answered": AlreadyAnsweredError,
    "expired": QuestionExpiredError,
    "withdrawn": QuestionWithdrawnError,
    "rejected": QuestionRejectedError,
}


class Mailbox:
    """The mailbox of one task, for the one who asks and for the one who answers.

    Args:
        directory: the task directory; it must exist, its folders need not.
    """

    def __init__(self, directory: TaskDirectory | Path | str) -> None:
        if not isinstance(directory, TaskDirectory):
            directory = TaskDirectory(Path(directory).absolute())
        self.directory = directory
        self._attempts = Attempts()
        self._reader = MailboxReader(directory)

    @property
    def task_id(self) -> str:
        """Id of the task, from ``task.json``; the name of the folder where it cannot be read."""
        found = self._task().get("id")
        return found if isinstance(found, str) and found else self.directory.path.name

    # -- for the one who asks

    def ask(
        self,
        question: str,
        options: Sequence[str] = (),
        *,
        announce: Callable[[str], None] | None = None,
    ) -> str:
        """Put a question into the mailbox and return its id, which nobody can guess.

        Args:
            question: what is asked, complete in itself.
            options: choices to pick from.
            announce: called with the id before anybody can see the question; whoever
                tells of it in the event log does so here, so that the one who answers
                finds the event and does not write a second one.

        Raises:
            InvalidTextError: the question is blank, or too long for one file.
            UnsafeMailboxError: ``questions`` is a link or no folder.
            OSError: it cannot be written.
        """
        check_text("question", question)
        question_id = str(uuid.uuid4())
        value = {
            "id": question_id,
            "question": question,
            "options": list(options),
            "asked_at": now(),
            "reads_notes": True,
        }
        data = encode("question", value)
        if announce is not None:
            announce(question_id)
        self._create("questions", question_id, data)
        return question_id

    def poll(self, question_id: str) -> Reply | None:
        """Look once; None while the question is open. Cheap enough for every few milliseconds."""
        name = file_name(question_id)
        with files.folder(self.directory, "answers") as folder:
            if folder is None:
                return None
            parse = functools.partial(parse_reply, question_id)
            reply = self._attempts.read(folder, name, parse)
        if reply is not None and is_stale(self.directory, name):
            return None
        if isinstance(reply, Broken):
            return Silence(id=question_id, reason="unreadable", detail=reply.problem)
        return reply

    def wait(
        self,
        question_id: str,
        *,
        timeout: float = DEFAULT_WAIT,
        given_up: Callable[[], bool] | None = None,
    ) -> Reply:
        """Wait for the answer to a question.

        Args:
            question_id: what ``ask`` returned.
            timeout: seconds; cut to what is left of the task's deadline.
            given_up: asked between two looks; True withdraws the question.

        Returns:
            The answer, or why none will come. At the end of the time the question
            is closed as expired, so that a later answer fails explicitly.
        """
        start = monotonic()
        end = start + self.longest_wait(timeout)
        while (reply := self.poll(question_id)) is None:
            now = monotonic()
            if given_up is not None and given_up():
                return self.close(question_id, "withdrawn")
            if now >= end:
                return self.close(question_id, "expired")
            time.sleep(min(polling_interval(now - start), end - now))
        return reply

    def longest_wait(self, timeout: float = DEFAULT_WAIT) -> float:
        """Cut a timeout to what is left of the task's deadline, in seconds, at least 0.

        The deadline counts from when ``task.json`` was written, by the clock of the
        file system: ``created_at`` may come from a clock that a test has set.
        """
        wanted = DEFAULT_WAIT if math.isnan(timeout) else max(0.0, timeout)
        deadline_ms = self._task().get("deadline_ms")
        if isinstance(deadline_ms, bool) or not isinstance(deadline_ms, int | float):
            return wanted
        try:
            written = self.directory.task_file.lstat().st_mtime
        except OSError:
            return wanted
        elapsed = max(0.0, time.clock_gettime(time.CLOCK_REALTIME) - written)
        return max(0.0, min(wanted, deadline_ms / 1000 - elapsed))

    # -- for the one who answers

    def questions(self, *, final: bool = False) -> tuple[AskedQuestion, ...]:
        """Return all questions in the order in which they came; see ``MailboxReader.read``."""
        return self._reader.read(final=final)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What lies in the mailbox and is no question or answer, as ``questions`` last saw it."""
        return self._reader.diagnostics

    def answer(self, question_id: str, text: str) -> QuestionFile:
        """Answer a question, and return it.

        Raises:
            InvalidQuestionIdError: nothing on disk was touched.
            InvalidTextError: the answer is empty, or too long for one file.
            UnknownQuestionError: there is no such question.
            AlreadyAnsweredError, QuestionExpiredError, QuestionWithdrawnError,
            QuestionRejectedError: somebody was first.
        """
        name = file_name(question_id)
        check_text("answer", text)
        with files.folder(self.directory, "questions") as folder:
            if folder is None:
                raise UnknownQuestionError(question_id=question_id, problem="")
            try:
                question = parse_question(question_id, files.read(folder, name))
            except FileNotFoundError:
                raise UnknownQuestionError(question_id=question_id, problem="") from None
            except (files.NotReadableError, DocumentError) as error:
                raise UnknownQuestionError(question_id=question_id, problem=str(error)) from error
        data = encode("answer", {"id": question_id, "answer": text, "answered_at": now()})
        if not self._create("answers", question_id, data):
            raise self._refusal(question_id)
        return question

    def close(
        self,
        question_id: str,
        state: Literal["expired", "withdrawn", "rejected"],
        detail: str = "",
    ) -> Reply:
        """Close a question without an answer, unless somebody was first.

        Returns:
            What became of it: the answer, when one arrived in the meantime.
        """
        note = {"id": question_id, "state": state, "closed_at": now()}
        if detail:
            note["detail"] = detail
        if self._create("answers", question_id, encode("note", note)):
            if state == "expired":
                self._tell_expiry(question_id)
            return Silence(id=question_id, reason=state, detail=detail)
        end = monotonic() + SETTLE
        while (reply := self.poll(question_id)) is None and monotonic() < end:
            time.sleep(0.01)
        return reply or Silence(id=question_id, reason="unreadable", detail="it stays incomplete")

    def expire(self, question_id: str) -> Reply:
        """Close a question because nobody answered in time; see ``close``."""
        return self.close(question_id, "expired")

    def withdraw(self, question_id: str) -> Reply:
        """Close a question because nobody waits any more; see ``close``."""
        return self.close(question_id, "withdrawn")

    # -- the report

    def submit(self, report: Report) -> None:
        """Hand in a report as the tool ``submit_report`` does; the last one counts.

        It is kept as ``submission.json`` and written to ``report.json`` too.

        Raises:
            ForeignReportError: its ``task_id`` names another task.
            DocumentError: it is too large or nested too deeply for whoever reads it.
            OSError: it cannot be written.
        """
        expected = self._task().get("id")
        if report.task_id and isinstance(expected, str) and report.task_id != expected:
            raise ForeignReportError(found=report.task_id, expected=expected)
        data = report.to_json().encode("utf-8", "backslashreplace")
        if len(data) > MAX_DOCUMENT_BYTES:
            problem = f"it takes {len(data)} bytes, at most {MAX_DOCUMENT_BYTES} are read"
            raise DocumentError(kind="report", code="too-large", where="", problem=problem)
        # What cannot be read back would be accepted here and be lost afterwards.
        type(report).parse(data)
        write_atomic(self.directory.submission_file, data)
        write_atomic(self.directory.report_file, data)

    # -- inside

    def _create(self, kind: Literal["questions", "answers"], question_id: str, data: bytes) -> bool:
        name = file_name(question_id)
        with files.folder(self.directory, kind, create=True) as folder:
            if folder is None:  # somebody removed it again at this very moment
                raise FileNotFoundError(str(self.directory.path / kind))
            if files.create(folder, name, data):
                return True
            if kind == "questions" or not is_stale(self.directory, name):
                return False
            files.remove(folder, name)
            return files.create(folder, name, data)

    def _tell_expiry(self, question_id: str) -> None:
        """Put it into the event log; a log that cannot be written keeps nobody waiting."""
        from caesar_agent.mailbox.question_events import MailboxEvents  # noqa: PLC0415 - pydantic

        MailboxEvents(self.directory, task_id=self.task_id).add_expiry(question_id)

    def _refusal(self, question_id: str) -> QuestionError:
        reply = self.poll(question_id)
        state = reply.reason if isinstance(reply, Silence) else "answered"
        return _CLOSED.get(state, AlreadyAnsweredError)(question_id=question_id)

    def _task(self) -> dict[str, object]:
        """Return ``task.json``, unvalidated; {} when it cannot be read."""
        from caesar_agent.documents.decoding import decode  # noqa: PLC0415 - pydantic is slow

        data = self.directory.read_task().data
        try:
            task = decode(data, kind="task").value if data is not None else None
        except DocumentError:
            return {}
        return task if isinstance(task, dict) else {}


def polling_interval(waited: float) -> float:
    """Return how long to sleep before the next look, in seconds.

    A scripted answer arrives within milliseconds, a person's within minutes.
    """
    return min(0.1, max(0.001, waited / 20))
