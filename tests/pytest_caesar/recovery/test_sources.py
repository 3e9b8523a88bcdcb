"""Which source counts, and what is told about the others."""

from __future__ import annotations

import json

import pytest

from caesar_agent.diagnostics import CODES, Diagnostic
from caesar_agent.documents import Change
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.sources import recover, recover_without
from tests.pytest_caesar.recovery.reports import TASK, codes, fence, recovered, report, said

SUBMITTED = report(summary="Submitted.").encode()
FINAL = report(summary="Structured.").encode()
FILED = report(summary="Filed.").encode()
PRINTED = fence(report(summary="Printed.")).encode()
ALL = Evidence(
    task_id=TASK,
    submission=SUBMITTED,
    final_message=FINAL,
    schema_expected=True,
    report_file=FILED,
    raw_log=PRINTED,
)
BROKEN = [
    b"",
    b" \n",
    b"{",
    b'{"protocol": "caesar.repo',
    b"[]",
    b"null",
    b"\xff\xfe\x00",
    FILED[:-1],
]


@pytest.mark.parametrize(
    ("taken_away", "source", "summary"),
    [
        ((), "channel", "Submitted."),
        (("channel",), "schema", "Structured."),
        (("channel", "schema"), "file", "Filed."),
        (("schema", "channel", "file"), "extracted", "Printed."),
    ],
)
def test_the_best_source_that_is_there_counts(
    taken_away: tuple[str, ...], source: str, summary: str
) -> None:
    verdict = recover_without(ALL, *taken_away)

    assert (verdict.source, verdict.report.summary) == (source, summary)


def test_without_any_source_the_report_is_synthesized() -> None:
    verdict = recover_without(ALL, "channel", "schema", "file", "extracted")

    assert verdict.source == "synthesized"
    assert verdict.diagnostics == ()


@pytest.mark.parametrize("name", ["synthesized", "log", ""])
def test_what_remains_at_the_end_cannot_be_taken_away(name: str) -> None:
    with pytest.raises(ValueError, match="cannot recover without"):
        recover_without(ALL, name)


@pytest.mark.parametrize("data", BROKEN)
def test_a_broken_file_never_blocks_the_log_and_never_vanishes(data: bytes) -> None:
    verdict = recovered(fence(report("partial", "Printed.")), report_file=data)

    assert (verdict.source, verdict.report.summary) == ("extracted", "Printed.")
    assert said(verdict, "report-file-invalid").startswith("report.json is not a report: ")
    assert "report-superseded" in codes(verdict)


@pytest.mark.parametrize("data", BROKEN)
@pytest.mark.parametrize("name", ["submission", "report_file"])
def test_below_a_broken_source_no_success_counts(name: str, data: bytes) -> None:
    verdict = recover(Evidence(task_id=TASK, raw_log=PRINTED, **{name: data}))  # type: ignore[arg-type]

    assert verdict.source == "synthesized"
    assert said(verdict, "report-superseded") == (
        "a better or newer report than that of the log is there and cannot be read; "
        "so its success does not count"
    )


def test_a_file_that_could_not_be_read_is_as_good_as_broken() -> None:
    problem = Diagnostic(code="report-file-not-regular", message="report.json is a FIFO")

    verdict = recovered(PRINTED, report_file_problem=problem)

    assert verdict.source == "synthesized"
    assert problem in verdict.diagnostics


def test_a_message_file_that_could_not_be_read_is_broken_where_it_was_asked_for() -> None:
    problem = Diagnostic(code="file-not-regular", message="final-message.txt is a FIFO")

    asked = recovered(PRINTED, final_message_problem=problem, schema_expected=True)
    unasked = recovered(PRINTED, final_message_problem=problem)

    assert (asked.source, unasked.source) == ("synthesized", "extracted")
    assert problem in asked.diagnostics
    assert problem in unasked.diagnostics
    without = recover_without(
        Evidence(task_id=TASK, raw_log=PRINTED, final_message_problem=problem), "schema"
    )
    assert without.diagnostics == ()


def test_a_broken_file_below_a_good_submission_is_told() -> None:
    verdict = recovered(submission=SUBMITTED, report_file=b"{")

    assert (verdict.source, verdict.report.status) == ("channel", "success")
    assert codes(verdict) == ["report-file-invalid"]


def test_a_file_for_another_task_is_as_good_as_absent() -> None:
    foreign = report(task_id="t_0001").encode()

    verdict = recovered(PRINTED, report_file=foreign)

    assert (verdict.source, verdict.report.status) == ("extracted", "success")
    assert codes(verdict) == ["report-of-another-task"]


def test_a_file_of_another_version_is_refused_by_name() -> None:
    verdict = recovered(PRINTED, report_file=FILED.replace(b"/v1", b"/v2"))

    assert verdict.source == "synthesized"
    assert "caesar.report/v2" in said(verdict, "report-version")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_an_encoding_that_says_what_it_is_is_read_and_flagged(encoding: str) -> None:
    verdict = recovered(report_file=report(summary="été").encode(encoding))

    assert (verdict.source, verdict.report.summary) == ("file", "été")
    assert set(codes(verdict)) & {"byte-order-mark", "unusual-encoding"}


@pytest.mark.parametrize("where", ["file", "log"])
def test_a_path_that_no_file_can_have_is_flagged_wherever_the_report_was(where: str) -> None:
    text = report(changes=[{"path": "a\0b", "action": "modified"}])
    verdict = recovered(text) if where == "log" else recovered(report_file=text.encode())

    assert verdict.report.status == "success"
    assert said(verdict, "path-with-nul").startswith("changes[0].path: ")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_json_are_refused(constant: str) -> None:
    text = report()[:-1] + f', "usage": {{"duration_ms": {constant}}}}}'

    verdict = recovered(report_file=text.encode())

    assert verdict.source == "synthesized"
    assert constant in said(verdict, "report-file-invalid")


def test_a_submission_and_a_file_that_contradict_each_other_are_both_told() -> None:
    verdict = recovered(submission=SUBMITTED, report_file=report("failed", "Filed.").encode())

    assert verdict.source == "channel"
    assert said(verdict, "reports-disagree") == (
        "the submission.json says success and counts; the report.json says failed"
    )


def test_equal_reports_in_other_words_do_not_disagree() -> None:
    spaced = json.dumps(json.loads(SUBMITTED), indent=3, sort_keys=True).encode()

    assert recovered(submission=SUBMITTED, report_file=spaced).diagnostics == ()


def test_a_printed_report_that_says_otherwise_than_the_file_is_told() -> None:
    verdict = recovered(fence(report("failed", "No.")), report_file=FILED)

    assert verdict.source == "file"
    assert codes(verdict) == ["reports-disagree"]


def test_a_structured_message_that_is_prose_is_no_broken_report() -> None:
    verdict = recovered(report_file=FILED, final_message=b"All done.\n", schema_expected=True)

    assert (verdict.source, verdict.report.status) == ("file", "success")
    assert codes(verdict) == ["final-message-invalid"]


def test_an_empty_message_file_is_no_message() -> None:
    verdict = recovered(report_file=FILED, final_message=b"", schema_expected=True)

    assert (verdict.source, verdict.diagnostics) == ("file", ())


def test_a_torn_structured_message_supersedes_a_success_below_it() -> None:
    verdict = recovered(PRINTED, final_message=FINAL[:-9], schema_expected=True)

    assert verdict.source == "synthesized"
    assert "final-message-invalid" in codes(verdict)


def test_a_message_that_was_not_to_be_structured_is_searched_like_the_log() -> None:
    verdict = recovered(final_message=b"Done.\n" + PRINTED)

    assert (verdict.source, verdict.form, verdict.offsets) == ("extracted", "fence", None)


def test_reading_only_the_end_of_a_log_is_told() -> None:
    verdict = recovered(PRINTED, raw_log_offset=7)

    assert said(verdict, "log-truncated") == (
        f"only the last {len(PRINTED)} bytes of the log were read; 7 before them were not"
    )


def test_unknown_fields_of_a_report_are_kept() -> None:
    verdict = recovered(report_file=report(mood="fine").encode())

    assert verdict.report.dump()["mood"] == "fine"


def test_null_is_absent() -> None:
    verdict = recovered(report_file=report(usage=None, details=None).encode())

    assert (verdict.source, verdict.report.details) == ("file", "")


def test_what_changed_stands_in_a_synthesized_report() -> None:
    changes = (Change(path="a.txt", action="created"),)

    assert recovered(changes=changes).report.changes == changes


def test_every_code_that_recovery_uses_is_explained() -> None:
    verdicts = [
        recovered(PRINTED, report_file=data, submission=b"{", dialect="none")
        for data in (*BROKEN, FILED, None)
    ]

    assert {code for verdict in verdicts for code in codes(verdict)} <= set(CODES)


def test_a_word_that_is_no_source_is_told_apart_from_what_always_remains() -> None:
    with pytest.raises(ValueError, match="it is what remains at the end"):
        recover_without(ALL, "synthesized")
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - compared whole below
        recover_without(ALL, "fil")
    assert str(caught.value) == (
        "cannot recover without 'fil', which is no source of reports: "
        "expected channel, schema, file or extracted"
    )


@pytest.mark.parametrize("name", ["raw_log", "report_file", "submission", "final_message"])
def test_text_in_the_place_of_bytes_is_refused_by_name(name: str) -> None:
    with pytest.raises(TypeError) as caught:
        Evidence(**{name: "success"})  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"{name} is of type str: expected bytes, as they are in the file "
        '(b"…", text.encode(), path.read_bytes())'
    )


@pytest.mark.parametrize(
    "summary",
    [
        "Synthesized: the agent gave no usable report. Made from the end of its log.",
        "No report received; last log lines: a | b",
        "No report received from the agent, and the log contains nothing usable.",
    ],
)
def test_a_report_that_an_orchestrator_made_is_not_the_agents(summary: str) -> None:
    made = report("partial", summary).encode()
    verdict = recovered(fence(report()), report_file=made)
    assert (verdict.source, codes(verdict)) == ("extracted", ["report-file-not-the-agents"])
    assert recovered(report_file=made).source == "synthesized"


@pytest.mark.parametrize(
    ("subtype", "is_error", "status"),
    [
        ("success", False, "partial"),
        ("success", True, "failed"),
        ("error_max_turns", False, "failed"),
        ("error_max_budget_usd", False, "failed"),
        ("error_during_execution", True, "failed"),
    ],
)
def test_claude_ends_as_the_subtype_of_its_result_says(
    subtype: str, is_error: object, status: str
) -> None:
    def stream(text: str) -> str:
        said = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        end = {"type": "result", "subtype": subtype, "is_error": is_error}
        lines = [{"type": "assistant", "message": {"id": "m", **said}}, end]
        return "".join(json.dumps(line) + "\n" for line in lines)

    change = (Change(path="a", action="modified"),)
    verdict = recovered(stream(fence(report())), dialect="claude")
    assert ("stream-failed" in codes(verdict)) is (status == "failed")
    verdict = recovered(stream("Reading."), dialect="claude", changes=change)
    assert verdict.status == status
