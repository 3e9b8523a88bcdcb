"""Checks on ``output``: whether it is a JSON Schema at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.fields import kind
from pytest_caesar.agents.checks.source import SourceFile
from pytest_caesar.agents.errors import near_miss, shown

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_TYPEDEF = frozenset(
    {
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "float32",
        "float64",
        "timestamp",
    }
)
_OF_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMAS = (
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_COUNTS = (
    "maxItems",
    "maxLength",
    "maxProperties",
    "minItems",
    "minLength",
    "minProperties",
)
_NUMBERS = ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")
_PROSE = re.compile(
    r"^#{1,6}\s+.*\b(output|response|report|answer) format\b", re.IGNORECASE | re.MULTILINE
)


def check_output(source: SourceFile) -> Iterator[Complaint]:
    """Check the schema, and whether the prose asks for something else."""
    output = source.front.fields.get("output")
    if output is None:
        return
    line = source.line_of("output")
    if source.front.fallback and isinstance(output, str):
        return  # the block is not YAML, which is a complaint of its own
    problem = schema_problem(output)
    if problem is not None:
        yield Complaint(
            code="output-not-schema",
            path=source.path,
            line=line,
            field="output",
            found=f"output is not a JSON Schema: {problem}",
            effect="it hands the schema on as it is; where it is applied it is refused, or "
            "every result comes back as null",
            mend="write a JSON Schema, such as type: object with properties",
        )
        return
    prose = _PROSE.search(source.front.body)
    if prose:
        yield Complaint(
            code="output-against-prose",
            severity="note",
            path=source.path,
            line=line,
            field="output",
            found=f"there is an output schema, and the prompt has {shown(prose[0], limit=60)}",
            effect="prose that asks for another form than the schema tends to give null",
            mend="leave the form to the schema",
        )


def schema_problem(schema: object) -> str | None:
    """Return what is wrong with a JSON Schema (2020-12), or None.

    Only what every validator refuses is wrong: types, and the shape of keywords. Unknown
    keywords and references are let be. Values that occur many times through aliases are
    looked at once.
    """
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, bool):
            continue
        if not isinstance(value, dict):
            return f"{where or 'it'} is {kind(value)}, not a schema"
        if id(value) in seen:
            continue
        seen.add(id(value))
        problem = _keywords_problem(value)
        if problem is not None:
            return f"{where}: {problem}" if where else problem
        waiting += _subschemas(value, where)
    return None


def _keywords_problem(schema: dict[str, Any]) -> str | None:
    for key, value in schema.items():
        if key == "type":
            problem = _type_problem(value)
            if problem is not None:
                return problem
        elif key == "required" and not (
            isinstance(value, list) and all(isinstance(item, str) for item in value)
        ):
            return f"required is {kind(value)}, not a list of names"
        elif key == "enum" and not isinstance(value, list):
            return f"enum is {kind(value)}, not a list"
        elif key in _COUNTS and (isinstance(value, bool) or not isinstance(value, int)):
            return f"{key} is {kind(value)}, not a whole number"
        elif key in _NUMBERS and (isinstance(value, bool) or not isinstance(value, (int, float))):
            return f"{key} is {kind(value)}, not a number"
        elif key in _OF_SCHEMAS and not isinstance(value, dict):
            return f"{key} is {kind(value)}, not a mapping of schemas"
        elif key in _SCHEMA_LISTS and not (isinstance(value, list) and value):
            return f"{key} is {kind(value)}, not a list of schemas"
    return None


def _type_problem(value: object) -> str | None:
    names = value if isinstance(value, list) else [value]
    for name in names:
        if not isinstance(name, str):
            return f"type is {kind(name)}, not the name of a type"
        if name in _TYPEDEF:
            return f"type {shown(name)} belongs to JSON Type Definition, not to JSON Schema"
        if name not in TYPES:
            return f"there is no type {shown(name)}{near_miss(name, TYPES)}"
    return None if names else "type is an empty list"


def _subschemas(schema: dict[str, Any], where: str) -> Iterator[tuple[str, Any]]:
    prefix = f"{where}." if where else ""
    for key, value in schema.items():
        if key in _OF_SCHEMAS:
            for name, sub in value.items():
                yield f"{prefix}{key}.{name}", sub
        elif key in _SCHEMA_LISTS:
            for index, sub in enumerate(value):
                yield f"{prefix}{key}[{index}]", sub
        elif key == "items" and isinstance(value, list):
            for index, sub in enumerate(value):  # the form of older drafts
                yield f"{prefix}items[{index}]", sub
        elif key in _SCHEMAS:
            yield f"{prefix}{key}", value
