"""``questions/<id>.json`` and ``answers/<id>.json``: what crosses the mailbox."""

from __future__ import annotations

from typing import ClassVar

from caesar_agent.documents.base import Document
from caesar_agent.documents.fields import Array, NotEmpty, Timestamp


class QuestionFile(Document):
    """One question asked while the agent works.

    Attributes:
        id: identifier; the file is named after it.
        question: what is asked, complete in itself, at least one character.
        options: possible answers; empty (default) when the answer is free.
        asked_at: when it was asked, RFC 3339; absent when the writer did not say.

    Source: OACP specification, "Le canal retour"; the reference implementation for
    the fields, which have no version of their own.
    """

    kind: ClassVar[str] = "question"
    version: ClassVar[str] = ""

    id: str
    question: NotEmpty
    options: Array[str] = ()
    asked_at: Timestamp | None = None


class AnswerFile(Document):
    """The answer to one question.

    Attributes:
        id: identifier of the question.
        answer: the answer, at least one character.
        answered_at: when it was given, RFC 3339; absent when the writer did not say.

    Source: as for ``QuestionFile``.
    """

    kind: ClassVar[str] = "answer"
    version: ClassVar[str] = ""

    id: str
    answer: NotEmpty
    answered_at: Timestamp | None = None
