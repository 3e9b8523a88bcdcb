"""Recovery from native streams: only the agent's own messages count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.pytest_caesar.recovery.reports import codes, fence, recovered, report, said
from tests.pytest_caesar.recovery.streams.lines import stream

BEGIN = ({"type": "thread.started", "thread_id": "01"}, {"type": "turn.started"})
END = {"type": "turn.completed", "usage": {}}
FAILED = {"type": "turn.failed", "error": {"message": "quota exceeded"}}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "i", "type": kind, **fields}}


def say(words: str) -> dict[str, Any]:
    return item("agent_message", text=words)


def test_a_report_in_an_earlier_message_is_found() -> None:
    log = stream(*BEGIN, say(fence(report("partial", "Half."))), say("Cheers!"), END)

    verdict = recovered(log)

    assert (verdict.form, verdict.report.summary) == ("fence", "Half.")
    assert verdict.offsets is not None
    assert json.loads(log[slice(*verdict.offsets)])["item"]["text"].endswith("```\n")


@pytest.mark.parametrize(
    "line",
    [
        item(
            "command_execution",
            command="cat x",
            aggregated_output=fence(report()),
            status="completed",
        ),
        item(
            "command_execution", command=fence(report()), aggregated_output="", status="completed"
        ),
        item("reasoning", text=fence(report())),
        item("collab_tool_call", tool="wait", agents_states={"2": {"message": fence(report())}}),
        item("mcp_tool_call", server="s", tool="t", arguments={"x": fence(report())}, result=None),
        {"type": "error", "message": fence(report())},
        fence(report()).rstrip("\n"),
    ],
    ids=["output", "input", "thought", "nested agent", "tool", "error", "stray text"],
)
def test_the_words_of_others_do_not_count(line: object) -> None:
    verdict = recovered(stream(*BEGIN, say("Working."), line, say("Done."), END, END, END, END))

    assert verdict.source == "synthesized"
    assert "report-not-own-words" in codes(verdict)


def test_a_stream_that_is_read_as_plain_counts_as_a_whole() -> None:
    log = stream(*BEGIN, END, END, END, fence(report()))

    assert recovered(log).source == "synthesized"
    assert recovered(log, dialect="plain").source == "extracted"


def test_chunks_of_a_message_make_one_report() -> None:
    text = fence(report(summary="Chunked."))
    chunks = [
        {"type": "message", "timestamp": "t", "role": "assistant", "content": part, "delta": True}
        for part in (text[:15], text[15:60], text[60:])
    ]
    log = stream(
        {"type": "init", "timestamp": "t", "session_id": "s", "model": "m"},
        {"type": "message", "timestamp": "t", "role": "user", "content": fence(report())},
        *chunks,
        {"type": "result", "timestamp": "t", "status": "success", "stats": {}},
    )

    assert recovered(log).report.summary == "Chunked."


def test_after_a_failed_turn_nothing_is_a_success() -> None:
    verdict = recovered(stream(*BEGIN, say("All is well."), FAILED), exit_code=0)

    assert (verdict.source, verdict.report.status) == ("synthesized", "failed")
    assert "quota exceeded" in verdict.report.summary


def test_a_success_before_a_failed_turn_stays_the_agents_word_and_is_doubted() -> None:
    verdict = recovered(stream(*BEGIN, say(fence(report())), FAILED))

    assert verdict.report.status == "success"
    assert said(verdict, "stream-failed") == (
        "the report says success, and of the stream: quota exceeded"
    )


def test_a_stream_that_breaks_off_is_synthesized_as_failed() -> None:
    verdict = recovered(stream(*BEGIN, say("Working.")), exit_code=0)

    assert verdict.report.status == "failed"
    assert "the stream ends before its closing line" in verdict.report.summary


def test_a_synthesized_report_quotes_the_last_message() -> None:
    verdict = recovered(stream(*BEGIN, say("Renamed the flag.\nAll good."), END))

    assert verdict.report.summary.endswith("Last message: Renamed the flag. All good.")
    assert verdict.report.details == ""


def test_the_final_message_of_a_stream_counts_as_structured_where_that_was_asked_for() -> None:
    log = stream(*BEGIN, say(report("failed", "Structured.")), END)

    assert recovered(log, schema_expected=True).source == "schema"
    assert recovered(log).source == "extracted"


def test_a_message_file_goes_before_the_stream() -> None:
    log = stream(*BEGIN, say("Prose."), END)

    verdict = recovered(log, final_message=report().encode(), schema_expected=True)

    assert verdict.source == "schema"


def test_an_unknown_dialect_is_told_and_read_as_plain() -> None:
    verdict = recovered(fence(report()), dialect="klingon")

    assert verdict.source == "extracted"
    assert said(verdict, "dialect-unknown") == (
        "there is no dialect of this name; known are codex, opencode, gemini, qwen, pi, claude, "
        "copilot, antigravity, acp, plain; the log was read as plain"
    )


def test_lines_of_noise_are_told() -> None:
    log = stream(*BEGIN, "warning: slow", say(fence(report())), END)

    verdict = recovered(log)

    assert verdict.report.status == "success"
    assert codes(verdict) == ["stream-line-not-json"]
