from __future__ import annotations

import contextlib

import pytest

from pytest_caesar.supervision.pace import interval, watched


@pytest.mark.parametrize(
    ("agents", "seconds", "paced"),
    [
        (0, 0.02, 0.02),
        (8, 0.002, 0.002),
        (16, 0.002, 0.05),
        (32, 0.02, 0.1),
        (500, 0.05, 0.2),
        (500, 1, 1),
    ],
)
def test_the_more_agents_wait_the_less_often_each_is_looked_at(
    agents: int, seconds: float, paced: float
) -> None:
    with contextlib.ExitStack() as all_of_them:
        for _ in range(agents):
            all_of_them.enter_context(watched())
        assert interval(seconds) == pytest.approx(paced)
    assert interval(seconds) == seconds
