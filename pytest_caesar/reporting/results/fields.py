"""Fields of a document of which nothing is certain: what is not as expected counts as absent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return an object of JSON, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[Any]:
    """Return an array of JSON, or an empty one."""
    return value if isinstance(value, list | tuple) else ()


def as_mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of an array; what is no object is left out."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_texts(value: object) -> list[str]:
    """Return the strings of an array; what is no string is left out."""
    return [item for item in as_list(value) if isinstance(item, str)]


def as_text(value: object) -> str:
    """Return a string, or ``""`` for anything else."""
    return value if isinstance(value, str) else ""


def as_number(value: object) -> float | None:
    """Return a finite number that is not negative, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def as_int(value: object) -> int | None:
    """Return a whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
