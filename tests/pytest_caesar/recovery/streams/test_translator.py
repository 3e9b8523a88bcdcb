"""Streams as they arrive, whichever dialect they are in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recovery.streams.base import StreamEvent
from pytest_caesar.recovery.streams.dialects import DIALECTS, detect, open_translator, translate
from tests.pytest_caesar.recovery.reports import recovered
from tests.pytest_caesar.recovery.streams.lines import numbers, read, skipped, stream

BEGINNINGS: dict[str, list[dict[str, object]]] = {
    "codex": [{"type": "thread.started", "thread_id": "1"}, {"type": "turn.started"}],
    "opencode": [{"type": "step_start", "sessionID": "ses_1", "part": {"type": "step-start"}}],
    "gemini": [{"type": "init", "timestamp": "t", "session_id": "s", "model": "m"}],
    "claude": [{"type": "system", "subtype": "init", "session_id": "s"}],
    "qwen": [{"type": "system", "subtype": "init", "qwen_code_version": "0.15.10"}],
    "pi": [{"type": "session", "version": 3, "cwd": "/w"}, {"type": "agent_start"}],
    "copilot": [{"type": "session.tools_updated", "data": {}, "id": "1"}],
    "antigravity": [{"event": "init", "init": {}}],
    "acp": [{"jsonrpc": "2.0", "id": 0, "result": {"agentCapabilities": {}}}],
}
SAYS = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "é\u2028x"}}
CODEX = stream(*BEGINNINGS["codex"], SAYS, SAYS, {"type": "turn.completed", "usage": {}})

values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
names = st.sampled_from([
    "type", "event", "item", "part", "text", "error", "message", "role", "content", "state", "data",
    "tool", "tool_name", "tool_id", "status", "subtype", "step_update", "result", "exitCode", "usage",
    "changes", "parameters", "response", "stats", "step_type", "text_delta", "timestamp", "delta",
])  # fmt: skip
words = st.sampled_from([
    "item.completed", "item.started", "agent_message", "file_change", "command_execution",
    "mcp_tool_call", "turn.failed", "turn.completed", "text", "tool_use", "step_finish", "error",
    "message", "assistant", "user", "tool_result", "result", "system", "init", "step_update",
    "agent_response", "session.error", "assistant.message", "tool.execution_start",
    "thinking_tokens", "collab_tool_call", "success", "stop",
])  # fmt: skip
near = st.recursive(
    words | values,
    lambda inner: st.dictionaries(names, inner, max_size=6) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_stream_is_recognised_by_its_beginning(name: str) -> None:
    assert detect(stream(*BEGINNINGS[name])) == name


@pytest.mark.parametrize("name", DIALECTS)
def test_a_few_lines_of_noise_do_not_hide_a_stream(name: str) -> None:
    assert detect(stream("warning: x", *BEGINNINGS[name], *BEGINNINGS[name], "oops")) == name


@pytest.mark.parametrize(
    "log",
    [
        b"",
        b"\n\n",
        b"plain text\n",
        b'{"a": 1}\n',
        b'{"type": "message", "text": "x"}\n',
        stream("one", "two", "three", *BEGINNINGS["codex"], "four"),
        b"[" * 100_000,
        b'{"protocol": "caesar.event/v1", "type": "message", "text": "x"}\n' * 3,
    ],
)
def test_plain_output_is_no_stream(log: bytes) -> None:
    assert detect(log) is None


def test_a_stream_whose_first_line_is_endless_is_recognised_by_nothing() -> None:
    assert detect(b'{"type": "thread.started", "thread_id": "' + b"x" * (2 * 1024 * 1024)) is None


def test_an_unknown_dialect_has_no_translator() -> None:
    assert open_translator("plain") is None
    with pytest.raises(KeyError):
        translate("plain", b"")


@given(st.lists(st.integers(1, len(CODEX)), max_size=12))
def test_pieces_may_be_cut_anywhere(cuts: list[int]) -> None:
    whole = translate("codex", CODEX)
    translator = open_translator("codex")
    assert translator is not None
    events: list[StreamEvent] = []
    start = 0
    for cut in [*sorted(cuts), len(CODEX)]:
        events.extend(translator.feed(CODEX[start:cut]))
        start = cut
    events.extend(translator.finish())

    assert tuple(events) == whole.events
    assert translator.close().own_texts == whole.own_texts


def test_a_last_line_without_its_line_break_is_read() -> None:
    assert translate("codex", CODEX.rstrip(b"\n")).failed is None


def test_to_finish_twice_gives_nothing_twice() -> None:
    translator = open_translator("gemini")
    assert translator is not None
    translator.feed(stream({"type": "message", "role": "assistant", "content": "A", "delta": True}))

    assert len(translator.finish()) == 1
    assert translator.finish() == ()
    assert translator.close() is translator.close()


def test_a_line_too_long_is_skipped_and_the_next_one_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_caesar.recovery.streams.translator.MAX_LINE_BYTES", 300)
    long = json.dumps(SAYS).replace("x", "x" * 400).encode() + b"\n"
    translator = open_translator("codex")
    assert translator is not None
    data = long + CODEX
    for start in range(0, len(data), 50):
        translator.feed(data[start : start + 50])

    reading = translator.close()

    assert skipped(reading) == ["line 1 of the codex stream was skipped: longer than 300 bytes"]
    assert len(reading.own_texts) == 2
    start, end = reading.own_texts[0].start, reading.own_texts[0].end
    assert json.loads(data[start:end]) == SAYS


def test_many_skipped_lines_are_told_as_a_number() -> None:
    assert skipped(translate("codex", b"noise\n" * 10))[-1] == (
        "7 more lines of the codex stream were skipped"
    )


@given(name=st.sampled_from(sorted(DIALECTS)), lines=st.lists(near | values, max_size=6))
def test_no_line_is_fatal(name: str, lines: list[object]) -> None:
    log = stream(*lines)
    detect(log)
    recovered(log)
    reading = translate(name, log)

    for event in reading.events:
        json.dumps(event.fields)
    assert len(reading.diagnostics) <= 9


@pytest.mark.parametrize("value", [[], {}, [[]], 1, 1.5, None, True, ""])
@pytest.mark.parametrize("field", ["type", "event", "role", "item", "part", "data", "message"])
def test_a_field_of_any_type_is_not_fatal(field: str, value: object) -> None:
    for name, beginning in BEGINNINGS.items():
        for line in beginning:
            log = stream({**line, field: value})
            assert detect(log) in {name, None}
            translate(name, log)
            recovered(log)


@pytest.mark.parametrize("depth", [100, 300, 900, 960, 990, 5000, 100_000])
def test_no_depth_is_fatal(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    call = '"server": "s", "tool": "t", "arguments": {"x": ' + deep + "}"
    item = '{"type": "item.completed", "item": {"type": "mcp_tool_call", ' + call + "}}\n"
    wrapped = '{"role": "tool", "x": {"protocol": "caesar.report/v1", "y": ' + deep + "}}\n"

    translate("codex", item.encode() * 3)
    for log in (item, wrapped, wrapped.replace("tool", "agent"), json.dumps(wrapped) + "\n"):
        assert recovered(log).source == "synthesized"


@given(name=st.sampled_from(sorted(DIALECTS)), data=st.binary(max_size=200))
def test_no_bytes_are_fatal(name: str, data: bytes) -> None:
    translate(name, data)
    detect(data)


@given(st.lists(st.sampled_from(CODEX.split(b"\n")), max_size=8))
def test_reading_only_words_finds_the_same_words(lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    whole, words_only = translate("codex", data), translate("codex", data, words_only=True)

    assert words_only.own_texts == whole.own_texts
    assert (words_only.final, words_only.failed) == (whole.final, whole.failed)
    assert words_only.events == ()


@pytest.mark.parametrize("number", ["1e999", "NaN", "-1", "9" * 400, "true", '"7"'])
def test_a_number_that_no_report_may_hold_is_no_usage(number: str) -> None:
    end = f'{{"type": "turn.completed", "usage": {{"input_tokens": {number}, "output_tokens": 2}}}}'

    assert numbers(read("codex", *BEGINNINGS["codex"], end)) == {"output_tokens": 2}
