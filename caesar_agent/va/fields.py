"""Types of fields, as wide as the schemas of the protocol have them."""

from __future__ import annotations

import re
from typing import Annotated, Optional, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    FailFast,
    Field,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from caesar_agent.documents.fields import integer, not_a_timestamp
from caesar_agent.documents.problems import describe
from caesar_agent.documents.timestamps import is_timestamp

Item = TypeVar("Item")

# Besides what names one instant: seconds, a T, and a colon in the offset.
_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def _not_null(value: object, info: ValidationInfo) -> object:
    if value is None and info.context:
        raise PydanticCustomError("wrong-type", "the field may be left out, but not be null")
    return value


def _at_least_one(value: tuple[Item, ...]) -> tuple[Item, ...]:
    if value:
        return value
    raise PydanticCustomError("empty", "expected at least one entry, found an empty array")


def _date_time(value: str) -> str:
    if _DATE_TIME.fullmatch(value) and is_timestamp(value):
        return value
    raise not_a_timestamp(value)


def _version(value: str) -> str:
    if _VERSION.fullmatch(value):
        return value
    raise PydanticCustomError(
        "wrong-value", "expected a version such as 0.1.0, found {found}", {"found": describe(value)}
    )


# Optional[...], since this is an alias that Python 3.10 must be able to subscribe.
Maybe = Annotated[Optional[Item], BeforeValidator(_not_null)]  # noqa: UP045
"""A field that may be left out; None in Python, never null in JSON."""


class _FailFast(FailFast):
    def __hash__(self) -> int:  # what stands in an Optional needs one on Python 3.10 to 3.13
        return hash(self.fail_fast)


Array = Annotated[tuple[Item, ...], Field(strict=False), _FailFast()]
"""A JSON array, as ``documents.fields.Array``; may stand in ``Maybe``."""

AtLeastOne = Annotated[
    tuple[Item, ...],
    Field(strict=False, json_schema_extra={"minItems": 1}),
    _FailFast(),
    AfterValidator(_at_least_one),
]
"""A JSON array that is not empty."""

WholeNumber = Annotated[int, BeforeValidator(integer), WithJsonSchema({"type": "integer"})]
"""Any integer; ``3.0`` is one too, booleans are not."""

Milliseconds = Annotated[
    int,
    BeforeValidator(integer),
    Field(ge=0),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
"""Milliseconds, at least 0."""

Ordinal = Annotated[
    int,
    BeforeValidator(integer),
    Field(ge=1),
    WithJsonSchema({"type": "integer", "minimum": 1}),
]
"""An integer that counts from 1."""

Share = Annotated[float, Field(ge=0, le=1)]
"""A number from 0 to 1."""

DateTime = Annotated[
    str, AfterValidator(_date_time), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""An instant, as RFC 3339 has it; kept as it was written."""

Version = Annotated[
    str,
    AfterValidator(_version),
    WithJsonSchema({"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}),
]
"""Three numbers, such as ``0.1.0``."""
