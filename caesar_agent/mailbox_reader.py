"""All questions of a task, with what became of them: for the one who answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from caesar_agent import mailbox_files as files
from caesar_agent.clock import monotonic
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import DocumentError
from caesar_agent.mailbox_errors import UnsafeMailboxError
from caesar_agent.mailbox_values import (
    Answer,
    Reply,
    State,
    is_valid_id,
    parse_question,
    parse_reply,
)
from caesar_agent.task_directory import TaskDirectory
from caesar_agent.terminal import printable

if TYPE_CHECKING:
    from caesar_agent.documents.mailbox import QuestionFile

GRACE = 5.0
"""How long, in seconds, a file that cannot be read yet has to stay unchanged before it
counts as broken: a writer without a temporary file may stop in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """One question and what became of it.

    Attributes:
        id: its id.
        question: what was asked.
        options: choices that were offered.
        asked_at: UTC, or "" when the asker did not say.
        state: ``pending`` until ``answers/<id>.json`` exists.
        answer: the answer, where the state is ``answered``.
    """

    id: str
    question: str
    options: tuple[str, ...] = ()
    asked_at: str = ""
    state: State = "pending"
    answer: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "id": self.id,
            "question": self.question,
            "options": list(self.options),
            "asked_at": self.asked_at,
            "state": self.state,
            "answer": self.answer,
        }


class Unsettled:
    """Files that could not be read yet, and since when they have looked the way they do."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[tuple[int, ...] | None, float]] = {}

    def is_settled(self, folder: int, key: str, name: str) -> bool:
        """Tell whether an unreadable file has stayed the same for ``GRACE`` seconds."""
        found = files.signature(folder, name)
        now = monotonic()
        known, since = self._since.get(key, (None, now))
        if known != found or known is None:
            self._since[key] = (found, now)
            return False
        return now - since >= GRACE


class MailboxReader:
    """Reads a mailbox again and again; what was read once is not read again.

    Args:
        directory: the task directory.
    """

    def __init__(self, directory: TaskDirectory) -> None:
        self._directory = directory
        self._questions: dict[str, QuestionFile] = {}
        self._replies: dict[str, Reply] = {}
        self._unsettled = Unsettled()
        self._found: dict[tuple[str, str], Diagnostic] = {}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What lies in the mailbox and is neither a question nor an answer, as last read."""
        return tuple(self._found.values())

    def read(self, *, final: bool = False) -> tuple[AskedQuestion, ...]:
        """Return the questions in the order in which they came.

        Args:
            final: nobody writes any more, so that what cannot be read now counts as
                broken at once; else it does after ``GRACE`` seconds without a change.
        """
        try:
            self._read_questions(final=final)
            if self._questions:
                self._read_replies(final=final)
        except UnsafeMailboxError as error:
            self._note("mailbox-unsafe", error.path, str(error))
        except OSError as error:
            path = str(error.filename or self._directory.path)
            self._note("mailbox-unreadable", path, f"the mailbox cannot be read: {error.strerror}")
        return tuple(self._describe(question) for question in self._questions.values())

    def _describe(self, question: QuestionFile) -> AskedQuestion:
        reply = self._replies.get(question.id)
        answered = isinstance(reply, Answer)
        state: State = "pending"
        if isinstance(reply, Answer):
            state = "answered"
        elif reply is not None:
            # An answer that stays unreadable reached nobody.
            state = "expired" if reply.reason == "unreadable" else reply.reason
        return AskedQuestion(
            id=question.id,
            question=question.question,
            options=question.options,
            asked_at=question.asked_at or "",
            state=state,
            answer=reply.text if answered and isinstance(reply, Answer) else None,
        )

    def _read_questions(self, *, final: bool) -> None:
        with files.folder(self._directory.path, "questions") as folder:
            if folder is None:
                return
            found, more = files.names(folder)
            if more:
                problem = f"only the first {files.MAX_FILES} files are looked at"
                self._note("mailbox-flooded", str(self._directory.questions), problem)
            new: list[tuple[int, QuestionFile]] = []
            for name in found:
                # Temporary files of writers, ours and others', are not questions yet.
                if name.startswith(".") or not name.endswith(".json"):
                    continue
                question_id = name[: -len(".json")]
                if question_id in self._questions:
                    continue
                question = self._read_question(folder, name, question_id, final=final)
                if question is not None:
                    written = files.signature(folder, name) or (0, 0, 0, 0)
                    new.append((written[2], question))
        for _, question in sorted(new, key=lambda item: (item[0], item[1].id)):
            self._questions[question.id] = question

    def _read_question(
        self, folder: int, name: str, question_id: str, *, final: bool
    ) -> QuestionFile | None:
        if not is_valid_id(question_id):
            problem = f"{name!r:.200} is not named like a question and is not read as one"
            self._note("question-invalid", name, problem)
            return None
        key = f"questions/{name}"
        try:
            question = parse_question(question_id, files.read(folder, name))
        except FileNotFoundError:
            return None
        except (files.NotReadableError, DocumentError) as error:
            if final or self._unsettled.is_settled(folder, key, name):
                self._note("question-invalid", key, f"{key} is not a question: {error}")
            return None
        self._found.pop(("question-invalid", key), None)
        return question

    def _read_replies(self, *, final: bool) -> None:
        with files.folder(self._directory.path, "answers") as folder:
            if folder is None:
                return
            for question_id in self._questions.keys() - self._replies.keys():
                name = f"{question_id}.json"
                key = f"answers/{name}"
                try:
                    self._replies[question_id] = parse_reply(question_id, files.read(folder, name))
                except FileNotFoundError:
                    continue
                except (files.NotReadableError, DocumentError) as error:
                    if final or self._unsettled.is_settled(folder, key, name):
                        self._note("answer-invalid", key, f"{key} is not an answer: {error}")
                else:
                    self._found.pop(("answer-invalid", key), None)

    def _note(self, code: str, path: str, message: str) -> None:
        # Names and texts are the agent's: nothing of them may act on a terminal.
        if len(self._found) < files.MAX_FILES:
            self._found[code, path] = Diagnostic(
                code=code, message=printable(message, limit=500), path=printable(path, limit=300)
            )
