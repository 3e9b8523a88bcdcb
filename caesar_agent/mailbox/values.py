"""What lies in a mailbox: questions, answers and notes, from bytes to values and back; no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Literal, TypeAlias

from caesar_agent.errors import DocumentError
from caesar_agent.mailbox.errors import InvalidQuestionIdError, InvalidTextError
from caesar_agent.task_directory import MAX_MAILBOX_BYTES

if TYPE_CHECKING:
    from caesar_agent.documents.question import QuestionFile

State = Literal["pending", "answered", "expired", "withdrawn", "rejected"]
"""What became of a question."""

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}")
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it arrived.

    Attributes:
        id: id of the question.
        text: never empty.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """No answer will come; an outcome and not an error: go on by your own judgement.

    Attributes:
        id: id of the question.
        reason: why; ``unreadable`` when there is an answer that cannot be read.
        detail: what the orchestrator said, or what is wrong with the file, or "".
    """

    id: str
    reason: Literal["expired", "withdrawn", "rejected", "unreadable"]
    detail: str = ""


Reply: TypeAlias = Answer | Silence
"""What comes back to the one who asked."""


def is_valid_id(question_id: str) -> bool:
    """Tell whether an id can be a file name of ours."""
    return bool(_ID.fullmatch(question_id)) and not _RESERVED.fullmatch(question_id)


def check_text(kind: Literal["question", "answer"], text: object) -> None:
    """Refuse what cannot be asked or answered.

    Raises:
        InvalidTextError: not text, or empty; a question that is blank.
    """
    if not isinstance(text, str):
        raise InvalidTextError(kind=kind, problem=f"expected text, found {type(text).__name__}")
    if not text:
        raise InvalidTextError(kind=kind, problem="it is empty")
    if kind == "question" and not text.strip():
        raise InvalidTextError(kind=kind, problem="it is blank: nobody can answer it")


def parse_question(question_id: str, data: bytes) -> QuestionFile:
    """Read one file of ``questions``.

    Raises:
        DocumentError: it is not a question of that id.
    """
    from caesar_agent.documents.question import QuestionFile  # noqa: PLC0415 - pydantic is slow

    question = QuestionFile.parse(data)
    _expect_id("question", question.id, question_id)
    return question


def parse_reply(question_id: str, data: bytes) -> Reply:
    """Read one file of ``answers``: an answer, whose id may be left out, or a note.

    Raises:
        DocumentError: it is neither, or not of that question.
    """
    from caesar_agent.documents.decoding import decode  # noqa: PLC0415 - as above
    from caesar_agent.documents.question import AnswerFile  # noqa: PLC0415

    value = decode(data, kind="answer").value
    if isinstance(value, dict):
        value = {"id": question_id, **value}
        _expect_id("answer", value["id"], question_id)
        match value.get("state"):
            case "expired" | "withdrawn" | "rejected" as state if "answer" not in value:
                detail = value.get("detail")
                text = detail if isinstance(detail, str) else ""
                return Silence(id=question_id, reason=state, detail=text)
    return Answer(id=question_id, text=AnswerFile.from_value(value).answer)


def _expect_id(kind: str, found: object, expected: str) -> None:
    if found != expected:
        problem = f"found {found!r:.140}, but its file is named {expected!r}"
        raise DocumentError(kind=kind, code="id-mismatch", where="id", problem=problem)


def encode(kind: str, value: Mapping[str, object]) -> bytes:
    """Return the bytes of a file; a lone surrogate becomes a JSON escape.

    Raises:
        InvalidTextError: it would be larger than readers accept.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > MAX_MAILBOX_BYTES:
        problem = f"it takes {len(data)} bytes, at most {MAX_MAILBOX_BYTES} are read"
        raise InvalidTextError(kind=kind, problem=problem)
    return data


def file_name(question_id: str) -> str:
    """Return the name of the file of a question.

    Raises:
        InvalidQuestionIdError: the id cannot be one.
    """
    if not isinstance(question_id, str) or not is_valid_id(question_id):
        raise InvalidQuestionIdError(question_id=question_id)
    return f"{question_id}.json"


def now() -> str:
    """Return the time as documents write it: UTC with milliseconds."""
    # The clock of documents: a test may have set it.
    now = datetime.now(timezone.utc)
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"
