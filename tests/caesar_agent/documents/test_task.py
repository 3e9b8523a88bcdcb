from __future__ import annotations

import json
from typing import Any

import pytest

from caesar_agent.documents import AnswerFile, QuestionFile, Task
from caesar_agent.errors import DocumentError
from tests.caesar_agent.documents.examples import task

HOSTILE = "Fix \"quotes\" 'single' `id` $(id) ${HOME} {0} %s\nsecond\u2028third 🎉 \\n \x1b[31m\0"


def test_a_task_from_before_a_field_existed_is_read_with_its_default() -> None:
    old = Task.from_value(task())

    assert old.network is True
    assert (old.role, old.base_ref, old.channel, old.depth) == (None, None, None, 0)


def test_text_of_any_kind_comes_back_byte_for_byte() -> None:
    written = Task.from_value(task(objective=HOSTILE, context="c" * 200_000))
    read = Task.parse(written.to_json().encode())

    assert read == written
    assert read.objective == HOSTILE
    assert json.loads(written.to_json())["objective"] == HOSTILE


def test_a_channel_has_defaults_and_may_be_null() -> None:
    assert Task.from_value(task(channel=None)).channel is None
    channel = Task.from_value(task(channel={"transport": "mcp-stdio", "command": "c"})).channel

    assert channel is not None
    assert (channel.args, channel.server_name) == ((), "caesar")


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"objective": ""}, "objective"),
        ({"deadline_ms": 0}, "deadline_ms"),
        ({"deadline_ms": "600000"}, "deadline_ms"),
        ({"depth": -5}, "depth"),
        ({"mode": "readonly"}, "mode"),
        ({"isolation": "auto"}, "isolation"),
        ({"network": "yes"}, "network"),
        ({"network": 1}, "network"),
        ({"created_at": "yesterday"}, "created_at"),
        ({"created_at": "2026-01-01T00:00:00"}, "created_at"),
        ({"created_at": 1786269600}, "created_at"),
        ({"workspace": None}, "workspace"),
        ({"channel": {"transport": "stdio", "command": "c"}}, "channel.transport"),
        ({"channel": {"transport": "mcp-stdio"}}, "channel.command"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, Any], where: str) -> None:
    with pytest.raises(DocumentError) as caught:
        Task.from_value(task(**fields))
    assert caught.value.where == where


def test_questions_and_answers_need_no_time_but_some_text() -> None:
    question = QuestionFile.parse('{"id":"q1","question":"Keep it?","asked_at":null,"x":1}')
    answer = AnswerFile.parse('{"id":"q1","answer":"no","answered_at":"2026-03-01T10:00:00Z"}')

    assert question.dump() == {"id": "q1", "question": "Keep it?", "options": [], "x": 1}
    assert answer.answered_at == "2026-03-01T10:00:00Z"
    with pytest.raises(DocumentError, match="invalid question at question: expected some text"):
        QuestionFile.parse('{"id":"q1","question":""}')
    with pytest.raises(
        DocumentError, match="invalid answer at answer: a required field is missing"
    ):
        AnswerFile.parse('{"id":"q1"}')
