# ruff: noqa: D102 - what message() does is said once, by its base class
"""Why a question could not be asked, answered or closed: one class for each reason."""

from __future__ import annotations

from caesar_agent.errors import CaesarError


class MailboxError(CaesarError):
    """Base of everything that the mailbox refuses."""


class InvalidQuestionIdError(MailboxError):
    """An id that could not be a file name of ours; nothing on disk was touched.

    Attributes:
        question_id: the id as it was given.
    """

    question_id: str

    def message(self) -> str:
        return (
            f"invalid question id {self.question_id!r:.140}: expected 1 to 128 letters, digits, "
            "'_' and '-', not starting with '-', and not a name that Windows reserves"
        )


class InvalidTextError(MailboxError):
    """A question or an answer that is empty or too long.

    Attributes:
        kind: ``question`` or ``answer``.
        problem: what is wrong with it.
    """

    kind: str
    problem: str

    def message(self) -> str:
        return f"invalid {self.kind}: {self.problem}"


class QuestionError(MailboxError):
    """Base of the refusals that are about one question.

    Attributes:
        question_id: its id.
    """

    question_id: str


class UnknownQuestionError(QuestionError):
    """There is no such question, or its file is not a question.

    Attributes:
        problem: why the file is not a question, or "" when there is none.
    """

    problem: str

    def message(self) -> str:
        why = f": {self.problem}" if self.problem else ""
        return f"unknown question {self.question_id!r}{why}; `caesar-agent questions` lists them"


class AlreadyAnsweredError(QuestionError):
    """Somebody else answered first; that answer stands."""

    def message(self) -> str:
        return f"question {self.question_id!r} has already been answered; the first answer stands"


class QuestionExpiredError(QuestionError):
    """The asker waited as long as it could, and went on without an answer."""

    def message(self) -> str:
        return f"question {self.question_id!r} has expired: nobody answered in time"


class QuestionWithdrawnError(QuestionError):
    """The asker is gone, or has cancelled its question."""

    def message(self) -> str:
        return f"question {self.question_id!r} was withdrawn: nobody waits for its answer any more"


class QuestionRejectedError(QuestionError):
    """The orchestrator has refused to answer it."""

    def message(self) -> str:
        return f"question {self.question_id!r} was rejected: the orchestrator refused to answer it"


class UnsafeMailboxError(MailboxError):
    """``questions`` or ``answers`` is not a folder of the task directory.

    Attributes:
        path: the path that was found.
        problem: what it is instead.
    """

    path: str
    problem: str

    def message(self) -> str:
        return (
            f"{self.path}: {self.problem}; expected a folder inside the task directory, "
            "and links out of it are never followed"
        )


class ForeignReportError(MailboxError):
    """A report of another task was handed in.

    Attributes:
        found: ``task_id`` of the report.
        expected: id of this task.
    """

    found: str
    expected: str

    def message(self) -> str:
        return (
            f"invalid report at task_id: found {self.found!r:.140}, but this task is "
            f"{self.expected!r}; hand in the report of this task, or leave task_id out"
        )
