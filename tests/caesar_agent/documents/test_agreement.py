"""Our models, our schemas and the reference schemas give one verdict on every document.

Differences are allowed where ``explained`` knows them, and nowhere else.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from caesar_agent.documents import Document, Event, EventType, Report, Task
from caesar_agent.documents.schema import DOCUMENTS, schema
from caesar_agent.documents.timestamps import is_timestamp
from pytest_caesar import strategies
from tests.caesar_agent.mutations import accepts, mutants

REFERENCE = Path(__file__).parent / "reference_schemas"

EXAMPLES = settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)  # fmt: skip

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3.0, 1.5, -0.0, 100, 100.5, 2**53 - 1, 2**53, -(2**53), 1e300,
    "", " ", "\n\u2003", "x", "\ud83d", [], [None], ["a"], [["a"]], {}, {"a": 1}, [{}],
    "success", "Success", "created", "low", "write", "worktree", "message", "finished", "metrics",
    "caesar.report/v1", "caesar.event/v2", "mcp-stdio",
    "2026-01-01T00:00:00Z", "2026-01-01t00:00:00+02:00", "2026-01-01 00:00:00.5z", "2026-02-30T00:00Z",
    "2026-01-01T00:00:00", "2026-06-30T23:59:60Z", "2024-02-29T00:00Z",
    {"path": "a", "action": "created"}, [{"path": "a", "action": "created"}],
    {"transport": "mcp-stdio", "command": "c"}, {"input_tokens": 1.0},
]  # fmt: skip


@cache
def reference(name: str) -> Any:
    return Draft202012Validator(json.loads((REFERENCE / f"{name}.json").read_text()))


@cache
def ours(name: str) -> Any:
    return Draft202012Validator(schema(name))


def without_nulls(value: Any) -> Any:
    """Drop what is null from objects, at every depth; elements of arrays stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def explained(name: str, value: Any) -> bool:
    """Say whether a document has one of the differences that the documentation lists."""
    if name == "report":
        summary = value.get("summary")
        return isinstance(summary, str) and bool(summary) and not summary.strip()
    moment = value.get("created_at" if name == "task" else "at")
    field = reference("task").schema["properties"]["created_at"]
    spelling = isinstance(moment, str) and is_timestamp(moment) != Draft202012Validator(
        {"pattern": field["pattern"]}
    ).is_valid(moment)
    kind = value.get("type")
    unknown = name == "event" and isinstance(kind, str) and kind not in get_args(EventType)
    return spelling or unknown


def mutated(documents: st.SearchStrategy[Document]) -> st.SearchStrategy[Any]:
    keys = ["x", "usage", "line", "pct", "channel", "exit_code"]
    return mutants(documents.map(lambda document: document.dump()), values=VALUES, keys=keys)


def assert_one_verdict(name: str, document: type[Document], value: Any) -> None:
    model = accepts(document, value)
    plain = without_nulls(value)

    assert ours(name).is_valid(plain) == model
    assert accepts(document, plain) == model
    if reference(name).is_valid(plain) != model:
        assert explained(name, plain)


@EXAMPLES
@given(mutated(strategies.reports()))
def test_one_verdict_on_every_report(value: Any) -> None:
    assert_one_verdict("report", Report, value)


@EXAMPLES
@given(mutated(strategies.tasks()))
def test_one_verdict_on_every_task(value: Any) -> None:
    assert_one_verdict("task", Task, value)


@EXAMPLES
@given(mutated(strategies.events()))
def test_one_verdict_on_every_event(value: Any) -> None:
    assert_one_verdict("event", Event, value)


@pytest.mark.parametrize("name", ["question", "answer"])
@EXAMPLES
@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.sampled_from(VALUES)
            for name in ("id", "question", "answer", "options", "asked_at", "answered_at", "x")
        },
    )
)
def test_one_verdict_on_every_question_and_answer(name: str, value: Any) -> None:
    assert ours(name).is_valid(without_nulls(value)) == accepts(DOCUMENTS[name], value)


@pytest.mark.parametrize(
    ("name", "document", "strategy"),
    [
        ("report", Report, strategies.reports()),
        ("task", Task, strategies.tasks()),
        ("event", Event, strategies.events()),
    ],
)
def test_what_the_strategies_make_is_valid_everywhere(
    name: str, document: type[Document], strategy: st.SearchStrategy[Document]
) -> None:
    @settings(EXAMPLES, max_examples=40)
    @given(strategy)
    def check(made: Document) -> None:
        value = made.dump()
        assert ours(name).is_valid(without_nulls(value))
        assert reference(name).is_valid(without_nulls(value))
        assert document.parse(made.to_json()) == made
        assert document.parse(made.to_line().encode()) == made
        assert document.from_value(value).dump() == value

    check()


def fill(node: dict[str, Any], draw: st.DrawFn) -> Any:
    """Draw what a model that is held to a strict schema would write."""
    if "anyOf" in node:
        return fill(draw(st.sampled_from(node["anyOf"])), draw)
    if "enum" in node or "const" in node:
        return draw(st.sampled_from(node.get("enum", [node.get("const")])))
    match node["type"]:
        case "object":
            return {name: fill(field, draw) for name, field in node["properties"].items()}
        case "array":
            return [fill(node["items"], draw) for _ in range(draw(st.integers(0, 2)))]
        case "null":
            return None
        case "string":
            return draw(st.sampled_from(["x", "2026-01-01T00:00:00Z"]))
        case "boolean":
            return draw(st.booleans())
    return draw(st.integers(1, 100))


@settings(EXAMPLES, max_examples=40)
@given(st.data())
def test_what_is_written_to_the_strict_report_schema_is_a_report(data: st.DataObject) -> None:
    value = data.draw(st.composite(lambda draw: fill(schema("report", strict=True), draw))())

    assert Draft202012Validator(schema("report", strict=True)).is_valid(value)
    assert accepts(Report, value)
    # A provider that is held to the reference's strict schema writes "" where ours writes null.
    assert reference("report").is_valid(without_nulls(value))


@settings(EXAMPLES, max_examples=40)
@given(strategies.reports(unknown_fields=False))
def test_what_fits_the_reference_strict_schema_fits_ours(made: Report) -> None:
    value = made.dump()
    value.setdefault("usage", None)
    for name, keys in (("commands_run", ("exit_code",)), ("findings", ("file", "line"))):
        for part in value[name]:
            for key in keys:
                part.setdefault(key, None)
    if value["usage"] is not None:
        for key in ("input_tokens", "output_tokens", "cost_usd", "duration_ms"):
            value["usage"].setdefault(key, None)

    assert reference("report.strict").is_valid(value)
    assert Draft202012Validator(schema("report", strict=True)).is_valid(value)
    assert Report.from_value(value) == made
