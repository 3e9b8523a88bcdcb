"""What pydantic found, in the words of the contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line, printable
from caesar_agent.errors import DocumentError, FieldProblem

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

MAX_PROBLEMS = 20
"""Problems that one error carries at most."""

_EXPECTED = {
    "string_type": "a string",
    "tuple_type": "an array",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "an integer",
    "finite_number": "a finite number",
    "dict_type": "an object",
}

_RANGES = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def as_document_error(kind: str, error: ValidationError) -> DocumentError:
    """Return pydantic's error as one of ours."""
    problems = explain(error)
    first = problems[0]
    return DocumentError(
        kind=kind,
        code=first.code,
        where=first.where,
        problem=first.problem,
        problems=problems,
        count=error.error_count(),
    )


def explain(error: ValidationError) -> tuple[FieldProblem, ...]:
    """Return the first problems of a validation, in document order; at least one."""
    details = error.errors(include_url=False)
    return tuple(_explain(detail) for detail in islice(details, MAX_PROBLEMS))


def _explain(detail: ErrorDetails) -> FieldProblem:
    kind, where, found = detail["type"], path_of(detail["loc"]), detail["input"]
    context: dict[str, Any] = detail.get("ctx", {})
    if kind == "missing":
        return FieldProblem("missing", where, "a required field is missing")
    if kind == "extra_forbidden":
        return FieldProblem("unknown-field", where, "the schema knows no such field")
    if kind in _EXPECTED:
        return FieldProblem(
            "wrong-type", where, f"expected {_EXPECTED[kind]}, found {describe(found)}"
        )
    if kind == "literal_error":
        expected = f"expected {context['expected']}, found {describe(found)}"
        return FieldProblem(
            "wrong-value" if isinstance(found, str) else "wrong-type", where, expected
        )
    if kind in _RANGES:
        key, words = _RANGES[kind]
        bound = context[key]
        bound = int(bound) if isinstance(bound, float) and bound.is_integer() else bound
        return FieldProblem(
            "out-of-range", where, f"expected {words} {bound}, found {describe(found)}"
        )
    if kind == "string_unicode":
        return FieldProblem("wrong-value", where, "a lone surrogate cannot stand here")
    # Our own validators raise with one of our codes; anything else is told as it is.
    ours = kind in {"blank", "wrong-type", "out-of-range", "not-a-timestamp", "empty"}
    return FieldProblem(kind if ours else "wrong-value", where, one_line(detail["msg"]))


def describe(value: object) -> str:
    """Name a JSON value so that it fits into a sentence, safe to print."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{printable(value, limit=60)}"'
    if isinstance(value, int | float):
        return f"the number {value!r:.40}"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, Sequence):
        return "an array"
    return f"a Python {type(value).__name__}"


def path_of(location: Iterable[str | int]) -> str:
    """Write the path of a field as ``changes[0].path``."""
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            name = one_line(step, limit=60)
            path += f".{name}" if path else name
    return path
