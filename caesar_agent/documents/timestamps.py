"""Times in documents: written one way, read in every spelling of RFC 3339."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_LEAP_DAY = (
    "(?:[0-9]{2}[2468][048]|[0-9]{2}[13579][26]|[0-9]{2}0[48]|[02468][048]00|[13579][26]00)-02-29"
)
_OTHER_DAY = (
    "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\.[0-9]+)?)?"
_OFFSET = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"

PATTERN = f"^(?:{_LEAP_DAY}|{_OTHER_DAY})[Tt ]{_TIME}{_OFFSET}$(?!\\n)"
"""Matches what ``parse_timestamp`` takes, in Python's regular expressions and in ECMAScript's.

RFC 3339 and two unambiguous neighbours: seconds left out, and an offset without colon
(what ``date +%z`` prints). The last part keeps Python's ``$`` from taking a newline."""

_VALID = re.compile(PATTERN)
_FIELDS = re.compile(
    r"(\d{4})-(\d\d)-(\d\d).(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+-])(\d\d):?(\d\d))"
)


def is_timestamp(text: str) -> bool:
    """Say whether a text names one instant: a date that exists, a time and an offset."""
    return _VALID.match(text) is not None


def parse_timestamp(text: str) -> datetime:
    """Read a time with its offset.

    Digits beyond microseconds are cut. A leap second (``:60``) is the last
    microsecond of its minute, and the year 0000, which Python cannot hold, the
    first instant that it can.

    Raises:
        ValueError: not a timestamp; local times, which name no instant, are not.
    """
    if not is_timestamp(text):
        raise ValueError(
            f"expected an RFC 3339 time such as 2026-08-09T10:00:00.000Z, found {text!r}"
        )
    match = _FIELDS.fullmatch(text)
    assert match is not None
    year, month, day, hour, minute = (int(match[index]) for index in range(1, 6))
    second = int(match[6] or 0)
    microsecond = int(f"{match[7] or '0':0<6}"[:6])
    if second == 60:
        second, microsecond = 59, 999_999
    offset = timedelta()
    if match[8]:
        offset = timedelta(hours=int(match[9]), minutes=int(match[10]))
        offset = -offset if match[8] == "-" else offset
    if year == 0:
        return datetime.min.replace(tzinfo=timezone.utc)
    return datetime(year, month, day, hour, minute, second, microsecond, timezone(offset))


def format_timestamp(instant: datetime) -> str:
    """Write an instant as documents have it: UTC, milliseconds, ``Z``.

    Raises:
        ValueError: ``instant`` has no offset.
    """
    if instant.utcoffset() is None:
        raise ValueError("expected a datetime with an offset, found a local time")
    utc = instant.astimezone(timezone.utc)
    return utc.strftime(f"{utc.year:04d}-%m-%dT%H:%M:%S.") + f"{utc.microsecond // 1000:03d}Z"


def utc_now() -> datetime:
    """Return the present instant."""
    return datetime.now(timezone.utc)
