"""Our models, our schemas and the given schemas give one verdict on every document."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from caesar_agent.va.schema import DOCUMENTS, schema
from tests.caesar_agent.mutations import accepts, mutants
from tests.caesar_agent.va import reference

EXAMPLES = settings(
    deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
)  # fmt: skip

NAMES = sorted(DOCUMENTS)

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3.0, 0.5, 1.5, -0.0, 2**53, 10**30, 1e300, "", "x", "\ud83d",
    [], [None], ["a"], [1], {}, {"a": 1}, [{}], "P0", "completed", "running", "warning", "gate",
    "dispatch", "progress", "va-agent-protocol", "0.1", "1.2.3", "0.1.0-rc1",
    "2026-08-09T10:00:00", "2026-02-30T10:00:00Z", "2026-08-09 10:00:00Z", "2026-08-09T10:00:00z",
    {"fromTask": "a", "outputKey": "b"}, {"fromTask": "a"}, {"taskId": "t"},
    {"evidence": {"taskId": "t", "status": "completed"}}, {"status": "ok", "score": 2},
]  # fmt: skip

NEW = [
    "x",
    "task_id",
    "taskId",
    "reason",
    "payload",
    "metadata",
    "timeout",
    "inputs",
    "score",
    "from",
]


@cache
def ours(name: str) -> Any:
    return Draft202012Validator(schema(name), format_checker=reference.FORMATS)


@pytest.mark.parametrize("name", NAMES)
def test_one_verdict_on_every_document(name: str) -> None:
    seen: set[bool] = set()

    @EXAMPLES
    @given(mutants(reference.documents(name), values=VALUES, keys=NEW))
    def check(value: Any) -> None:
        model = accepts(DOCUMENTS[name], value)
        seen.add(model)
        assert ours(name).is_valid(value) == model
        assert reference.validator(name).is_valid(value) == model

    check()
    assert seen == {True, False}


@pytest.mark.parametrize("name", NAMES)
def test_a_document_survives_a_round_trip(name: str) -> None:
    @settings(EXAMPLES, max_examples=60)
    @given(reference.documents(name))
    def check(value: Any) -> None:
        document = DOCUMENTS[name].from_value(value)
        again = document.dump()
        assert reference.validator(name).is_valid(again)
        assert DOCUMENTS[name].parse(document.to_json()) == document
        assert DOCUMENTS[name].parse(document.to_line()).dump() == again
        assert_within(value, again)

    check()


def assert_within(value: Any, whole: Any) -> None:
    """Assert that a document says all that it said; defaults may have come beside."""
    if isinstance(value, dict) and isinstance(whole, dict):
        for key, item in value.items():
            assert_within(item, whole[key])
    elif isinstance(value, list):
        assert len(value) == len(whole)
        for one, other in zip(value, whole, strict=True):
            assert_within(one, other)
    else:
        assert value == whole


# --- the corrections, each shown to be needed -------------------------------------------


def message(kind: str, payload: Any) -> Any:
    return {
        "protocol": "va-agent-protocol",
        "version": "0.1.0",
        "type": kind,
        "timestamp": "2026-08-09T10:00:00Z",
        "correlationId": "c",
        "payload": payload,
    }


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("accepted", {"taskId": "t"}),
        ("cancel", {"taskId": "t"}),
        ("completed", {"evidence": {"taskId": "t", "status": "completed"}}),
        ("blocked", {"evidence": {"taskId": "t", "status": "blocked"}}),
    ],
)
def test_the_given_schema_refuses_plain_messages_that_are_taken_here(
    kind: str, payload: Any
) -> None:
    value = message(kind, payload)

    assert not reference.validator("va-message", corrected=False).is_valid(value)
    assert ours("va-message").is_valid(value)
    assert accepts(DOCUMENTS["va-message"], value)


def test_the_given_schema_refuses_every_reference_which_is_taken_here() -> None:
    value = {
        "id": "t",
        "objective": "o",
        "acceptanceCriteria": ["c"],
        "dependsOn": ["s"],
        "inputs": {"n": {"fromTask": "s", "outputKey": "k"}},
    }

    assert not reference.validator("va-task-unit", corrected=False).is_valid(value)
    assert ours("va-task-unit").is_valid(value)
    assert accepts(DOCUMENTS["va-task-unit"], value)


def test_the_given_lifecycle_takes_any_object_and_ours_one_execution_of_a_task() -> None:
    assert reference.validator("va-lifecycle", corrected=False).is_valid({"anything": 1})
    assert not ours("va-lifecycle").is_valid({"anything": 1})
    assert not accepts(DOCUMENTS["va-lifecycle"], {"anything": 1})


def test_a_payload_of_another_type_is_refused_although_the_given_schema_takes_it() -> None:
    value = message(
        "completed", {"task": {"id": "t", "objective": "o", "acceptanceCriteria": ["c"]}}
    )

    assert reference.validator("va-message", corrected=False).is_valid(value)
    assert not ours("va-message").is_valid(value)
    assert not accepts(DOCUMENTS["va-message"], value)
