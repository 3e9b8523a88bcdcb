"""Reports in the JSON lines of streams that nobody knows."""

from __future__ import annotations

import json

import pytest

from tests.pytest_caesar.recovery.reports import codes, fence, recovered, report


def line(value: object) -> str:
    return json.dumps(value) + "\n"


ANSWER = fence(report("partial", "Half."))


@pytest.mark.parametrize(
    "value",
    [
        {"text": ANSWER},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
        {"result": {"response": ANSWER}, "ok": True},
        {"text": report("partial", "Half.")},
        [{"text": "x"}, {"text": ANSWER}],
        ANSWER,
        json.dumps({"text": ANSWER}),
        {"outer": json.dumps({"inner": json.dumps({"text": ANSWER})})},
    ],
)
def test_a_report_inside_a_string_is_found(value: object) -> None:
    log = "starting\n" + line(value) + line({"type": "end"})

    verdict = recovered(log)

    assert (verdict.source, verdict.report.summary) == ("extracted", "Half.")
    assert verdict.offsets == (9, 9 + len(line(value)) - 1)


def test_a_report_inside_a_string_of_an_object_on_several_lines_is_found() -> None:
    log = json.dumps({"response": ANSWER, "stats": {"calls": 1}}, indent=2)

    assert recovered(log).report.summary == "Half."


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user", "content": ANSWER},
        {"type": "tool_result", "content": ANSWER},
        {"type": "tool_result", "output": json.loads(report())},
        {"event": "tool.call", "data": {"text": ANSWER}},
        {"type": "call", "arguments": {"content": ANSWER}},
        {"type": "exec_command_end", "stdout": ANSWER},
        {"message": {"role": "tool", "content": [{"text": ANSWER}]}},
        {"type": "function_call_output", "output": ANSWER},
    ],
)
def test_the_words_of_others_do_not_count_and_are_told(value: object) -> None:
    verdict = recovered(line({"type": "start"}) + line(value))

    assert verdict.source == "synthesized"
    assert "report-not-own-words" in codes(verdict)


def test_own_words_count_beside_those_of_others() -> None:
    log = (
        line({"role": "user", "content": fence(report(summary="Theirs."))})
        + line({"role": "assistant", "content": ANSWER})
        + line({"role": "tool", "content": fence(report(summary="Theirs too."))})
    )

    assert recovered(log).report.summary == "Half."


def test_the_later_one_counts_of_a_plain_and_a_wrapped_report() -> None:
    plain = fence(report("failed", "Plain."))

    assert recovered(line({"text": ANSWER}) + plain).report.summary == "Plain."
    assert recovered(plain + line({"text": ANSWER})).report.summary == "Half."


def test_a_torn_report_inside_a_string_supersedes_an_older_success() -> None:
    log = fence(report()) + line({"text": ANSWER[:-25]})

    verdict = recovered(log)

    assert verdict.source == "synthesized"
    assert "report-superseded" in codes(verdict)


def test_a_line_too_long_to_decode_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_caesar.recovery.unwrapping.MAX_LINE_BYTES", 100)

    assert recovered(line({"text": ANSWER, "x": "y" * 100})).source == "synthesized"
