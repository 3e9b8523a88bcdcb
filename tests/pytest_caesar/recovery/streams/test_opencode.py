"""``opencode run --format json``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pytest_caesar.recovery.streams.lines import events, numbers, read, skipped, told, tool


def line(kind: str, **part: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": 5, "sessionID": "ses_1", "part": {"id": "prt_1", **part}}


def call(name: str, status: str = "completed", /, **state: Any) -> dict[str, Any]:
    return line("tool_use", type="tool", tool=name, callID="c1", state={"status": status, **state})


def step(reason: str, tokens: int = 10) -> dict[str, Any]:
    usage = {"input": tokens, "output": 2, "cache": {"read": 0}}
    return line("step_finish", type="step-finish", reason=reason, tokens=usage, cost=0.5)


def test_text_is_the_agents_own_word_and_reasoning_is_not() -> None:
    reading = read(
        "opencode", line("reasoning", text="Hm."), line("text", text="Done."), step("stop")
    )

    assert events(reading) == [
        {"type": "thinking", "text": "Hm."},
        {"type": "message", "text": "Done."},
    ]
    assert [said.text for said in reading.own_texts] == ["Done."]
    assert reading.failed is None


@pytest.mark.parametrize(("code", "status"), [(0, "succeeded"), (1, "failed")])
def test_a_command_has_failed_when_its_exit_code_says_so(code: int, status: str) -> None:
    state: dict[str, Any] = {
        "input": {"command": "make"},
        "title": "make",
        "metadata": {"exit": code},
    }

    assert told("opencode", call("bash", **state)) == [tool("bash", "c1", "make", status)]


def test_without_a_title_the_summary_is_the_command() -> None:
    state: dict[str, Any] = {"input": {"command": "make", "x": 1}, "title": ""}

    assert told("opencode", call("bash", **state)) == [tool("bash", "c1", "make", "succeeded")]


def test_a_tool_that_does_not_exist_has_failed() -> None:
    assert told("opencode", call("invalid", title="Invalid Tool")) == [
        tool("invalid", "c1", "Invalid Tool", "failed")
    ]


@pytest.mark.parametrize(
    ("name", "exists", "action"),
    [("write", False, "created"), ("write", True, "modified"), ("edit", None, "modified")],
)
def test_a_written_file_is_told(name: str, exists: object, action: str) -> None:
    state: dict[str, Any] = {
        "input": {"filePath": "a.py"},
        "title": "a.py",
        "metadata": {"exists": exists},
    }

    assert told("opencode", call(name, **state))[1:] == [
        {"type": "file_changed", "path": "a.py", "action": action}
    ]


def test_a_write_that_failed_changes_no_file() -> None:
    state: dict[str, Any] = {"input": {"filePath": "a.py"}, "error": "denied"}

    assert told("opencode", call("write", "error", **state)) == [
        tool("write", "c1", "a.py", "failed")
    ]


def test_the_words_of_a_nested_agent_are_not_the_agents() -> None:
    output = "<task_result>Child says.</task_result>"

    reading = read("opencode", call("task", title="child", output=output), step("stop"))

    assert reading.own_texts == ()


def test_an_error_line_is_a_failure() -> None:
    problem = {"name": "APIError", "data": {"message": "bad request", "statusCode": 400}}

    reading = read("opencode", {"type": "error", "sessionID": "ses_1", "error": problem})

    assert reading.failed == "bad request"
    assert events(reading) == [{"type": "error", "message": "bad request", "fatal": True}]


@pytest.mark.parametrize(
    ("reason", "failed"),
    [
        ("stop", None),
        ("tool-calls", "the stream ends after a step that finished with 'tool-calls'"),
        ("unknown", "the stream ends after a step that finished with 'unknown'"),
    ],
)
def test_the_agent_came_to_its_end_when_its_last_step_stopped(
    reason: str, failed: str | None
) -> None:
    assert read("opencode", step("stop"), step(reason)).failed == failed


def test_usage_is_that_of_all_steps() -> None:
    assert numbers(read("opencode", step("tool-calls"), step("stop", 5))) == {
        "input_tokens": 15,
        "cached_input_tokens": 0,
        "cache_write_tokens": 0,
        "output_tokens": 4,
        "reasoning_tokens": 0,
        "total_tokens": 19,
        "cost_usd": 1.0,
        "turns": 2,
    }


@pytest.mark.parametrize(
    ("strange", "problem"),
    [
        ({"type": "text"}, "part is absent, expected an object"),
        (line("text", text=5), "text is a number, expected a string"),
        (line("poem", text="x"), "unknown type 'poem'"),
        (line("tool_use", tool="bash"), "state is absent, expected an object"),
    ],
)
def test_a_strange_line_is_skipped_and_told(strange: object, problem: str) -> None:
    reading = read("opencode", strange, step("stop"))

    assert skipped(reading) == [f"line 1 of the opencode stream was skipped: {problem}"]
    assert reading.failed is None
