"""Streams of Qwen Code 0.15.10 and pi 0.73.1, as they were printed against a scripted model."""

from __future__ import annotations

import json
from typing import Any

from pytest_caesar.recovery.streams.dialects import detect
from tests.pytest_caesar.recovery.streams.lines import read


def changed(reading: Any) -> list[Any]:
    return [event.fields for event in reading.events if event.type == "file_changed"]


def qwen(kind: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    message = {"id": "m", "role": kind, "model": "scripted", "content": list(blocks)}
    return {
        "type": kind,
        "uuid": "u",
        "session_id": "s",
        "parent_tool_use_id": None,
        "message": message,
    }


def use(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(call: str, content: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "is_error": is_error, "content": content}


def test_qwen_runs_commands_and_changes_files_by_its_own_names() -> None:
    reading = read(
        "qwen",
        {"type": "system", "subtype": "init", "qwen_code_version": "0.15.10"},
        qwen("assistant", {"type": "text", "text": "Looking."}),
        qwen("assistant", use("1", "run_shell_command", command="ls; exit 3")),
        qwen("user", result("1", "hi")),
        qwen("assistant", use("2", "edit", file_path="/w/a", old_string="x", new_string="y")),
        qwen("user", result("2", "not read yet", is_error=True)),
        qwen("assistant", use("3", "write_file", file_path="/w/b", content="z")),
        qwen("user", result("3", "Successfully created")),
        {"type": "result", "subtype": "success", "is_error": False, "result": "All done."},
    )
    assert changed(reading) == [{"path": "/w/b", "action": "modified"}]
    assert [(call.tool, call.command, call.exit_code) for call in reading.calls][:1] == [
        ("run_shell_command", "ls; exit 3", None)
    ]
    assert (reading.final, reading.failed) == ("All done.", None)


def test_lines_that_claude_has_too_do_not_hide_qwen() -> None:
    began = {"type": "system", "subtype": "init", "qwen_code_version": "0.15.10"}
    lines = [began, *[qwen("assistant", {"type": "text", "text": "x"})] * 5]
    assert detect("".join(json.dumps(line) + "\n" for line in lines).encode()) == "qwen"


def pi(*content: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": list(content),
        "usage": {"input": 100, "output": 10},
        "stopReason": "stop",
        **more,
    }
    return {"type": "message_end", "message": message}


PI: list[dict[str, Any]] = [
    {"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/w"},
    {"type": "agent_start"},
    {
        "type": "message_end",
        "message": {"role": "user", "content": [{"type": "text", "text": "Fix"}]},
    },
    {"type": "message_update", "message": {"role": "assistant", "content": []}},
    pi({"type": "text", "text": "Looking."}, stopReason="toolUse"),
    {
        "type": "tool_execution_start",
        "toolCallId": "1",
        "toolName": "bash",
        "args": {"command": "exit 3"},
    },
    {
        "type": "tool_execution_end",
        "toolCallId": "1",
        "toolName": "bash",
        "isError": True,
        "result": {"content": [{"type": "text", "text": "hi\n\n\nCommand exited with code 3"}]},
    },
    {
        "type": "tool_execution_start",
        "toolCallId": "2",
        "toolName": "write",
        "args": {"path": "a.txt", "content": "x"},
    },
    {
        "type": "tool_execution_end",
        "toolCallId": "2",
        "toolName": "write",
        "isError": False,
        "result": {"content": [{"type": "text", "text": "ok"}]},
    },
]


def test_pi_tells_messages_commands_and_files() -> None:
    reading = read("pi", *PI, pi({"type": "text", "text": "All done."}), {"type": "agent_end"})
    assert [said.text for said in reading.own_texts] == ["Looking.", "All done."]
    assert [(call.tool, call.command, call.exit_code) for call in reading.calls] == [
        ("bash", "exit 3", 3),
        ("write", None, None),
    ]
    assert changed(reading) == [{"path": "a.txt", "action": "modified"}]
    assert (reading.usage.input_tokens, reading.usage.turns) == (200, 2)
    assert reading.failed is None


def test_an_answer_of_the_model_that_failed_is_the_failure_of_pi() -> None:
    broken = pi(stopReason="error", errorMessage="500 scripted failure")
    assert read("pi", *PI, broken, {"type": "agent_end"}).failed == "500 scripted failure"


def test_a_stream_of_pi_that_was_cut_has_no_end() -> None:
    assert read("pi", *PI).failed == "the stream ends before its closing line"
