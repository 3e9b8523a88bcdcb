from __future__ import annotations

import math

import pytest
from freezegun import freeze_time

from caesar_agent.clock import MAX_PAUSE, monotonic, pause


def test_it_goes_on_while_time_is_frozen() -> None:
    with freeze_time("2001-01-01"):
        before = monotonic()
        pause(0.01)
        assert monotonic() - before >= 0.009


@pytest.mark.parametrize("seconds", [0.0, -1.0, -math.inf, math.nan])
def test_a_pause_of_nothing_is_none(seconds: float) -> None:
    pause(seconds)


def test_a_pause_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    import select

    asked: list[float] = []
    monkeypatch.setattr(select, "select", lambda *arguments: asked.append(arguments[3]))
    pause(math.inf)
    assert asked == [MAX_PAUSE]
