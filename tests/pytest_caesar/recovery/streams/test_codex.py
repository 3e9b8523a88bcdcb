"""``codex exec --json``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pytest_caesar.recovery.streams.lines import events, numbers, read, skipped, told, tool

BEGIN = ({"type": "thread.started", "thread_id": "01"}, {"type": "turn.started"})
END = {"type": "turn.completed", "usage": {"input_tokens": 50, "output_tokens": 7}}


def item(kind: str, when: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{when}", "item": {"id": "item_3", "type": kind, **fields}}


def test_a_message_is_the_agents_own_word() -> None:
    reading = read("codex", *BEGIN, item("agent_message", text="Looking."), END)

    assert [said.text for said in reading.own_texts] == ["Looking."]
    assert reading.final == "Looking."
    assert events(reading) == [
        {"type": "message", "text": "Looking."},
        {"type": "finished", "status": "success", "summary": "", "exit_code": None},
    ]


def test_a_message_is_located_in_the_log() -> None:
    reading = read("codex", "noise", item("agent_message", text="x"))

    line = (
        '{"type": "item.completed", "item": {"id": "item_3", "type": "agent_message", "text": "x"}}'
    )
    assert (reading.own_texts[0].start, reading.own_texts[0].end) == (6, 6 + len(line))


@pytest.mark.parametrize(
    ("when", "told_status", "status"),
    [
        ("started", "in_progress", "started"),
        ("updated", "in_progress", "started"),
        ("completed", "completed", "succeeded"),
        ("completed", "failed", "failed"),
    ],
)
def test_a_command_is_told_when_it_starts_and_when_it_ends(
    when: str, told_status: str, status: str
) -> None:
    line = item("command_execution", when, command="bash -lc 'make'", status=told_status)

    assert told("codex", line) == [tool("shell", "item_3", "bash -lc 'make'", status)]


def test_a_command_may_be_a_list_of_words() -> None:
    line = item("command_execution", command=["make", "all"], status="completed")

    assert told("codex", line) == [tool("shell", "item_3", "make all", "succeeded")]


@pytest.mark.parametrize(
    ("kind", "action"),
    [
        ("add", "created"),
        ("delete", "deleted"),
        ("update", "modified"),
        ("rename", "renamed"),
        ("odd", "modified"),
    ],
)
def test_changed_files_are_told_once_they_are_changed(kind: str, action: str) -> None:
    changes = [{"path": "/w/a.py", "kind": kind}, {"path": "/w/b.py", "kind": "add"}]

    assert told("codex", item("file_change", "started", changes=changes)) == []
    assert told("codex", item("file_change", changes=changes, status="completed")) == [
        {"type": "file_changed", "path": "/w/a.py", "action": action},
        {"type": "file_changed", "path": "/w/b.py", "action": "created"},
    ]


def test_a_change_that_failed_is_a_failed_tool() -> None:
    changes = [{"path": "/w/a.py", "kind": "add"}]

    assert told("codex", item("file_change", changes=changes, status="failed")) == [
        tool("file_change", "item_3", "/w/a.py", "failed")
    ]


def test_a_tool_of_a_server_is_named_with_its_server() -> None:
    call: dict[str, Any] = {
        "server": "caesar",
        "tool": "report_progress",
        "arguments": {"message": "half"},
    }

    assert told(
        "codex",
        item("mcp_tool_call", "started", **call, status="in_progress"),
        item("mcp_tool_call", **call, status="failed", error={"message": "no"}),
    ) == [
        tool("caesar.report_progress", "item_3", "half", "started"),
        tool("caesar.report_progress", "item_3", "half", "failed"),
    ]


def test_the_words_of_a_nested_agent_are_not_the_agents() -> None:
    states = {"02": {"status": "completed", "message": "Child says."}}
    line = item(
        "collab_tool_call", tool="wait", prompt=None, agents_states=states, status="completed"
    )

    reading = read("codex", line)

    assert reading.own_texts == ()
    assert events(reading) == [tool("wait", "item_3", "", "succeeded")]


def test_reasoning_is_thinking_and_not_a_word() -> None:
    reading = read("codex", item("reasoning", text="Perhaps."))

    assert events(reading) == [{"type": "thinking", "text": "Perhaps."}]
    assert reading.own_texts == ()


def test_a_warning_is_an_error_that_is_not_fatal() -> None:
    note = "Reconnecting... 1/2"
    reading = read(
        "codex",
        *BEGIN,
        item("error", message="Unknown model"),
        {"type": "error", "message": note},
        END,
    )

    assert events(reading)[:2] == [
        {"type": "error", "message": "Unknown model", "fatal": False},
        {"type": "error", "message": note, "fatal": False},
    ]
    assert reading.failed is None


def test_a_failed_turn_is_a_failure() -> None:
    reading = read("codex", *BEGIN, {"type": "turn.failed", "error": {"message": "quota"}})

    assert reading.failed == "quota"
    assert events(reading) == [
        {"type": "error", "message": "quota", "fatal": True},
        {"type": "finished", "status": "failed", "summary": "quota", "exit_code": None},
    ]


def test_a_later_turn_that_completes_makes_good_for_a_failed_one() -> None:
    failed = {"type": "turn.failed", "error": {"message": "quota"}}

    assert read("codex", *BEGIN, failed, {"type": "turn.started"}, END).failed is None


def test_a_stream_without_its_end_has_failed() -> None:
    assert read("codex", *BEGIN).failed == "the stream ends before its closing line"


def test_usage_is_that_of_all_turns() -> None:
    assert numbers(read("codex", *BEGIN, END, END)) == {
        "input_tokens": 100,
        "output_tokens": 14,
        "total_tokens": 114,
    }


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Reading additional input from stdin...", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"type": "turn', "not a JSON object"),
        ({"type": 3}, "type is a number, expected a string"),
        ({}, "type is absent, expected a string"),
        ({"type": "turn.paused"}, "unknown type 'turn.paused'"),
        ({"type": "item.completed"}, "item is absent, expected an object"),
        ({"type": "item.completed", "item": []}, "item is a list, expected an object"),
        (item("telepathy"), "unknown item 'telepathy'"),
        (item("agent_message", text=None), "text is absent, expected a string"),
        (item("file_change", changes={}), "changes is an object, expected a list of objects"),
        (item("command_execution", command=True), "command is a boolean, expected a string"),
        ({"type": "turn.failed", "error": "x"}, "error is a string, expected an object"),
    ],
)
def test_a_strange_line_is_skipped_and_told(line: object, problem: str) -> None:
    reading = read("codex", *BEGIN, line, item("agent_message", text="Still here."), END)

    assert skipped(reading) == [f"line 3 of the codex stream was skipped: {problem}"]
    assert reading.final == "Still here."
    assert reading.failed is None
