"""What counts as a report in the text that an agent printed."""

from __future__ import annotations

import json

import pytest

from tests.pytest_caesar.recovery.reports import TASK, codes, fence, recovered, report, said


def test_a_fenced_block_is_found_between_prose() -> None:
    verdict = recovered(f"I am done:\n\n{fence(report('partial', 'Half of it.'))}\nBye.\n")

    assert (verdict.source, verdict.form) == ("extracted", "fence")
    assert (verdict.report.status, verdict.report.summary) == ("partial", "Half of it.")


def test_offsets_are_those_of_the_object_in_the_log() -> None:
    before, body = "été\n", report()
    log = f"{before}{fence(body)}".encode()

    verdict = recovered(log, raw_log_offset=1000)

    assert verdict.offsets is not None
    start, end = (offset - 1000 for offset in verdict.offsets)
    assert log[start:end].decode() == body


def test_back_ticks_inside_a_string_do_not_end_the_block() -> None:
    summary = "Changed the manual:\n```sh\nmake all\n```\nand checked it."
    pretty = json.dumps(json.loads(report(summary=summary)), indent=4)

    assert recovered(fence(pretty)).report.summary == summary


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("`````json caesar:report", "`````"),
        ("~~~~json caesar:report", "~~~~"),
        ("   ```json caesar:report", "   ```"),
        ("```json caesar:report \t ", "```"),
        ("```json   caesar:report\r", "```\r"),
        ("``` json caesar:report", "```"),
    ],
)
def test_opening_lines_are_those_of_commonmark(opening: str, closing: str) -> None:
    verdict = recovered("Intro\n" + fence(report(), opening, closing))

    assert verdict.form == "fence"


@pytest.mark.parametrize(
    "opening",
    [
        "    ```json caesar:report",
        "``json caesar:report",
        "text ```json caesar:report",
        "```json caesar:report extra",
        "```yaml caesar:report",
        "```json caesar:reports",
        "```json",
        "```",
        "x```json" + " " * 249 + "caesar:report",
        "```json caesar:report" + " " * 256 + "x",
    ],
    ids=range(10),
)
def test_under_another_opening_line_the_object_still_declares_itself(opening: str) -> None:
    verdict = recovered(fence(report(), opening))

    assert (verdict.source, verdict.form) == ("extracted", "object")


def test_a_block_is_found_when_the_log_ends_without_closing_it() -> None:
    assert recovered("```json caesar:report\n" + report()).form == "fence"


def test_a_block_counts_before_an_object_and_the_later_object_is_told() -> None:
    log = fence(report("success", "All of it.")) + "No: " + report("failed", "None of it.") + "\n"

    verdict = recovered(log)

    assert (verdict.form, verdict.report.status) == ("fence", "success")
    assert said(verdict, "report-conflict") == (
        "a later object outside the block says failed where the block says success; "
        "a block counts before an object"
    )


def test_the_last_block_wins() -> None:
    log = fence(report("success", "First.")) + "Wait.\n" + fence(report("failed", "Second."))

    assert recovered(log).report.summary == "Second."


def test_the_last_object_of_one_block_wins() -> None:
    log = fence(report("success", "First.") + "\n" + report("failed", "Second."))

    verdict = recovered(log)

    assert (verdict.form, verdict.report.summary) == ("fence", "Second.")


def test_the_last_object_wins_where_there_is_no_block() -> None:
    log = report("success", "First.") + report("failed", "Second.")

    assert recovered(log).report.summary == "Second."


@pytest.mark.parametrize(
    "prose",
    [
        'a lone " quote: ',
        "a lone } brace: ",
        "an open { brace: ",
        "don't {perhaps} ask: ",
        "caesar.report/v1 is what follows: ",
        '{"key": "never closed ',
        '{"protocol": "caesar.report/v1", and so on: ',
        "\\",
        '\\"',
        "[1, 2, ",
        "\x1b[32m",
        "\x00\x07",
    ],
)
def test_prose_before_an_object_does_not_hide_it(prose: str) -> None:
    verdict = recovered(prose + report("failed", "Not possible."))

    assert verdict.report.summary == "Not possible."


def test_braces_and_quotes_inside_strings_do_not_confuse() -> None:
    summary = 'if (a) { b("}") } // {{ \\" and \\\\'

    assert recovered(f"Now {report(summary=summary)} is all.").report.summary == summary


def test_the_protocol_need_not_be_the_first_member() -> None:
    value = {
        "usage": {"input_tokens": 3},
        "summary": 'a "quoted" } word',
        "changes": [{"path": "a", "action": "created"}],
        "protocol": "caesar.report/v1",
        "status": "failed",
    }

    assert recovered("x " + json.dumps(value)).report.usage is not None
    assert recovered("x " + json.dumps(value, indent=2)).report.status == "failed"


def test_a_report_nested_in_another_object_declares_itself() -> None:
    log = '{"done": true, "result": ' + report("failed", "Nested.") + ', "n": {}}'

    assert recovered(log).report.summary == "Nested."


def test_a_report_inside_a_report_is_part_of_it() -> None:
    log = report("failed", "Outer.", previous=json.loads(report("success", "Inner.")))

    assert recovered(log).report.summary == "Outer."


def test_an_escaped_slash_is_the_same_protocol() -> None:
    log = report().replace("caesar.report/v1", "caesar.report\\/v1")

    assert recovered(log).source == "extracted"


def test_line_separators_of_unicode_are_ordinary_characters() -> None:
    summary = "one\u2028two\u0085three\u000bfour"
    log = fence(report(summary="x").replace('"x"', '"one\u2028two\u0085three\\u000bfour"'))

    assert recovered(log).report.summary == summary


def test_windows_line_ends_change_nothing() -> None:
    assert recovered(fence(report()).replace("\n", "\r\n")).form == "fence"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_log_in_another_encoding_is_read_and_told(encoding: str) -> None:
    verdict = recovered(fence(report(summary="été")).encode(encoding))

    assert verdict.report.summary == "été"
    assert said(verdict, "log-encoding").startswith(f"the log says that it is {encoding.upper()},")


def test_a_block_after_a_byte_order_mark_is_a_block_where_it_stands() -> None:
    log = fence(report()).encode("utf-8-sig")

    verdict = recovered(log)

    assert verdict.form == "fence"
    assert verdict.offsets is not None
    assert log[slice(*verdict.offsets)].decode() == report()


def test_another_tasks_report_is_not_this_tasks() -> None:
    verdict = recovered(fence(report(task_id="t_0001")), exit_code=None, timed_out=True)

    assert (verdict.source, verdict.report.status) == ("synthesized", "failed")
    assert said(verdict, "report-of-another-task") == (
        "1 of another task, such as at line 2: it names the task t_0001, this is t_0007"
    )


def test_a_report_that_names_this_task_or_none_is_this_tasks() -> None:
    assert recovered(report(task_id=TASK)).source == "extracted"
    assert recovered(report(task_id="")).source == "extracted"


def test_a_torn_report_of_another_task_supersedes_nothing() -> None:
    torn = report(task_id="t_0001", details="x")[:-5]

    verdict = recovered(fence(report()) + torn)

    assert (verdict.report.status, verdict.source) == ("success", "extracted")


@pytest.mark.parametrize("kind", ["task", "event", "message"])
def test_other_documents_of_the_contract_are_not_reports(kind: str) -> None:
    log = report(summary="no").replace("caesar.report/v1", f"caesar.{kind}/v1")

    assert recovered(log).source == "synthesized"


def test_a_report_shown_inside_a_task_is_not_an_answer() -> None:
    log = '{"protocol": "caesar.task/v1", "example": ' + report() + "}"

    assert recovered(log).source == "synthesized"


def test_a_torn_report_that_quotes_another_document_is_a_torn_report() -> None:
    event = {"protocol": "caesar.event/v1", "type": "finished"}
    torn = json.dumps({"quoted": event, **json.loads(report())})[:-3]

    verdict = recovered(fence(report()) + torn)

    assert verdict.source == "synthesized"
    assert "report-superseded" in codes(verdict)


def test_an_invalid_event_that_quotes_a_report_is_no_report() -> None:
    log = fence(report()) + json.dumps({"protocol": "caesar.event/v1", "x": json.loads(report())})

    assert recovered(log).report.status == "success"


@pytest.mark.parametrize("version", ["v2", "v1-beta", "v10"])
def test_another_version_is_refused_by_name(version: str) -> None:
    verdict = recovered(fence(report().replace("report/v1", f"report/{version}")))

    assert verdict.source == "synthesized"
    assert f"caesar.report/{version}" in said(verdict, "report-version")


TORN = [
    report(summary="Rewrote the cache and all tests")[:-12],
    report(changes=[{"path": "a", "action": "created"}])[:-9],
    report(summary="a\nb").replace("\\n", "\n"),
    report()[:-1] + ",}",
    report().replace('"', "'").replace("'protocol': '", '"protocol": "'),
    report()[:-1] + ', "status": "failed"}',
    report()[:-1] + ', "usage": {"duration_ms": NaN}}',
    report(status="done"),
    report(summary=""),
    report(changes=["a"]),
    report(details={}),
]


@pytest.mark.parametrize("torn", TORN)
def test_a_broken_report_is_told_and_never_a_success(torn: str) -> None:
    for log in (torn + "\n", fence(torn)):
        verdict = recovered(log)

        assert verdict.source == "synthesized"
        assert verdict.report.status != "success"
        assert {"report-malformed", "report-invalid"} & set(codes(verdict))


@pytest.mark.parametrize("torn", TORN)
def test_after_a_broken_report_an_older_success_does_not_count(torn: str) -> None:
    verdict = recovered(fence(report()) + fence(torn))

    assert verdict.source == "synthesized"
    assert "report-superseded" in codes(verdict)


def test_after_a_broken_report_an_older_partial_counts_and_is_flagged() -> None:
    verdict = recovered(fence(report("partial", "Checkpoint.")) + "```json caesar:report\n{")

    assert (verdict.report.summary, verdict.source) == ("Checkpoint.", "extracted")
    assert "report-superseded" in codes(verdict)


def test_before_a_good_report_a_broken_one_is_forgotten() -> None:
    verdict = recovered(fence(report()[:-4]) + "Again:\n" + fence(report()))

    assert verdict.report.status == "success"
    assert verdict.diagnostics == ()


@pytest.mark.parametrize("between", ["\n", "\nAgain:\n", " ", " Now: ", "\n\nReport: "])
@pytest.mark.parametrize("cut", [1, 2, 3, 30])
def test_before_a_good_object_a_torn_one_is_forgotten(cut: int, between: str) -> None:
    verdict = recovered(report()[:-cut] + between + report("success", "Again."))

    assert (verdict.report.summary, verdict.diagnostics) == ("Again.", ())


@pytest.mark.parametrize("indent", [None, 2])
def test_a_report_inside_a_torn_report_is_no_success(indent: int | None) -> None:
    outer = report("failed", previous=[json.loads(report("success", "Inner."))])
    torn = json.dumps(json.loads(outer), indent=indent)[:-2]

    assert recovered(torn).report.status != "success"


def test_a_broken_block_keeps_an_object_from_being_a_success() -> None:
    assert recovered(fence(report()[:-4]) + report()).source == "synthesized"


def test_a_block_without_an_object_is_broken() -> None:
    verdict = recovered(fence("see report.json"))

    assert said(verdict, "report-malformed") == (
        "malformed caesar:report block at line 1: no JSON object follows its opening line"
    )


def test_bad_bytes_inside_a_report_are_told() -> None:
    verdict = recovered(fence(report(summary="caf\xe9")).encode("latin-1"))

    assert verdict.source == "synthesized"
    assert "not UTF-8" in said(verdict, "report-malformed")


def test_broken_reports_are_told_by_line_and_the_rest_as_a_number() -> None:
    verdict = recovered((report(status="done") + "\n") * 8)

    told = [found.message for found in verdict.diagnostics]
    assert told[0].startswith("invalid report object at line 8: ")
    assert told[-1] == "5 more reports could not be read"
    assert len(told) == 4


def test_a_log_full_of_places_is_looked_at_from_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_caesar.recovery.extraction.MAX_CANDIDATES", 20)
    foreign = report(task_id="t_0001") + "\n"

    assert "report-candidates-capped" in codes(recovered(report() + "\n" + foreign * 20))
    assert recovered(foreign * 20 + report()).source == "extracted"


def test_events_printed_by_the_thousand_do_not_hide_a_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_caesar.recovery.extraction.MAX_CANDIDATES", 20)
    event = '{ "protocol": "caesar.event/v1", "type": "message", "text": "x" }\n'

    verdict = recovered(report() + "\n" + event * 100)

    assert (verdict.source, verdict.diagnostics) == ("extracted", ())


def test_an_object_too_large_to_decode_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_caesar.recovery.extraction.MAX_OBJECT_BYTES", 200)

    verdict = recovered(report(details="x" * 200))

    assert verdict.source == "synthesized"
    assert "larger than 200 bytes" in said(verdict, "report-malformed")


def test_deep_nesting_is_broken_and_not_fatal() -> None:
    deep = report()[:-1] + ', "x": ' + "[" * 50_000 + "]" * 50_000 + "}"

    assert recovered(deep).source == "synthesized"
    assert recovered(deep + "\n" + report("failed")).source == "extracted"


@pytest.mark.parametrize("prefix", ["2026-08-09 10:00:00,123 INFO ", "agent-1  | ", "> ", "+"])
@pytest.mark.parametrize("indent", [2, None])
def test_a_report_with_something_before_every_line_is_told_and_never_overlooked(
    prefix: str, indent: int | None
) -> None:
    body = json.dumps(json.loads(report("failed", next_steps=["Rest."])), indent=indent)
    later = "".join(f"{prefix}{line}\n" for line in body.split("\n"))

    verdict = recovered(f"{report('success')}\n{later}")

    if indent is None:
        assert verdict.report.status == "failed"
    else:
        assert (verdict.source, verdict.report.status) == ("synthesized", "partial")
        assert said(verdict, "report-malformed") == (
            "malformed report object at line 2: its lines begin with what is not part of it, "
            "as a logger puts there"
        )
