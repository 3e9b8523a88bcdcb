from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from caesar_agent.documents import Report
from caesar_agent.documents.schema import DOCUMENTS, schema

REFERENCE = Path(__file__).parent / "reference_schemas"

REFUSED = {
    # By the strict mode of one provider or another.
    "oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "propertyNames",
    "unevaluatedProperties", "dependentRequired", "prefixItems", "$ref", "$defs",
    "minLength", "maxLength", "pattern", "format", "default",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
}  # fmt: skip


def nodes(node: dict[str, Any], at: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    yield at, node
    for name, field in node.get("properties", {}).items():
        yield from nodes(field, f"{at}.{name}")
    if "items" in node:
        yield from nodes(node["items"], f"{at}[]")
    for key in ("anyOf", "oneOf"):
        for index, item in enumerate(node.get(key, [])):
            yield from nodes(item, f"{at}|{index}")


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_every_schema_is_a_schema_of_draft_2020_12(name: str, *, strict: bool) -> None:
    value = schema(name, strict=strict)

    assert value["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(value)
    assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_strict_schemas_hold_nothing_that_a_provider_refuses(name: str) -> None:
    value = schema(name, strict=True)

    assert value["type"] == "object"
    for at, node in nodes(value):
        assert not REFUSED & node.keys(), at
        assert {"type", "anyOf"} & node.keys(), at
        if node.get("type") == "object":
            assert node["additionalProperties"] is False, at
            assert node["required"] == list(node["properties"]), at
        if node.get("type") == "array":
            assert "items" in node, at


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_optional_fields_are_nullable_in_the_strict_schema(name: str) -> None:
    strict = dict(nodes(schema(name, strict=True)))
    for at, node in nodes(schema(name)):
        if "properties" not in strict.get(at, {}):
            continue
        for field in node.get("properties", {}):
            optional = field not in node["required"]
            nullable = {"type": "null"} in strict[f"{at}.{field}"].get("anyOf", [])
            assert nullable == optional, f"{at}.{field}"


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_every_field_is_described(name: str) -> None:
    for at, node in nodes(schema(name)):
        for field, value in node.get("properties", {}).items():
            assert value.get("description"), f"{at}.{field}"


def test_only_three_fields_of_a_report_are_required() -> None:
    assert schema("report")["required"] == ["protocol", "status", "summary"]


def structure(node: Any) -> Any:
    """Return a schema without what does not decide: descriptions, formats of time, order."""
    if isinstance(node, list):
        return [structure(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: structure(item)
        for key, item in node.items()
        if key != "pattern" and not (key == "description" and isinstance(item, str))
    }
    if "required" in kept:
        kept["required"] = sorted(kept["required"])
    return kept


@pytest.mark.parametrize("name", ["task", "report"])
def test_the_schemas_have_the_structure_of_the_reference(name: str) -> None:
    assert structure(schema(name)) == structure(
        json.loads((REFERENCE / f"{name}.json").read_text())
    )


def test_the_event_schema_has_the_reference_types_and_one_for_the_others() -> None:
    *known, other = structure(schema("event"))["oneOf"]

    assert known == structure(json.loads((REFERENCE / "event.json").read_text()))["oneOf"]
    assert len(other["properties"]["type"]["not"]["enum"]) == len(known)


def test_a_name_that_is_none_is_an_error() -> None:
    with pytest.raises(KeyError):
        schema("message")


def test_a_strict_answer_with_nulls_is_a_report() -> None:
    names = list(schema("report", strict=True)["properties"])
    value: dict[str, Any] = dict.fromkeys(names)
    value |= {"protocol": "caesar.report/v1", "status": "partial", "summary": "half"}

    assert Draft202012Validator(schema("report", strict=True)).is_valid(value)
    assert Report.from_value(value).status == "partial"
