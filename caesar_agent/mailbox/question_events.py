"""Questions and answers as events: told once, whoever tells them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Literal

from caesar_agent.errors import CaesarError
from caesar_agent.events.log import EventLog
from caesar_agent.task_directory import TaskDirectory, open_regular

MAX_LOOK_BYTES = 1 << 20
"""How much of the end of the log is searched for an event, in bytes: it was just written."""


class MailboxEvents:
    """Tells of questions and answers in the event log, unless somebody has already.

    Who asks through the return channel or the SDK tells of the question before it can be
    seen; who asks by writing a file alone does not, so the one who answers does.

    Args:
        directory: the task directory.
        task_id: id of the task, for the events.
        log: the event log, where its caller has one open already.
    """

    def __init__(
        self, directory: TaskDirectory, *, task_id: str, log: EventLog | None = None
    ) -> None:
        self._directory = directory
        self._task_id = task_id
        self._log = log or EventLog(directory.events_file)

    def add_question(self, question_id: str, question: str, options: Sequence[str]) -> str:
        """Tell that a question was asked; return what went wrong, or ""."""
        return self._tell("question", question_id, question=question, options=list(options))

    def add_answer(self, question_id: str, answer: str) -> str:
        """Tell that a question was answered; return what went wrong, or ""."""
        return self._tell("answer", question_id, answer=answer)

    def add_expiry(self, question_id: str) -> str:
        """Tell that nobody answered in time; return what went wrong, or ""."""
        message = f"question {question_id} has expired: nobody answered in time"
        return self._tell("error", question_id, message=message)

    def _tell(
        self, kind: Literal["question", "answer", "error"], question_id: str, **fields: object
    ) -> str:
        # A log that cannot be written keeps nobody from asking or answering.
        try:
            if not self._is_told(kind, question_id):
                self._log.append(type=kind, task_id=self._task_id, id=question_id, **fields)
        except (OSError, CaesarError) as error:
            return str(error)
        return ""

    def _is_told(self, kind: str, question_id: str) -> bool:
        descriptor, _ = open_regular(self._directory.events_file)
        if descriptor is None:
            return False
        try:
            start = max(0, os.fstat(descriptor).st_size - MAX_LOOK_BYTES)
            data = os.pread(descriptor, MAX_LOOK_BYTES, start)
        finally:
            os.close(descriptor)
        return any(
            question_id.encode() in line and _names(line, kind, question_id)
            for line in data.split(b"\n")
        )


def _names(line: bytes, kind: str, question_id: str) -> bool:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(event, dict):
        return False
    return bool(event.get("type") == kind and event.get("id") == question_id)
