"""The given schemas of va-agent-protocol 0.1.0, the corrections, and documents made from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

from caesar_agent.documents.timestamps import is_timestamp

FOLDER = Path(__file__).parent / "reference_schemas"

FILES = {
    "va-task-unit": "task-unit",
    "va-evidence": "evidence",
    "va-lifecycle": "lifecycle",
    "va-message": "message",
}

PAYLOADS = {
    "dispatch": "DispatchPayload",
    "accepted": "AcceptedPayload",
    "progress": "ProgressPayload",
    "completed": "CompletedPayload",
    "failed": "FailedPayload",
    "blocked": "BlockedPayload",
    "cancel": "CancelPayload",
}

FORMATS = FormatChecker(formats=())


@FORMATS.checks("date-time")
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or ("T" in value.upper() and is_timestamp(value))


def given_schema(name: str) -> Any:
    return json.loads((FOLDER / f"{FILES[name]}.schema.json").read_text())


def corrected_schema(name: str) -> Any:
    """Read both ``oneOf`` as ``anyOf``, the payload by its type, the lifecycle as an execution."""
    schema = given_schema(name)
    if name == "va-task-unit":
        value = schema["properties"]["inputs"]["additionalProperties"]
        value["anyOf"] = value.pop("oneOf")
    if name == "va-lifecycle":
        del schema["type"]
        schema["$ref"] = "#/$defs/TaskExecution"
    if name == "va-message":
        payload = schema["properties"]["payload"]
        payload["anyOf"] = payload.pop("oneOf")
        schema["allOf"] = [
            {
                "if": {"properties": {"type": {"const": kind}}},
                "then": {"properties": {"payload": {"$ref": f"#/$defs/{payload}"}}},
            }
            for kind, payload in PAYLOADS.items()
        ]
    return schema


@cache
def validator(name: str, *, corrected: bool = True) -> Any:
    make = corrected_schema if corrected else given_schema
    registry = Registry().with_resources(
        [(make(other)["$id"], Resource.from_contents(make(other))) for other in FILES]
    )
    return Draft202012Validator(make(name), registry=registry, format_checker=FORMATS)


# --- documents, made from the schemas alone ---------------------------------------------

TEXT = st.text(max_size=8)
INSTANTS = st.sampled_from(
    ["2026-08-09T10:00:00Z", "2026-08-09T10:00:00.123+02:00", "2024-02-29T23:59:59-11:30"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=3,
)  # fmt: skip


def documents(name: str) -> st.SearchStrategy[Any]:
    """Make valid documents from a given schema; also what the uncorrected ``oneOf`` refuses."""
    root = corrected_schema(name)
    if name != "va-message":
        return _values(root, root)
    return st.sampled_from(list(PAYLOADS)).flatmap(lambda kind: _messages(root, kind))


def _messages(root: Any, kind: str) -> st.SearchStrategy[Any]:
    chosen = {"type": {"const": kind}, "payload": {"$ref": f"#/$defs/{PAYLOADS[kind]}"}}
    plain = {**root, "properties": {**root["properties"], **chosen}}
    return _values(plain, root)


def _values(schema: Any, root: Any) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        target = schema["$ref"]
        if target.startswith("#/$defs/"):
            return st.deferred(lambda: _values(root["$defs"][target.rpartition("/")[2]], root))
        other = corrected_schema(f"va-{target.removesuffix('.schema.json')}")
        return _values(other, other)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of(*(_values(option, root) for option in schema["anyOf"]))
    make: dict[str, Callable[[Any], st.SearchStrategy[Any]]] = {
        "string": _strings,
        "boolean": lambda _: st.booleans(),
        "integer": lambda known: st.integers(known.get("minimum", -(10**20)), 10**20),
        "number": lambda known: st.floats(known["minimum"], known["maximum"]) | st.integers(0, 1),
        "array": lambda known: st.lists(
            _values(known["items"], root), min_size=known.get("minItems", 0), max_size=2
        ),
        "object": lambda known: _objects(known, root),
    }
    return make[schema["type"]](schema) if "type" in schema else JSON


def _strings(schema: Any) -> st.SearchStrategy[str]:
    if schema.get("format") == "date-time":
        return INSTANTS
    return st.sampled_from(["0.1.0", "10.20.30"]) if "pattern" in schema else TEXT


def _objects(schema: Any, root: Any) -> st.SearchStrategy[Any]:
    more = schema.get("additionalProperties", False)
    if not schema.get("properties"):
        values = JSON if more is True else _values(more, root)
        return st.dictionaries(TEXT, values, max_size=2)
    fields = {name: _values(field, root) for name, field in schema["properties"].items()}
    required = schema.get("required", ())
    return st.fixed_dictionaries(
        {name: fields[name] for name in required},
        optional={name: field for name, field in fields.items() if name not in required},
    )
