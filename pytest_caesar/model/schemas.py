"""The smallest value that a JSON Schema allows: for arguments nobody scripted, and side requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEEPEST = 12
"""Levels that are filled in; below it is null, so that a schema that holds itself ends."""


def smallest(schema: object, *, depth: int = 0) -> Any:
    """Return a value that a schema allows, with required properties alone.

    Args:
        schema: JSON Schema, in either case of type names (Gemini writes ``OBJECT``).
        depth: how deep the value lies already.

    Returns:
        A default, a constant, the first of an enumeration; else the empty value of the type.
    """
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    given = [schema[name] for name in ("const", "default") if name in schema]
    given += [first for name in ("enum", "examples") for first in _first(schema.get(name))]
    if given:
        return given[0]
    options = [first for name in ("anyOf", "oneOf", "allOf") for first in _first(schema.get(name))]
    if options:
        return smallest(options[0], depth=depth + 1)
    kind = _kind(schema)
    if kind == "object":
        return _object(schema, depth)
    if kind == "array":
        return [smallest(schema.get("items"), depth=depth + 1)] * _count(schema.get("minItems"))
    if kind in ("integer", "number"):
        return _number(schema)
    return {"string": "", "boolean": False}.get(kind)


def _first(values: object) -> list[Any]:
    return values[:1] if isinstance(values, list) else []


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "null")
    if isinstance(kind, str):
        return kind.lower()
    return "object" if "properties" in schema else ""


def _object(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return {}
    return {
        name: smallest(properties[name], depth=depth + 1) for name in required if name in properties
    }


def _number(schema: Mapping[str, Any]) -> float:
    for name, more in (("minimum", 0), ("exclusiveMinimum", 1)):
        value = schema.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value + more
    return 0


def _count(value: object) -> int:
    return min(value, 8) if isinstance(value, int) and value > 0 else 0


def with_every_property(schema: object, value: object) -> Any:
    """Return a value with null for every property that its schema has and it has not.

    Strict schemas want each property named.
    """
    if isinstance(schema, Mapping):
        options = schema.get("anyOf")
        if isinstance(options, list):
            fitting = [option for option in options if _fits(option, value)]
            return with_every_property(fitting[0], value) if fitting else value
        properties = schema.get("properties")
        if isinstance(value, Mapping) and isinstance(properties, Mapping):
            known = {
                name: with_every_property(inner, value[name]) if name in value else None
                for name, inner in properties.items()
            }
            return {**known, **{name: item for name, item in value.items() if name not in known}}
        if isinstance(value, list):
            return [with_every_property(schema.get("items"), item) for item in value]
    return value


def _fits(schema: object, value: object) -> bool:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return (isinstance(value, Mapping) and kind == "object") or (
        isinstance(value, list) and kind == "array"
    )
