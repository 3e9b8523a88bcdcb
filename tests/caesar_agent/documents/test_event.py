from __future__ import annotations

from typing import Any, get_args

import pytest

from caesar_agent.documents import Event, EventType, FinishedEvent, MessageEvent, ToolUseEvent
from caesar_agent.documents.event import EVENT_CLASSES
from caesar_agent.errors import DocumentError
from tests.caesar_agent.documents.examples import event


@pytest.mark.parametrize(
    ("fields", "defaults"),
    [
        ({"type": "started", "agent": "a"}, {"command": ""}),
        ({"type": "thinking", "text": ""}, {}),
        ({"type": "message", "text": "x", "extra": 1}, {}),
        ({"type": "tool_use", "tool": ""}, {"input_summary": "", "status": "started", "id": ""}),
        ({"type": "file_changed", "path": "p", "action": "renamed"}, {}),
        ({"type": "progress", "message": "m"}, {}),
        ({"type": "progress", "message": "m", "pct": 12.5}, {}),
        ({"type": "question", "id": "q", "question": "?"}, {"options": []}),
        ({"type": "answer", "id": "q", "answer": "a"}, {}),
        ({"type": "error", "message": "m"}, {"fatal": False}),
        ({"type": "finished", "status": "success"}, {"summary": ""}),
        ({"type": "finished", "status": "failed", "exit_code": -9}, {"summary": ""}),
    ],
)
def test_each_type_has_its_fields_and_defaults(
    fields: dict[str, Any], defaults: dict[str, Any]
) -> None:
    value = event(**fields)
    read = Event.from_value(value)

    assert type(read) is EVENT_CLASSES[value["type"]]
    assert read.dump() == {**value, **defaults}


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"type": "tool_use", "tool": "x", "status": "done"}, "status"),
        ({"type": "tool_use"}, "tool"),
        ({"type": "progress", "message": "m", "pct": 101}, "pct"),
        ({"type": "progress", "message": "m", "pct": "50"}, "pct"),
        ({"type": "finished", "status": "succeeded"}, "status"),
        ({"type": "finished", "status": "failed", "exit_code": 1.5}, "exit_code"),
        ({"type": "message", "text": "x", "seq": -1}, "seq"),
        ({"type": "message", "text": "x", "seq": True}, "seq"),
        ({"type": "message", "text": "x", "at": "…"}, "at"),
        ({"type": "message", "text": "x", "task_id": None}, "task_id"),
        ({"type": "file_changed", "path": "p", "action": "added"}, "action"),
        ({"type": "error", "message": "m", "fatal": "no"}, "fatal"),
        ({"type": 3}, "type"),
        ({"type": None}, "type"),
        ({"type": ["message"]}, "type"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], where: str) -> None:
    with pytest.raises(DocumentError) as caught:
        Event.from_value(event(**fields))
    assert caught.value.where == where


def test_a_type_that_is_not_known_is_kept_as_it_is() -> None:
    value = event(type="metrics", value=1, nested={"a": [None]})
    read = Event.from_value(value)

    assert type(read) is Event
    assert read.dump() == value


def test_null_for_an_optional_field_is_an_absent_field() -> None:
    read = Event.from_value(event(type="progress", message="m", pct=None))

    assert read == Event.from_value(event(type="progress", message="m"))


def test_a_class_of_one_type_takes_no_other() -> None:
    assert MessageEvent.from_value(event(text="x")).text == "x"
    with pytest.raises(DocumentError) as caught:
        FinishedEvent.from_value(event(text="x"))
    assert caught.value.where == "type"
    with pytest.raises(DocumentError):
        ToolUseEvent.parse('{"protocol":"caesar.event/v1"}')


def test_every_type_has_a_class() -> None:
    assert tuple(EVENT_CLASSES) == get_args(EventType)
