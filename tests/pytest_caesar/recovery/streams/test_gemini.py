"""``gemini --output-format stream-json``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pytest_caesar.recovery.streams.lines import (
    events,
    numbers,
    read,
    skipped,
    stream,
    told,
    tool,
)


def line(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": "2026-01-01T00:00:00.000Z", **fields}


def chunk(words: str, role: str = "assistant") -> dict[str, Any]:
    return line("message", role=role, content=words, delta=True)


def use(name: str, **parameters: Any) -> dict[str, Any]:
    return line("tool_use", tool_name=name, tool_id="c1", parameters=parameters)


def result(status: str = "success", **fields: Any) -> dict[str, Any]:
    return line("tool_result", tool_id="c1", status=status, **fields)


END = line(
    "result",
    status="success",
    stats={"input_tokens": 9, "output_tokens": 4, "duration_ms": 20, "total_tokens": 13},
)


def test_chunks_are_joined_up_to_the_next_line_of_another_kind() -> None:
    reading = read("gemini", chunk("I "), chunk("look."), use("ls"), chunk("Do"), chunk("ne."), END)

    assert [said.text for said in reading.own_texts] == ["I look.", "Done."]
    assert reading.final == "Done."
    assert events(reading)[0] == {"type": "message", "text": "I look."}


def test_a_joined_message_is_located_from_its_first_chunk_to_its_last() -> None:
    first, second = chunk("a"), chunk("b")

    reading = read("gemini", END, first, second, END)

    before = len(stream(END))
    assert reading.own_texts[0].start == before
    assert reading.own_texts[0].end == before + len(stream(first, second)) - 1


def test_the_echoed_prompt_is_not_the_agents_word() -> None:
    reading = read("gemini", line("message", role="user", content="Do it."), END)

    assert reading.own_texts == ()


def test_chunks_are_not_joined_across_a_prompt() -> None:
    reading = read("gemini", chunk("One."), chunk("Next.", role="user"), chunk("Two."), END)

    assert [said.text for said in reading.own_texts] == ["One.", "Two."]


def test_a_message_that_is_no_chunk_stands_alone() -> None:
    whole = line("message", role="assistant", content="Whole.")

    reading = read("gemini", chunk("A"), whole, chunk("B"), END)

    assert [said.text for said in reading.own_texts] == ["A", "Whole.", "B"]


def test_what_was_said_before_a_killed_stream_ends_is_kept() -> None:
    reading = read("gemini", chunk("Half a "), chunk("sentence"))

    assert reading.final == "Half a sentence"
    assert reading.failed == "the stream ends before its closing line"


def test_a_tool_is_named_again_when_it_ends() -> None:
    assert told("gemini", use("run_shell_command", command="make"), result()) == [
        tool("run_shell_command", "c1", "make", "started"),
        tool("run_shell_command", "c1", "make", "succeeded"),
    ]


def test_a_tool_that_reports_an_error_has_failed() -> None:
    assert told("gemini", use("replace", file_path="a"), result("error", error={"type": "x"})) == [
        tool("replace", "c1", "a", "started"),
        tool("replace", "c1", "a", "failed"),
    ]


@pytest.mark.parametrize("name", ["write_file", "replace"])
def test_a_written_file_is_told_when_it_is_written(name: str) -> None:
    assert told("gemini", use(name, file_path="a.py", content="x"), result())[-1] == {
        "type": "file_changed",
        "path": "a.py",
        "action": "modified",
    }


def test_an_end_with_an_error_is_a_failure() -> None:
    end = line("result", status="error", error={"type": "unknown", "message": "[API Error]"})

    reading = read("gemini", chunk("I"), end)

    assert reading.failed == "[API Error]"
    assert events(reading)[-2:] == [
        {"type": "error", "message": "[API Error]", "fatal": True},
        {"type": "finished", "status": "failed", "summary": "[API Error]", "exit_code": None},
    ]


def test_usage_comes_with_the_end() -> None:
    assert numbers(read("gemini", END)) == {
        "input_tokens": 9,
        "output_tokens": 4,
        "total_tokens": 13,
        "duration": 0.02,
    }


@pytest.mark.parametrize(
    ("strange", "problem"),
    [
        (line("message", role="assistant"), "content is absent, expected a string"),
        (line("tool_use", tool_name=1, tool_id="c"), "tool_name is a number, expected a string"),
        (line("poem"), "unknown type 'poem'"),
        (line("result"), "status is absent, expected a string"),
    ],
)
def test_a_strange_line_is_skipped_and_told(strange: object, problem: str) -> None:
    reading = read("gemini", chunk("A"), strange, END)

    assert skipped(reading) == [f"line 2 of the gemini stream was skipped: {problem}"]
    assert reading.final == "A"
