"""The clock of documents: what time a run's documents tell."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from caesar_agent.documents.timestamps import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator

EPOCH = datetime(2026, 1, 1, tzinfo=timezone.utc)
"""What a clock shows until it is set."""


class Clock:
    """A clock that stands still until it is told otherwise.

    The orchestrator calls it for every time that it writes into a document. Deadlines
    and durations are measured with real time. An agent that runs in this process sees
    it too (``frozen``); another process does not.
    """

    def __init__(self, now: datetime = EPOCH) -> None:
        self._now = _in_utc(now)

    def __call__(self) -> datetime:
        """Return the time that the clock shows, in UTC."""
        return self._now

    def set(self, now: datetime | str) -> datetime:
        """Set the clock.

        Args:
            now: a datetime with a time zone, or its text as documents have it.

        Raises:
            ValueError: the text is no such time, or the time zone is missing.
        """
        self._now = _in_utc(parse_timestamp(now) if isinstance(now, str) else now)
        return self._now

    def tick(self, seconds: float | timedelta = 1.0) -> datetime:
        """Move the clock on, by one second unless told otherwise; back when negative."""
        step = seconds if isinstance(seconds, timedelta) else timedelta(seconds=seconds)
        self._now += step
        return self._now

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let ``datetime`` and ``time`` of this process show this clock's time."""
        import freezegun  # noqa: PLC0415 - half a second that most runs do not need

        with freezegun.freeze_time(self._now, ignore=["pytest_caesar", "_pytest"]):
            yield

    def __repr__(self) -> str:
        return f"<Clock {self._now.isoformat()}>"


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(
            f"{moment.isoformat()} has no time zone: expected one, as in {moment.isoformat()}Z"
        )
    return moment.astimezone(timezone.utc)
