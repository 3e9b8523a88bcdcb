"""JSON Schema of the documents of va-agent-protocol, draft 2020-12, made from the models."""

from __future__ import annotations

from typing import Any

from caesar_agent.documents.schema import DIALECT, DescribingGenerator
from caesar_agent.va.base import ClosedDocument
from caesar_agent.va.evidence import Evidence
from caesar_agent.va.lifecycle import TaskExecution
from caesar_agent.va.message import PAYLOADS, ProtocolMessage
from caesar_agent.va.task_unit import TaskUnit

DOCUMENTS: dict[str, type[ClosedDocument]] = {
    "va-task-unit": TaskUnit,
    "va-evidence": Evidence,
    "va-lifecycle": TaskExecution,
    "va-message": ProtocolMessage,
}
"""The documents that have a schema, by name."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document.

    Args:
        name: ``va-task-unit``, ``va-evidence``, ``va-lifecycle`` (one execution of a
            task) or ``va-message``.

    Raises:
        KeyError: no document has that name.
    """
    value = DOCUMENTS[name].model_json_schema(by_alias=True, schema_generator=DescribingGenerator)
    plain: dict[str, Any] = {"$schema": DIALECT, **_simplify(value)}
    if name == "va-message":
        plain["allOf"] = [
            {
                "if": {"properties": {"type": {"const": kind}}},
                "then": {"properties": {"payload": {"$ref": f"#/$defs/{model.__name__}"}}},
            }
            for kind, model in PAYLOADS.items()
        ]
    return plain


def _simplify(node: Any) -> Any:
    """Drop titles, and the null that stands for a field that was left out."""
    if isinstance(node, list):
        return [_simplify(item) for item in node]
    if not isinstance(node, dict):
        return node
    value = {key: item for key, item in node.items() if key != "title" or isinstance(item, dict)}
    if value.get("default", "") is None:
        del value["default"]
        (only,) = (item for item in value.pop("anyOf") if item != {"type": "null"})
        value = {**only, **value}
    return {
        key: item if key in {"default", "required", "enum"} else _simplify(item)
        for key, item in value.items()
    }
