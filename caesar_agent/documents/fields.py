"""Types of fields that several documents share."""

from __future__ import annotations

import re
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, FailFast, Field, JsonValue, WithJsonSchema
from pydantic_core import PydanticCustomError

from caesar_agent.documents.problems import describe
from caesar_agent.documents.timestamps import PATTERN, is_timestamp

MAX_INTEGER = 2**53 - 1
"""Largest integer that every JSON reader agrees on, either side of zero."""

_NOT_BLANK = re.compile(r"\S")

Item = TypeVar("Item")


def integer(value: object) -> object:
    """Take an integer in every spelling of JSON; ``3.0`` is one, a boolean is not."""
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    raise PydanticCustomError(
        "wrong-type", "expected an integer, found {found}", {"found": describe(value)}
    )


def _timestamp(value: str) -> str:
    if is_timestamp(value):
        return value
    raise not_a_timestamp(value)


def not_a_timestamp(value: str) -> PydanticCustomError:
    """Return the error of a text that should be a time."""
    return PydanticCustomError(
        "not-a-timestamp",
        "expected an RFC 3339 time with its offset, such as 2026-08-09T10:00:00.000Z, found {found}",
        {"found": describe(value)},
    )


def _not_blank(value: str) -> str:
    if _NOT_BLANK.search(value):
        return value
    raise PydanticCustomError("blank", "expected some text, found only blanks")


def _not_empty(value: str) -> str:
    if value:
        return value
    raise PydanticCustomError("empty", 'expected some text, found ""')


WRITTEN_AS_NULL: dict[str, JsonValue] = {"nullable": True}
"""Marks an optional field whose schema allows null, because other writers write it so.

Null is read as absent everywhere; the schemas say what to write."""

# Validators of Python stand in for pydantic's own constraints on strings, because
# those refuse lone surrogates, which are JSON.

Integer = Annotated[
    int,
    BeforeValidator(integer),
    Field(ge=-MAX_INTEGER, le=MAX_INTEGER),
    WithJsonSchema({"type": "integer", "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER}),
]
"""Any integer; ``3.0`` and ``1e0`` are integers too, booleans are not."""

Count = Annotated[
    int,
    BeforeValidator(integer),
    Field(ge=0, le=MAX_INTEGER),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_INTEGER}),
]
"""An integer of at least 0."""

Positive = Annotated[
    int,
    BeforeValidator(integer),
    Field(gt=0, le=MAX_INTEGER),
    WithJsonSchema({"type": "integer", "exclusiveMinimum": 0, "maximum": MAX_INTEGER}),
]
"""An integer of at least 1."""

Timestamp = Annotated[
    str,
    AfterValidator(_timestamp),
    WithJsonSchema({"type": "string", "format": "date-time", "pattern": PATTERN}),
]
"""An instant as text, kept as it was written; ``timestamps.parse_timestamp`` reads it."""

NotBlank = Annotated[
    str,
    AfterValidator(_not_blank),
    WithJsonSchema({"type": "string", "minLength": 1, "pattern": r"\S"}),
]
"""Text with at least one character that is not blank."""

NotEmpty = Annotated[
    str, AfterValidator(_not_empty), WithJsonSchema({"type": "string", "minLength": 1})
]
"""Text of at least one character."""

Array = Annotated[tuple[Item, ...], Field(strict=False), FailFast()]
"""A JSON array; strict mode would take tuples alone, and decoders give lists.

The first wrong element is the only one that is told: a million of them would cost a
gigabyte to name."""
