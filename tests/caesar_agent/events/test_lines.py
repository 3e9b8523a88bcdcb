from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caesar_agent.documents import Event
from caesar_agent.events.lines import MAX_DIAGNOSTICS, MAX_LINE_BYTES, EventReading
from caesar_agent.events.reading import read_events
from pytest_caesar import strategies
from tests.caesar_agent.documents.examples import event

EXAMPLES = settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])


def line(**fields: Any) -> bytes:
    return json.dumps(event(**fields), ensure_ascii=False).encode() + b"\n"


def seqs(reading: EventReading) -> list[int]:
    return [item.seq for item in reading.events]


def found(reading: EventReading) -> list[tuple[int | None, str]]:
    return [(item.line, item.code) for item in reading.diagnostics]


def test_a_line_that_was_cut_off_is_named_and_the_rest_is_read() -> None:
    reading = read_events(line(seq=0) + line(seq=1) + line(seq=2)[:40])

    assert seqs(reading) == [0, 1]
    assert found(reading) == [(3, "event-line-incomplete")]


LONG = line(seq=1, text='ein "Schlüssel"\n', more=[1.5e-7, True, None]).rstrip()


@pytest.mark.parametrize("length", range(1, len(LONG)))
def test_a_line_that_was_cut_off_anywhere_is_named_as_such(length: int) -> None:
    reading = read_events(line(seq=0) + LONG[:length])

    assert found(reading) == [(2, "event-line-incomplete")]


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (b"npm WARN", "invalid event: not JSON: expecting value (column 1)"),
        (b'{"protocol": "caesar.report/v1"}', "a caesar report, not an event"),
        (line(seq="x").rstrip(), "invalid event at seq"),
        (b'{"text": "caf\xe9"}', "is not UTF-8"),
    ],
)
def test_a_last_line_that_is_no_event_was_not_cut_off(end: bytes, message: str) -> None:
    reading = read_events(line(seq=0) + end)

    assert found(reading) == [(2, "event-line-invalid")]
    assert message in reading.diagnostics[0].message


def test_a_last_event_that_lacks_only_its_newline_is_whole() -> None:
    reading = read_events(line(seq=0) + line(seq=1).rstrip(b"\n"))

    assert (seqs(reading), found(reading)) == ([0, 1], [])


def test_an_event_behind_the_rest_of_another_is_read() -> None:
    reading = read_events(line(seq=0) + line(seq=1)[:30] + line(seq=2) + line(seq=9))

    assert seqs(reading) == [0, 2, 9]
    assert found(reading) == [(2, "event-line-torn")]


def test_an_event_behind_the_rest_of_another_is_read_at_the_end_too() -> None:
    reading = read_events(line(seq=0) + line(seq=1)[:30] + line(seq=2).rstrip())

    assert seqs(reading) == [0, 2]
    assert found(reading) == [(2, "event-line-torn")]


def test_an_event_behind_the_rests_of_two_others_is_read() -> None:
    reading = read_events(line(seq=0)[:50] + line(seq=1)[:40] + line(seq=2))

    assert seqs(reading) == [2]
    assert found(reading) == [(1, "event-line-torn")]


def test_events_that_stand_on_one_line_are_all_read() -> None:
    glued = line(seq=0).rstrip() + line(seq=1).rstrip() + b" " + line(seq=2)
    reading = read_events(glued + line(seq=9))

    assert seqs(reading) == [0, 1, 2, 9]
    assert found(reading) == [(1, "event-line-torn")]
    assert reading.diagnostics[0].message == "3 events stand on one line, which is meant for one"


@pytest.mark.parametrize("end", [b"\n", b""], ids=["a line", "the end"])
def test_an_event_before_the_beginning_of_another_is_read(end: bytes) -> None:
    reading = read_events(line(seq=0).rstrip() + line(seq=1)[:40] + end)

    assert seqs(reading) == [0]
    assert found(reading) == [(1, "event-line-torn")]
    assert "40 bytes behind the event" in reading.diagnostics[0].message


def test_events_on_both_sides_of_what_was_cut_off_are_read() -> None:
    def before(seq: int) -> bytes:
        return line(seq=seq).rstrip()

    reading = read_events(
        before(0) + before(1) + line(seq=2)[:40] + before(3) + line(seq=4) + line(seq=9)
    )

    assert seqs(reading) == [0, 1, 3, 4, 9]
    assert found(reading) == [(1, "event-line-torn")]


def test_an_event_that_holds_others_is_read_beside_another() -> None:
    holder = line(seq=0, x=[event(seq=7), event(seq=8)]).rstrip()

    assert seqs(read_events(holder + line(seq=1))) == [0, 1]
    assert seqs(read_events(line(seq=1).rstrip() + holder + b"\n")) == [1, 0]


def test_an_event_quoted_within_another_is_not_read_as_one() -> None:
    quoted = line(seq=7).decode().strip()
    reading = read_events(
        line(seq=1, text=quoted, x=event(seq=8)) + b'{"a":' + quoted.encode() + b"}\n"
    )

    assert seqs(reading) == [1]
    assert found(reading) == [(2, "event-line-invalid")]


def test_separators_within_text_do_not_split_lines() -> None:
    text = "a\u2028b\u2029c\u0085d"
    reading = read_events(
        line(seq=0).replace(b"\n", b"\r\n") + b"\r\n\n  \n" + line(seq=1, text=text) + line(seq=2)
    )

    assert (seqs(reading), found(reading)) == ([0, 1, 2], [])
    assert reading.events[1].dump()["text"] == text


def test_every_broken_line_is_told_with_its_number_and_the_others_are_read() -> None:
    bad = [
        b"null",
        b"[1,2]",
        b"42",
        b"npm WARN deprecated",
        b'{"protocol":"caesar.event/v1","seq":3,"at":"2026-01-01T00:00:00Z","text":"caf\xe9"}',
        b"\0" * 200,
        json.dumps(event(protocol="caesar.event/v2", type="finished", status="success")).encode(),
        json.dumps({key: value for key, value in event().items() if key != "seq"}).encode(),
        b'{"protocol":"caesar.event/v1","protocol":"caesar.event/v1"}',
        b"[" * 100_000,
    ]
    unknown = line(seq=4, type="metrics", value=1)
    reading = read_events(line(seq=0) + b"\n".join(bad) + b"\n" + unknown + line(seq=9))

    assert seqs(reading) == [0, 4, 9]
    assert [item.line for item in reading.diagnostics] == list(range(2, 2 + len(bad)))
    assert [item.code for item in reading.diagnostics if "version" in item.code] == [
        "event-unsupported-version"
    ]
    assert [item.message for item in reading.diagnostics][:4] == [
        "invalid event: expected an object, found null",
        "invalid event: expected an object, found an array",
        "invalid event: expected an object, found the number 42",
        "invalid event: not JSON: expecting value (column 1)",
    ]
    assert type(reading.events[1]) is Event


def test_an_event_of_another_task_is_not_this_tasks() -> None:
    data = line(seq=0) + line(seq=1, task_id="t_\x1b2") + line(seq=2)
    reading = read_events(data, task_id="t_1")

    assert seqs(reading) == [0, 2]
    assert found(reading) == [(2, "event-of-another-task")]
    assert reading.diagnostics[0].message == r'expected task "t_1", found "t_\x1b2"'
    assert seqs(read_events(data)) == [0, 1, 2]


def test_a_line_beyond_the_bound_is_skipped() -> None:
    reading = read_events(line(seq=0) + line(seq=1, text="x" * MAX_LINE_BYTES) + line(seq=2))

    assert seqs(reading) == [0, 2]
    assert found(reading) == [(2, "event-line-too-long")]


def test_a_log_of_noise_is_not_told_line_by_line_for_ever() -> None:
    reading = read_events(b"x\n" * 50_000 + line(seq=1))

    assert seqs(reading) == [1]
    assert len(reading.diagnostics) == MAX_DIAGNOSTICS + 1
    assert reading.diagnostics[-1].code == "events-too-many-problems"


@pytest.mark.parametrize(
    ("encoding", "code"), [("utf-8-sig", "byte-order-mark"), ("utf-16", "unusual-encoding")]
)
def test_a_log_that_says_its_encoding_is_read_and_flagged(encoding: str, code: str) -> None:
    text = (line(seq=0, text="été") + line(seq=1)).decode()
    reading = read_events(text.encode(encoding))

    assert seqs(reading) == [0, 1]
    assert reading.events[0].dump()["text"] == "été"
    assert found(reading) == [(1, code)]


@pytest.mark.timeout(30)
def test_a_line_full_of_beginnings_takes_linear_time() -> None:
    beginning = b'{"protocol":"caesar.event/v1","seq":'
    reading = read_events(beginning * 100_000 + b"\n" + line(seq=1))

    assert seqs(reading) == [1]


@pytest.mark.timeout(30)
def test_a_line_of_many_events_takes_linear_time() -> None:
    reading = read_events(line(seq=0).rstrip() * 20_000 + line(seq=1))

    assert len(reading.events) == 20_001


@EXAMPLES
@given(st.lists(strategies.events()), st.sampled_from([b"\n", b"\r\n", b"\n\n"]))
def test_events_that_were_written_are_read(events: list[Event], end: bytes) -> None:
    reading = read_events(b"".join(item.to_line().encode() + end for item in events))

    assert reading.events == tuple(events)
    assert reading.diagnostics == ()


@EXAMPLES
@given(st.lists(strategies.events(), min_size=1), st.data())
def test_a_log_cut_anywhere_loses_the_last_event_at_most(
    events: list[Event], data: st.DataObject
) -> None:
    whole = b"".join(item.to_line().encode() + b"\n" for item in events)
    cut = data.draw(st.integers(0, len(whole)))
    reading = read_events(whole[:cut])

    assert len(reading.diagnostics) <= 1
    assert reading.events == tuple(events[: len(reading.events)])
    assert len(reading.events) >= whole[:cut].count(b"\n")


@EXAMPLES
@given(
    st.lists(st.binary(max_size=40) | strategies.events().map(lambda item: item.to_line().encode()))
)
def test_no_bytes_make_reading_fail(lines: list[bytes]) -> None:
    read_events(b"\n".join(lines))
