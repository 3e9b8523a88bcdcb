"""JSON Schema of the documents, draft 2020-12, made from the models."""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, Any, get_args

from pydantic.json_schema import GenerateJsonSchema

from caesar_agent.documents.base import Document, Part
from caesar_agent.documents.event import EVENT_CLASSES, Event, EventType
from caesar_agent.documents.question import AnswerFile, QuestionFile
from caesar_agent.documents.report import Report
from caesar_agent.documents.task import Task

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"

DOCUMENTS: dict[str, type[Document]] = {
    "task": Task,
    "report": Report,
    "event": Event,
    "question": QuestionFile,
    "answer": AnswerFile,
}
"""The documents that have a schema, by name."""

_BOUNDS = frozenset(
    {
        "default",
        "format",
        "pattern",
        "minLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
    }
)
"""What at least one provider of structured outputs refuses; the descriptions say it in words."""

_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n        .*)*)", re.MULTILINE)


def schema(name: str, *, strict: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a document.

    Args:
        name: ``task``, ``report``, ``event``, ``question`` or ``answer``; the documents
            of va-agent-protocol have a ``schema`` of their own.
        strict: the variant for native structured outputs: every object closed, every
            property required, optional ones nullable, without bounds and patterns,
            which providers refuse. An event is then one object with the fields of all
            types, because a union cannot stand at the root. What is written to it is
            valid once nulls are dropped and the bounds hold, so validate it.

    Raises:
        KeyError: no document has that name.
    """
    document = DOCUMENTS[name]
    if document is not Event:
        plain = _plain(document)
        body = _strict(plain) if strict else plain
    elif strict:
        body = _strict(_any_event())
    else:
        body = {"oneOf": [*(_plain(kind) for kind in EVENT_CLASSES.values()), _other_event()]}
    return {"$schema": DIALECT, **body}


def schema_text(schema: dict[str, Any]) -> str:
    """Return a schema as it is written to a file: 2-space JSON and a newline."""
    return json.dumps(schema, indent=2) + "\n"


class DescribingGenerator(GenerateJsonSchema):
    """Takes descriptions from docstrings."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model, each property with what the docstring says of it."""
        value = super().model_schema(schema)
        model = schema["cls"]
        value["description"] = (inspect.getdoc(model) or "").partition("\n")[0].replace("``", "`")
        described: dict[str, str] = {}
        for base in reversed(model.__mro__):
            if issubclass(base, Part):
                described |= _attributes(base)
        for name, known in model.model_fields.items():
            if known.alias and name in described:
                described[known.alias] = described[name]
        for name, field in value.get("properties", {}).items():
            if name in described:
                field["description"] = described[name]
        return value


def _attributes(model: type) -> dict[str, str]:
    """Return the "Attributes:" of a class's own docstring: name to sentence."""
    text = inspect.cleandoc(model.__doc__ or "").partition("Attributes:\n")[2]
    return {
        match[1]: " ".join(match[2].replace("``", "`").split())
        for match in _ATTRIBUTE.finditer(text)
    }


def _plain(model: type[Part]) -> dict[str, Any]:
    value = model.model_json_schema(schema_generator=DescribingGenerator)
    plain: dict[str, Any] = _simplify(value, value.get("$defs", {}))
    return plain


def _simplify(node: Any, definitions: dict[str, Any]) -> Any:
    """Inline references, drop titles, and leave ``null`` only where the contract writes it."""
    if isinstance(node, list):
        return [_simplify(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**target, **{key: item for key, item in node.items() if key != "$ref"}}
    node = {
        key: item
        for key, item in node.items()
        if key not in {"$defs", "title", "additionalProperties"}
    }
    if node.get("default", "") is None:
        del node["default"]
        if not node.pop("nullable", False):
            (only,) = (item for item in node.pop("anyOf") if item != {"type": "null"})
            node = {**_simplify(only, definitions), **node}
    if "properties" in node:
        properties = {
            name: _simplify(field, definitions) for name, field in node["properties"].items()
        }
        rest = {key: item for key, item in node.items() if key != "properties"}
        return {**_simplify(rest, definitions), "properties": properties}
    return {
        key: item if key in {"default", "required", "enum"} else _simplify(item, definitions)
        for key, item in node.items()
    }


def _other_event() -> dict[str, Any]:
    """Return the schema of events whose type this version does not know."""
    value = _plain(Event)
    value["description"] = "An event of a type that this version does not know; it is kept."
    value["properties"]["type"]["not"] = {"enum": list(get_args(EventType))}
    return value


def _any_event() -> dict[str, Any]:
    """Return one object that has the fields of all types of events."""
    value = _plain(Event)
    common = frozenset(value["properties"])
    value["properties"]["type"]["enum"] = list(get_args(EventType))
    for kind, model in EVENT_CLASSES.items():
        for name, field in _plain(model)["properties"].items():
            if name in common:
                continue
            note = f"{kind}: {field.pop('description')}"
            known = value["properties"].setdefault(name, {**field, "description": ""})
            known["description"] = f"{known['description']} {note}".strip()
            if "enum" in field:
                known["enum"] = list(dict.fromkeys([*known["enum"], *field["enum"]]))
    return value


def _strict(node: Any, *, optional: bool = False) -> Any:
    if not isinstance(node, dict):
        return node
    value: dict[str, Any] = {key: item for key, item in node.items() if key not in _BOUNDS}
    if "items" in value:
        value["items"] = _strict(value["items"])
    if "anyOf" in value:
        value["anyOf"] = [_strict(item) for item in value["anyOf"]]
    if "properties" in value:
        required = value.get("required", [])
        value["properties"] = {
            name: _strict(field, optional=name not in required)
            for name, field in value["properties"].items()
        }
        value["required"] = list(value["properties"])
        value["additionalProperties"] = False
    if not optional or "anyOf" in value:
        return value
    description = {key: value.pop(key) for key in ("description",) if key in value}
    return {**description, "anyOf": [value, {"type": "null"}]}
