"""The fixture ``caesar_clock``."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

import pytest

from pytest_caesar.session.document_clock import EPOCH, Clock


def test_it_stands_still(caesar_clock: Clock) -> None:
    assert caesar_clock() == caesar_clock() == EPOCH


def test_it_is_set_and_moved_on(caesar_clock: Clock) -> None:
    caesar_clock.set("2030-05-06T07:08:09.5Z")
    caesar_clock.tick()
    caesar_clock.tick(timedelta(hours=1))
    assert caesar_clock() == datetime(2030, 5, 6, 8, 8, 10, 500_000, tzinfo=timezone.utc)


def test_it_tells_utc(caesar_clock: Clock) -> None:
    caesar_clock.set("2030-01-01T01:00:00+01:00")
    assert caesar_clock().isoformat() == "2030-01-01T00:00:00+00:00"


def test_a_time_without_a_zone_is_refused(caesar_clock: Clock) -> None:
    with pytest.raises(ValueError, match="has no time zone: expected one, as in 2030-01-01"):
        caesar_clock.set(datetime(2030, 1, 1))  # noqa: DTZ001 - that is what is refused
    with pytest.raises(ValueError, match="expected an RFC 3339 time such as"):
        caesar_clock.set("2030-01-01T00:00:00")


def test_this_process_sees_it_only_while_frozen(caesar_clock: Clock) -> None:
    with caesar_clock.frozen():
        assert datetime.now(timezone.utc) == EPOCH
    assert time.time() > EPOCH.timestamp() or datetime.now(timezone.utc) != EPOCH
