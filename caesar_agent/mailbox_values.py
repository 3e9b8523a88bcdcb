"""What lies in a mailbox: questions, answers and notes, from bytes to values and back; no I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal, TypeAlias

from caesar_agent.mailbox_errors import InvalidQuestionIdError, InvalidTextError

State = Literal["pending", "answered", "expired", "withdrawn", "rejected"]
"""What became of a question."""

MAX_FILE_BYTES = 1 << 20
"""Largest question or answer, in bytes; a question is a few sentences."""

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
        InvalidTextError: not text, or empty.
    """
    if not isinstance(text, str):
        raise InvalidTextError(kind=kind, problem=f"expected text, found {type(text).__name__}")
    if not text:
        raise InvalidTextError(kind=kind, problem="it is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as it stands in its file.

    Attributes:
        id: its id, which is also its file name.
        question: never empty.
        options: choices to pick from, or none.
        asked_at: UTC, or "" when the asker did not say.
    """

    id: str
    question: str
    options: tuple[str, ...] = ()
    asked_at: str = ""


def parse_question(question_id: str, data: bytes) -> Question:
    """Read one question file.

    Raises:
        ValueError: it is not a question of that id; the text says why.
    """
    value = _decode(data)
    _expect_id(value, question_id)
    question, options = value.get("question"), value.get("options")
    if not isinstance(question, str) or not question:
        raise ValueError("`question` is not a text of at least one character")
    options = [] if options is None else options
    if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
        raise ValueError("`options` is not a list of texts")
    asked_at = value.get("asked_at")
    return Question(
        id=question_id,
        question=question,
        options=tuple(options),
        asked_at=asked_at if isinstance(asked_at, str) else "",
    )


def parse_reply(question_id: str, data: bytes) -> Reply:
    """Read one file of ``answers``; its id may be left out.

    Raises:
        ValueError: neither an answer nor a note of that question; the text says why.
    """
    value = _decode(data)
    if value.get("id") is not None:
        _expect_id(value, question_id)
    text = value.get("answer")
    if isinstance(text, str) and text:
        return Answer(id=question_id, text=text)
    detail = value.get("detail")
    match value.get("state"):
        case "expired" | "withdrawn" | "rejected" as state:
            return Silence(
                id=question_id, reason=state, detail=detail if isinstance(detail, str) else ""
            )
    raise ValueError("`answer` is not a text of at least one character")


def parse_state(data: bytes) -> str | None:
    """Read the state out of one file of ``answers``; None when it is an answer."""
    state = _decode(data).get("state")
    return state if isinstance(state, str) else None


def _expect_id(value: dict[str, object], expected: str) -> None:
    if value.get("id") != expected:
        raise ValueError(f"`id` is {value.get('id')!r:.140}, but its file is named {expected!r}")


def _decode(data: bytes) -> dict[str, object]:
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it is not JSON ({error})" if data else "it is empty") from None
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - all that can be wrong with a file
    return value


def encode(kind: str, value: Mapping[str, object]) -> bytes:
    """Return the bytes of a file; a lone surrogate becomes a JSON escape.

    Raises:
        InvalidTextError: it would be larger than readers accept.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > MAX_FILE_BYTES:
        problem = f"it takes {len(data)} bytes, at most {MAX_FILE_BYTES} are read"
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
