"""What holds for any bytes."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.scanning import Survey
from pytest_caesar.recovery.sources import recover
from pytest_caesar.recovery.streams.dialects import DIALECTS
from tests.pytest_caesar.recovery.reports import TASK, fence, recovered, report

GOOD = report("success", "Good.")
FRAGMENTS = [
    GOOD,
    fence(GOOD),
    fence(report("partial", "Half.")),
    GOOD[:-1],
    GOOD[:30],
    GOOD[5:],
    report(task_id="t_0001"),
    report(status="done"),
    GOOD.replace("/v1", "/v2"),
    "```json caesar:report\n",
    "```json caesar:report",
    "```\n",
    "~~~json caesar:report\n",
    "caesar.report/v1",
    '"protocol": "caesar.report/v1"',
    '"protocol"',
    '{"a": ',
    '{"type": "message", "text": ' + json.dumps(fence(GOOD)) + "}\n",
    json.dumps({"role": "tool", "content": fence(GOOD)}) + "\n",
    '{"type": "thread.started", "thread_id": "1"}\n',
    '{"type": "turn.completed"}\n',
    '{"type": [], "event": {}, "role": [], "text": "caesar.report protocol"}\n',
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "\\\\",
    ",",
    ":",
    "\n",
    "\r\n",
    " ",
    "\t",
    "\ufeff",
    "\x00",
    "\x1b[1m",
    "é",
]
logs = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)
optional_bytes = st.none() | st.binary(max_size=60) | st.sampled_from(FRAGMENTS).map(str.encode)


@given(
    log=st.binary(max_size=300) | logs.map(str.encode),
    file=optional_bytes,
    submission=optional_bytes,
    final=optional_bytes,
    schema=st.booleans(),
    brief=st.none() | st.text(max_size=40) | st.sampled_from(FRAGMENTS),
    dialect=st.sampled_from([None, "plain", "", *DIALECTS]),
    exit_code=st.sampled_from([None, 0, 1]),
)
def test_recovery_never_raises_and_never_invents_a_success(
    log: bytes,
    file: bytes | None,
    submission: bytes | None,
    final: bytes | None,
    schema: bool,  # noqa: FBT001
    brief: str | None,
    dialect: str | None,
    exit_code: int | None,
) -> None:
    evidence = Evidence(
        task_id=TASK,
        raw_log=log,
        report_file=file,
        submission=submission,
        final_message=final,
        schema_expected=schema,
        brief=brief,
        dialect=dialect,
        exit_code=exit_code,
    )

    verdict = recover(evidence)

    if verdict.source == "synthesized":
        assert verdict.report.status != "success"
    else:
        assert verdict.report.summary in {"Good.", "Half.", "Renamed the flag."}
        assert verdict.report.task_id in {"", TASK}
    for diagnostic in verdict.diagnostics:
        assert diagnostic.message.isprintable()


@given(before=st.text(), after=st.text(), status=st.sampled_from(["partial", "failed", "blocked"]))
def test_a_report_in_a_block_is_found_in_any_prose(before: str, after: str, status: str) -> None:
    log = f"{before}\n{fence(report(status, 'Found.'))}{after}"

    verdict = recovered(log, dialect="plain")

    assert (verdict.form, verdict.report.status) == ("fence", status)


@given(
    before=st.text(st.characters(exclude_characters='"\\{')),
    after=st.text(st.characters(exclude_characters='"\\{')),
    summary=st.text(min_size=1).filter(lambda text: text.strip() not in {"…", "...", ".", "summary", "<summary>"}),
)  # fmt: skip
def test_an_object_is_found_with_every_character_as_it_was(
    before: str, after: str, summary: str
) -> None:
    verdict = recovered(before + report("failed", summary) + after, dialect="plain")

    if verdict.source == "extracted":
        assert verdict.report.summary == summary
    else:
        assert not summary.strip(), "only a blank summary may be refused"


@given(logs)
def test_what_is_chosen_stands_where_the_offsets_say(log: str) -> None:
    data = log.encode()

    verdict = recovered(data, dialect="plain")

    if verdict.offsets is not None:
        start, end = verdict.offsets
        assert 0 <= start < end <= len(data)
        assert b"caesar.report/v1" in data[start:end]


@given(logs)
def test_no_success_stands_before_a_report_that_breaks_off_at_the_end(log: str) -> None:
    verdict = recovered(f"{log}\n```json caesar:report\n{GOOD[:-3]}", dialect="plain")

    assert verdict.report.status != "success"


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
def test_the_objects_of_a_survey_do_not_overlap(log: str) -> None:
    survey = Survey(log.encode())

    closed = [span for span in survey.objects_backwards() if span.closed]

    for later, earlier in pairwise(closed):
        assert earlier.end <= later.start


@given(logs)
def test_recovering_twice_gives_the_same_verdict(log: str) -> None:
    assert recovered(log) == recovered(log)
