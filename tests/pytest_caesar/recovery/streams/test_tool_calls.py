"""What each dialect says of a call of a tool."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from pytest_caesar.recovery.tool_call import (
    MAX_ARGUMENTS,
    MAX_CALLS,
    MAX_KEPT,
    MAX_OUTPUT,
    CallLog,
    ToolCall,
)
from tests.pytest_caesar.recovery.streams.lines import read


def codex(when: str, ident: str = "item_1", **fields: Any) -> dict[str, Any]:
    item = {"id": ident, "type": "command_execution", "aggregated_output": "", **fields}
    return {"type": f"item.{when}", "item": item}


def copilot(kind: str, at: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "timestamp": f"2026-12-01T03:14:{at}Z"}


def only(dialect: str, *lines: object) -> ToolCall:
    calls = read(dialect, *lines).calls
    assert len(calls) == 1
    return calls[0]


def test_codex_tells_a_command_without_the_shell_it_runs_it_with() -> None:
    command = "/bin/bash -lc \"pytest -k 'a or b'\""

    call = only(
        "codex",
        codex("started", command=command, status="in_progress"),
        codex("completed", command=command, status="failed", exit_code=1, aggregated_output="no\n"),
    )
    assert (call.tool, call.command, call.exit_code, call.status) == (
        "shell",
        "pytest -k 'a or b'",
        1,
        "failed",
    )
    assert (call.output, call.at, call.duration) == ("no\n", None, None)


def test_a_command_that_codex_never_completes_has_no_end() -> None:
    call = only("codex", codex("started", command="sleep 20", status="in_progress"))

    assert (call.status, call.exit_code, call.done) == ("started", None, None)


def test_a_command_that_codex_declined_was_never_run() -> None:
    call = only("codex", codex("completed", command="rm x", status="declined", exit_code=-1))

    assert (call.command, call.status) == (None, "failed")


def test_opencode_tells_the_exit_code_and_both_times() -> None:
    state = {
        "status": "completed",
        "input": {"command": "pytest -q"},
        "output": "1 failed",
        "metadata": {"exit": 1},
        "time": {"start": 1796048206249, "end": 1796048206401},
    }
    part = {"type": "tool", "tool": "bash", "callID": "c", "state": state}

    call = only("opencode", {"type": "tool_use", "sessionID": "s", "part": part})
    assert (call.command, call.exit_code, call.status) == ("pytest -q", 1, "failed")
    assert call.at == datetime(2026, 11, 30, 14, 16, 46, 249000, tzinfo=timezone.utc)
    assert call.duration == pytest.approx(0.152)


def test_copilot_tells_the_exit_code_of_its_shell() -> None:
    call = only(
        "copilot",
        copilot("tool.execution_start", "16.020", toolCallId="c", toolName="bash",
                arguments={"command": "pytest -q"}),
        copilot("tool.execution_complete", "20.636", toolCallId="c", success=True,
                shellExecution={"exitCode": 5}, result={"content": "no tests ran"}),
    )  # fmt: skip
    assert (call.command, call.exit_code, call.status) == ("pytest -q", 5, "failed")
    assert call.duration == pytest.approx(4.616)
    assert call.output == "no tests ran"


def test_gemini_has_no_exit_codes() -> None:
    at = "2026-11-30T14:16:36.768Z"
    use = {"type": "tool_use", "timestamp": at, "tool_name": "run_shell_command", "tool_id": "t"}
    result = {"type": "tool_result", "timestamp": at, "tool_id": "t", "status": "success"}

    call = only("gemini", {**use, "parameters": {"command": "false"}}, {**result, "output": "x"})
    assert (call.command, call.exit_code, call.status, call.output) == (
        "false", None, "succeeded", "x",
    )  # fmt: skip


def test_claude_tells_the_exit_code_of_what_failed() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "is_error": True,
        "content": "Exit code 2",
    }

    call = only(
        "claude",
        {"type": "assistant", "message": {"content": [use]}},
        {"type": "user", "message": {"content": [result]}},
    )
    assert (call.command, call.exit_code, call.status) == ("pytest", 2, "failed")


@pytest.mark.parametrize(
    ("tool", "hides"),
    [("bash", False), ("task", True), ("caesar_submit_report", False), ("jenkins_build", True)],
)
def test_nobody_sees_into_sub_agents_and_servers_of_others(tool: str, hides: bool) -> None:  # noqa: FBT001
    part = {"type": "tool", "tool": tool, "callID": "c", "state": {"status": "completed"}}

    assert only("opencode", {"type": "tool_use", "sessionID": "s", "part": part}).hides is hides


def test_of_large_calls_the_beginning_of_the_arguments_and_the_end_of_the_output_is_kept() -> None:
    log = CallLog()
    log.start("a", "write", {"path": "x", "content": "é" * MAX_ARGUMENTS})
    log.end("a", succeeded=True, output="x" * MAX_OUTPUT + "end")

    (call,) = log.calls
    assert call.cut
    assert call.arguments is not None
    assert call.arguments["path"] == "x"
    assert len(str(call.arguments["content"]).encode()) <= MAX_ARGUMENTS
    assert call.output is not None
    assert len(call.output) == MAX_OUTPUT
    assert call.output.endswith("end")


def test_many_calls_do_not_fill_the_memory() -> None:
    log = CallLog()
    for number in range(3 * MAX_KEPT // MAX_OUTPUT // 2):
        log.start(str(number), "t", {})
        log.end(str(number), succeeded=True, output="x" * MAX_OUTPUT)

    assert sum(len(call.output or "") for call in log.calls) <= MAX_KEPT
    for number in range(MAX_CALLS):
        log.start(f"more {number}", "t")
    assert len(log.calls) == MAX_CALLS
    assert log.dropped > 0


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("Reading additional input from stdin...", True),
        ('{"type": "item.completed", "item": {"id":', False),
        ({"type": "item.completed", "item": {"id": "i", "type": "new_kind"}}, False),
    ],
)
def test_a_reading_says_whether_it_understood_every_line(line: object, whole: bool) -> None:  # noqa: FBT001
    assert read("codex", {"type": "turn.started"}, line).whole is whole
