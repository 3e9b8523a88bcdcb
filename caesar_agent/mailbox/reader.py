"""All questions of a task, with what became of them: for the one who answers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from caesar_agent.clock import monotonic
from caesar_agent.console import printable
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import DocumentError
from caesar_agent.mailbox import files
from caesar_agent.mailbox.errors import UnsafeMailboxError
from caesar_agent.mailbox.staleness import is_stale
from caesar_agent.mailbox.values import (
    Answer,
    Reply,
    Silence,
    State,
    is_valid_id,
    parse_question,
    parse_reply,
)
from caesar_agent.task_directory import TaskDirectory

if TYPE_CHECKING:
    from caesar_agent.documents.question import QuestionFile

GRACE = 5.0
"""How long, in seconds, a file that cannot be read yet has to stay unchanged before it
counts as broken: a writer without a temporary file may stop in the middle."""


MAX_QUESTIONS = 1000
"""Most questions of one task that are read; an agent that asks more is not asking."""

MAX_DIAGNOSTICS = 100
"""Most findings about one mailbox."""

Value = TypeVar("Value")


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
        reads_notes: who asked takes a note that nobody answers for one; others would wait on.
    """

    id: str
    question: str
    options: tuple[str, ...] = ()
    asked_at: str = ""
    state: State = "pending"
    answer: str | None = None
    reads_notes: bool = False

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

    def __repr__(self) -> str:
        answer = "" if self.answer is None else f" {self.answer!r:.80}"
        return f"<Question {self.question!r:.120} {self.state}{answer}>"


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that cannot be read and will not be.

    Attributes:
        problem: what is wrong with it.
    """

    problem: str


@dataclass(frozen=True, slots=True)
class _Failure:
    look: tuple[int, ...] | None
    since: float
    problem: str


class Attempts:
    """Reads files that may be half written; a broken one is read again when it has changed."""

    def __init__(self) -> None:
        self._failures: dict[str, _Failure] = {}

    def read(
        self, folder: int, name: str, parse: Callable[[bytes], Value], *, final: bool = False
    ) -> Value | Broken | None:
        """Read one file.

        Args:
            folder: descriptor of its folder.
            name: its name; names of different folders need instances of their own.
            parse: makes a value from its bytes, or raises ``DocumentError``.
            final: what cannot be read now is broken; else it is when it has not
                changed for ``GRACE`` seconds.

        Returns:
            The value; None when there is no such file, or none that is complete.
        """
        look = files.signature(folder, name)
        failure = self._failures.get(name)
        if failure is None or failure.look != look or final:
            try:
                value = parse(files.read(folder, name))
            except FileNotFoundError:
                self._failures.pop(name, None)
                return None
            except (files.NotReadableError, DocumentError) as error:
                failure = self._failures[name] = _Failure(look, monotonic(), str(error))
            else:
                self._failures.pop(name, None)
                return value
        settled = final or monotonic() - failure.since >= GRACE
        return Broken(failure.problem) if settled else None


class MailboxReader:
    """Reads a mailbox again and again; what was read once is not read again.

    Args:
        directory: the task directory.
    """

    def __init__(self, directory: TaskDirectory) -> None:
        self._directory = directory
        self._questions: dict[str, QuestionFile] = {}
        self._replies: dict[str, Reply] = {}
        self._question_files = Attempts()
        self._answer_files = Attempts()
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
            answer=reply.text if isinstance(reply, Answer) else None,
            reads_notes=(question.model_extra or {}).get("reads_notes") is True,
        )

    def _read_questions(self, *, final: bool) -> None:
        with files.folder(self._directory, "questions") as folder:
            if folder is None:
                return
            found, more = files.names(folder)
            new: list[tuple[int, QuestionFile]] = []
            for name in found:
                # Temporary files of writers, ours and others', are not questions yet.
                if name.startswith(".") or not name.endswith(".json"):
                    continue
                question_id = name[: -len(".json")]
                if question_id in self._questions:
                    continue
                if len(self._questions) + len(new) >= MAX_QUESTIONS:
                    more = True
                    break
                question = self._read_question(folder, name, question_id, final=final)
                if question is not None:
                    written = files.signature(folder, name) or (0, 0, 0, 0)
                    new.append((written[2], question))
            if more:
                problem = "it holds more files than are looked at; the rest is left aside"
                self._note("mailbox-flooded", str(self._directory.questions), problem)
        for _, question in sorted(new, key=lambda item: (item[0], item[1].id)):
            self._questions[question.id] = question

    def _read_question(
        self, folder: int, name: str, question_id: str, *, final: bool
    ) -> QuestionFile | None:
        if not is_valid_id(question_id):
            problem = f"{name!r:.200} is not named like a question and is not read as one"
            self._note("question-invalid", name, problem)
            return None
        parse = functools.partial(parse_question, question_id)
        question = self._question_files.read(folder, name, parse, final=final)
        self._judge(question, "question", f"questions/{name}")
        return None if isinstance(question, Broken) else question

    def _read_replies(self, *, final: bool) -> None:
        with files.folder(self._directory, "answers") as folder:
            if folder is None:
                return
            for question_id in self._questions.keys() - self._replies.keys():
                name = f"{question_id}.json"
                parse = functools.partial(parse_reply, question_id)
                reply = self._answer_files.read(folder, name, parse, final=final)
                self._judge(reply, "answer", f"answers/{name}")
                if reply is not None and is_stale(self._directory, name):
                    message = f"answers/{name} is older than its question, and no answer to it"
                    self._note("answer-stale", f"answers/{name}", message)
                elif isinstance(reply, Answer | Silence):
                    self._replies[question_id] = reply

    def _judge(self, read: object, kind: Literal["question", "answer"], path: str) -> None:
        """Name a broken file, and forget one that was mended."""
        if isinstance(read, Broken):
            article = "a question" if kind == "question" else "an answer"
            self._note(f"{kind}-invalid", path, f"{path} is not {article}: {read.problem}")
        elif read is not None:
            self._found.pop((f"{kind}-invalid", path), None)

    def _note(self, code: str, path: str, message: str) -> None:
        # Names and texts are the agent's: nothing of them may act on a terminal.
        if len(self._found) < MAX_DIAGNOSTICS:
            self._found[code, path] = Diagnostic(
                code=code, message=printable(message, limit=500), path=printable(path, limit=300)
            )
