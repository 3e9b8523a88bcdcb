"""Tokens, cost and turns, to the token, as each program prints them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pytest_caesar.recovery.streams.lines import numbers, read

CODEX_END = {
    "type": "turn.completed",
    "usage": {
        "input_tokens": 84996,
        "cached_input_tokens": 60672,
        "cache_write_input_tokens": 12,
        "output_tokens": 878,
        "reasoning_output_tokens": 91,
    },
}


def codex(kind: str, when: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{when}", "item": {"id": "item_0", "type": kind, **fields}}


def step(*, reason: str = "stop", cost: float = 0, **tokens: Any) -> dict[str, Any]:
    cache = {"read": tokens.pop("read", 0), "write": tokens.pop("write", 0)}
    part = {"type": "step-finish", "reason": reason, "tokens": {**tokens, "cache": cache}}
    return {"type": "step_finish", "sessionID": "s", "part": {**part, "cost": cost}}


def message(ident: str, **usage: int) -> dict[str, Any]:
    content = [{"type": "text", "text": "x"}]
    body = {"id": ident, "model": "claude-x", "content": content, "usage": usage}
    return {"type": "assistant", "message": body, "parent_tool_use_id": None}


def test_codex_prints_parts_inside_the_whole() -> None:
    reading = read("codex", {"type": "turn.started"}, CODEX_END)

    assert numbers(reading) == {
        "input_tokens": 84996,
        "cached_input_tokens": 60672,
        "cache_write_tokens": 12,
        "output_tokens": 878,
        "reasoning_tokens": 91,
        "total_tokens": 85874,
    }
    assert (reading.usage.turns, reading.usage.at_least, reading.usage.source) == (
        None,
        False,
        "stream",
    )


def test_a_sub_agent_of_codex_hides_what_it_used() -> None:
    spawn = codex("collab_tool_call", tool="spawn_agent", prompt="p", status="completed")

    assert read("codex", {"type": "turn.started"}, spawn, CODEX_END).usage.at_least


def test_a_turn_of_codex_that_was_cut_says_nothing() -> None:
    reading = read("codex", {"type": "turn.started"}, codex("agent_message", text="x"))

    assert numbers(reading) == {}
    assert (reading.usage.at_least, reading.usage.source) == (False, None)


def test_opencode_prints_cached_and_reasoning_tokens_beside_the_others() -> None:
    first = step(reason="tool-calls", total=9215, input=458, output=52, reasoning=1, read=8704)
    last = step(cost=0.0057, total=9746, input=415, output=98, reasoning=17, read=9216)

    assert numbers(read("opencode", first, last)) == {
        "input_tokens": 458 + 8704 + 415 + 9216,
        "cached_input_tokens": 8704 + 9216,
        "cache_write_tokens": 0,
        "output_tokens": 52 + 1 + 98 + 17,
        "reasoning_tokens": 18,
        "total_tokens": 9215 + 9746,
        "cost_usd": 0.0057,
        "turns": 2,
    }


def test_a_step_of_opencode_with_zeros_and_no_total_was_never_counted() -> None:
    known = step(reason="tool-calls", total=120, input=90, output=15, reasoning=5, read=10)
    unknown = step(reason="unknown", input=0, output=0, reasoning=0)

    usage = read("opencode", known, unknown, unknown).usage
    assert (usage.input_tokens, usage.output_tokens, usage.turns) == (100, 20, 3)
    assert usage.at_least
    alone = read("opencode", unknown).usage
    assert (alone.input_tokens, alone.output_tokens, alone.cost_usd) == (None, None, None)


def test_a_cost_of_zero_beside_tokens_is_no_cost() -> None:
    free = step(total=120, input=90, output=15, reasoning=5, read=10, cost=0)

    assert read("opencode", free).usage.cost_usd is None


def test_a_step_of_opencode_that_never_finished_hides_the_rest() -> None:
    begun = {"type": "step_start", "sessionID": "s", "part": {"type": "step-start"}}
    first = step(reason="tool-calls", total=3, input=1, output=2, reasoning=0)

    assert read("opencode", begun, first, begun).usage.at_least
    assert not read("opencode", begun, first).usage.at_least


def gemini(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": "2026-11-30T14:16:36.625Z", **fields}


def test_gemini_prints_the_cached_inside_and_its_thoughts_in_the_total_alone() -> None:
    stats = {"total_tokens": 250, "input_tokens": 200, "output_tokens": 40, "cached": 20}
    reading = read(
        "gemini",
        gemini("message", role="user", content="p"),
        gemini("message", role="assistant", content="a", delta=True),
        gemini("tool_use", tool_name="a", tool_id="1", parameters={}),
        gemini("tool_use", tool_name="b", tool_id="2", parameters={}),
        gemini("tool_result", tool_id="1", status="success", output=""),
        gemini("tool_result", tool_id="2", status="success", output=""),
        gemini("message", role="assistant", content="b", delta=True),
        gemini(
            "result",
            status="success",
            stats={**stats, "duration_ms": 524, "models": {"m": stats, "n": {"total_tokens": 0}}},
        ),
    )

    assert numbers(reading) == {
        "input_tokens": 200,
        "cached_input_tokens": 20,
        "output_tokens": 40,
        "total_tokens": 250,
        "turns": 2,
        "duration": 0.524,
    }
    assert list(reading.usage.by_model) == ["m"]


def test_a_run_of_gemini_that_ended_well_with_zeros_was_not_counted() -> None:
    stats = {"total_tokens": 0, "input_tokens": 0, "output_tokens": 0, "cached": 0}

    assert numbers(read("gemini", gemini("result", status="success", stats=stats))) == {}
    failed = gemini("result", status="error", error={"message": "x"}, stats=stats)
    assert numbers(read("gemini", failed))["input_tokens"] == 0


def test_claude_repeats_the_usage_of_a_message_for_each_of_its_blocks() -> None:
    first = message("m1", input_tokens=2, cache_read_input_tokens=10, output_tokens=3)
    second = message("m2", input_tokens=5, cache_creation_input_tokens=7, output_tokens=4)

    usage = read("claude", first, first, second, second, second).usage
    assert (usage.input_tokens, usage.cached_input_tokens, usage.cache_write_tokens) == (24, 10, 7)
    assert (usage.output_tokens, usage.turns, usage.at_least) == (7, 2, True)


@pytest.mark.parametrize(
    ("models", "read_tokens", "cost"),
    [
        ({}, 114491, 0.25),
        # What sub-agents and side calls used is in modelUsage alone.
        ({"claude-x": {"inputTokens": 200_000, "outputTokens": 9, "costUSD": 0.2}}, 200_000, 0.25),
    ],
)
def test_claude_sums_up_in_its_last_line(
    models: dict[str, Any], read_tokens: int, cost: float
) -> None:
    used = {"input_tokens": 8, "cache_creation_input_tokens": 13296, "output_tokens": 918}
    end = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 4,
        "duration_ms": 28242,
        "total_cost_usd": cost,
        "usage": {**used, "cache_read_input_tokens": 101187},
        "modelUsage": models,
    }

    usage = read("claude", message("m1", input_tokens=1, output_tokens=1), end).usage
    assert (usage.input_tokens, usage.cost_usd, usage.turns) == (read_tokens, cost, 1)
    assert (usage.duration, usage.at_least, list(usage.by_model)) == (28.242, False, list(models))


def test_copilot_prints_its_answers_and_no_tokens() -> None:
    said = {"content": "x", "model": "gpt-x"}
    lines = [
        {"type": "assistant.message", "data": said},
        {"type": "assistant.message", "data": {**said, "parentToolCallId": "c"}},
        {"type": "result", "sessionId": "s", "exitCode": 0, "usage": {"sessionDurationMs": 5692}},
    ]

    assert numbers(read("copilot", *lines)) == {"turns": 1, "duration": 5.692}


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "thinking_tokens": 2}, (10, 5)),
        ({"input_tokens": 10, "output_tokens": 5, "total_tokens": 17, "thinking_tokens": 2}, (10, 7)),
        ({"input_tokens": 10, "output_tokens": 5, "total_tokens": 19, "cache_read_tokens": 4}, (14, 5)),
    ],
)  # fmt: skip
def test_the_total_of_antigravity_says_what_stands_beside(
    used: dict[str, int], expected: tuple[int, int]
) -> None:
    result = {"status": "SUCCESS", "response": "x", "num_turns": 3, "usage": used}

    usage = read("antigravity", {"event": "result", "result": result}).usage
    assert (usage.input_tokens, usage.output_tokens) == expected
    assert usage.turns == 3
