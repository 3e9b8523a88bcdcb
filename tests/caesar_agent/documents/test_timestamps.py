from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesar_agent.documents.timestamps import format_timestamp, is_timestamp, parse_timestamp

TEN = datetime(2026, 8, 9, 10, 0, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-08-09T10:00:00Z", TEN),
        ("2026-08-09T10:00:00.000Z", TEN),
        ("2026-08-09T10:00:00.14Z", TEN.replace(microsecond=140_000)),
        ("2026-08-09T10:00:00.1234567Z", TEN.replace(microsecond=123_456)),
        ("2026-08-09T10:00:00.123456789Z", TEN.replace(microsecond=123_456)),
        ("2026-08-09T12:00:00+02:00", TEN),
        ("2026-08-09T12:00:00+0200", TEN),
        ("2026-08-09T04:30:00-05:30", TEN),
        ("2026-08-09T10:00:00-00:00", TEN),
        ("2026-08-09t10:00:00z", TEN),
        ("2026-08-09 10:00:00Z", TEN),
        ("2026-08-09T10:00Z", TEN),
        ("2026-06-30T23:59:60Z", datetime(2026, 6, 30, 23, 59, 59, 999_999, timezone.utc)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=timezone.utc)),
        ("2000-02-29T00:00:00Z", datetime(2000, 2, 29, tzinfo=timezone.utc)),
        ("0000-01-01T00:00:00Z", datetime.min.replace(tzinfo=timezone.utc)),
    ],
)
def test_every_spelling_of_an_instant_is_read(text: str, instant: datetime) -> None:
    assert parse_timestamp(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        "2026-08-09T10:00:00",
        "2026-08-09",
        "1786269600",
        "",
        "now",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00Z\n",
        " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00ZZ",
        "٢٠٢٦-01-01T00:00:00Z",
        "26-01-01T00:00:00Z",
    ],
)
def test_what_names_no_instant_is_refused(text: str) -> None:
    assert not is_timestamp(text)
    with pytest.raises(ValueError, match="expected an RFC 3339 time"):
        parse_timestamp(text)


def test_times_are_written_in_utc_with_milliseconds() -> None:
    instant = datetime(2026, 8, 9, 12, 0, 0, 14_999, timezone(timedelta(hours=2)))

    assert format_timestamp(instant) == "2026-08-09T10:00:00.014Z"


def test_a_local_time_is_not_written() -> None:
    with pytest.raises(ValueError, match="found a local time"):
        format_timestamp(datetime(2026, 8, 9))  # noqa: DTZ001 - what it is about


# Hypothesis takes bounds without a time zone and adds it itself.
FIRST, LAST = datetime(1, 1, 2), datetime(9999, 12, 30)  # noqa: DTZ001


@settings(deadline=None)
@given(st.datetimes(FIRST, LAST, timezones=st.timezones()))
def test_what_is_written_is_read_to_the_millisecond(instant: datetime) -> None:
    text = format_timestamp(instant)

    assert format_timestamp(parse_timestamp(text)) == text
    assert timedelta() <= instant - parse_timestamp(text) < timedelta(milliseconds=1)
