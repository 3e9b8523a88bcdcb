"""Dialects that were made from older captures: Claude Code, Copilot CLI, Antigravity."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from pytest_caesar.recovery.streams.dialects import DIALECTS
from tests.pytest_caesar.recovery.streams.lines import events, numbers, read, skipped, told, tool


def test_which_dialects_are_verified_is_said() -> None:
    verified = {name for name, reader in DIALECTS.items() if reader.verified}

    assert verified == {"codex", "opencode", "gemini", "copilot", "qwen", "pi", "acp"}


class TestClaude:
    @staticmethod
    def says(*blocks: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
        content = {"role": "assistant", "content": list(blocks)}
        return {"type": "assistant", "parent_tool_use_id": parent, "message": content}

    END: ClassVar[dict[str, Any]] = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "Bye.",
        "duration_ms": 12,
        "total_cost_usd": 0.25,
        "usage": {"input_tokens": 8, "output_tokens": 3},
    }

    def test_text_tools_and_thoughts(self) -> None:
        reading = read(
            "claude",
            {"type": "system", "subtype": "init", "session_id": "s"},
            self.says(
                {"type": "thinking", "thinking": "Hm."},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
            ),
            {
                "type": "user",
                "message": {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": True}],
                },
            },
            self.END,
        )

        assert events(reading) == [
            {"type": "thinking", "text": "Hm."},
            {"type": "message", "text": "I look."},
            tool("Bash", "t1", "ls", "started"),
            tool("", "t1", "", "failed"),
            {"type": "message", "text": "Bye."},
            {"type": "finished", "status": "success", "summary": "", "exit_code": None},
        ]
        assert numbers(reading) == {
            "input_tokens": 8, "cached_input_tokens": 0, "cache_write_tokens": 0,
            "output_tokens": 3, "total_tokens": 11, "duration": 0.012, "cost_usd": 0.25,
        }  # fmt: skip

    def test_a_nested_agent_does_not_speak_for_the_agent(self) -> None:
        nested = self.says({"type": "text", "text": "Child."}, parent="t1")

        reading = read("claude", nested, self.END)

        assert [said.text for said in reading.own_texts] == ["Bye."]

    def test_the_prompt_is_not_the_agents_word(self) -> None:
        prompt = {"type": "user", "message": {"role": "user", "content": "Do it."}}

        assert read("claude", prompt, self.END).final == "Bye."

    def test_a_structured_answer_is_the_final_message(self) -> None:
        end = {**self.END, "structured_output": {"a": 1}}

        assert read("claude", end).final == '{"a": 1}'

    def test_an_error_at_the_end_is_a_failure(self) -> None:
        end = {**self.END, "is_error": True, "result": "Credit is too low"}

        reading = read("claude", end)

        assert reading.failed == "Credit is too low"
        assert reading.own_texts == ()

    def test_estimates_of_thinking_are_progress(self) -> None:
        line = {"type": "system", "subtype": "thinking_tokens", "estimated_tokens": 9}

        assert told("claude", line) == [
            {"type": "progress", "message": "Thinking in progress (~9 tokens)"}
        ]


class TestCopilot:
    END: ClassVar[dict[str, Any]] = {
        "type": "result",
        "sessionId": "s",
        "exitCode": 0,
        "usage": {"sessionDurationMs": 7},
    }

    @staticmethod
    def line(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": "1", "timestamp": "t"}

    def test_messages_and_tools(self) -> None:
        reading = read(
            "copilot",
            self.line("user.message", content="Do it."),
            self.line("assistant.message", content="I look."),
            self.line(
                "tool.execution_start", toolName="bash", toolCallId="c", arguments={"command": "ls"}
            ),
            self.line("tool.execution_complete", toolCallId="c", success=False),
            self.END,
        )

        assert events(reading) == [
            {"type": "message", "text": "I look."},
            tool("bash", "c", "ls", "started"),
            tool("bash", "c", "ls", "failed"),
            {"type": "finished", "status": "success", "summary": "", "exit_code": 0},
        ]
        assert numbers(reading)["duration"] == 0.007
        assert reading.failed is None

    def test_an_error_of_the_session_is_a_failure(self) -> None:
        error = self.line("session.error", message="quota")

        assert read("copilot", error, {**self.END, "exitCode": 1}).failed == "quota"

    @pytest.mark.parametrize("code", [1.5, "1", None, True])
    def test_an_exit_code_that_is_none_is_strange_and_not_fatal(self, code: object) -> None:
        reading = read("copilot", {**self.END, "exitCode": code})

        assert skipped(reading)[0].startswith("line 1 of the copilot stream was skipped: exitCode")

    def test_a_file_that_was_created_or_edited_has_changed(self) -> None:
        reading = read(
            "copilot",
            *(
                self.line(
                    "tool.execution_start", toolName=name, toolCallId=name, arguments={"path": "/a"}
                )
                for name in ("create", "edit", "view")
            ),
            self.line("tool.execution_complete", toolCallId="create", success=True),
            self.line("tool.execution_complete", toolCallId="edit", success=False),
            self.line("tool.execution_complete", toolCallId="view", success=True),
            self.END,
        )
        changed = [event.fields for event in reading.events if event.type == "file_changed"]
        assert changed == [{"path": "/a", "action": "created"}]


class TestAntigravity:
    @staticmethod
    def step(index: int, kind: str = "agent_response", **more: Any) -> dict[str, Any]:
        update = {"step_index": index, "step_type": kind, "state": "RUNNING", **more}
        return {"event": "step_update", "step_update": update}

    @staticmethod
    def end(status: str = "SUCCESS", **more: Any) -> dict[str, Any]:
        return {"event": "result", "result": {"status": status, **more}}

    def test_deltas_of_one_step_are_one_message(self) -> None:
        reading = read(
            "antigravity",
            {"event": "init", "init": {"cwd": "/w"}},
            self.step(1, text_delta="I "),
            self.step(1, text_delta="look.", state="DONE"),
            self.step(2, text_delta="Done."),
            self.end(response="Done."),
        )

        assert [said.text for said in reading.own_texts] == ["I look.", "Done."]
        assert reading.failed is None

    def test_the_response_is_the_final_message(self) -> None:
        assert read("antigravity", self.end(response='{"a": 1}')).final == '{"a": 1}'

    def test_an_error_at_the_end_is_a_failure(self) -> None:
        reading = read(
            "antigravity", self.step(1, "error_message"), self.end("ERROR", error="quota")
        )

        assert reading.failed == "quota"
        assert [event["fatal"] for event in events(reading) if event["type"] == "error"] == [
            False,
            True,
        ]
