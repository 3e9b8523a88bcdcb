"""Intervals of confidence for a rate, and for the difference of two rates; pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

from pytest_caesar.trials.binomial import at_least, at_most, check_counts, check_level

STEPS = 60
"""Halvings of [0, 1] until the two ends are the same float."""


class Interval(NamedTuple):
    """Two ends, as rates (not percent) or as a difference of rates."""

    low: float
    high: float

    def __contains__(self, rate: object) -> bool:
        """Tell whether a rate lies between the ends, or at one."""
        return isinstance(rate, int | float) and self.low <= rate <= self.high


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval of a rate.

    It is for display: an interval that is looked at after each trial does not keep its level.

    Args:
        successes: of ``trials``.
        trials: how many were counted; with none, everything is possible.
        confidence: such as 0.95.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927), 209-212; recommended by Brown, Cai, DasGupta, Statistical Science 16 (2001).
    """
    check_counts(successes, trials)
    check_level(confidence)
    if not trials:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = successes / trials
    scale = 1 + z * z / trials
    centre = rate + z * z / (2 * trials)
    half = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    # The ends are exact at 0 and at 1, where rounding would miss them by a hair.
    low = 0.0 if successes == 0 else max(0.0, (centre - half) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + half) / scale)
    return Interval(low, high)


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return the exact interval of a rate: it covers at least as often as it says.

    Args:
        successes: of ``trials``.
        trials: how many were counted.
        confidence: such as 0.95; half of the rest lies on each side.

    Source: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated
    in the case of the binomial", Biometrika 26 (1934), 404-413.
    """
    check_counts(successes, trials)
    check_level(confidence)
    tail = (1 - confidence) / 2
    low = _root(lambda rate: at_least(successes, trials, rate) - tail) if successes > 0 else 0.0
    high = (
        _root(lambda rate: tail - at_most(successes, trials, rate)) if successes < trials else 1.0
    )
    return Interval(low, high)


def newcombe(first: tuple[int, int], second: tuple[int, int], confidence: float = 0.95) -> Interval:
    """Return the interval of a difference of two independent rates, first less second.

    Args:
        first: successes and trials of one agent.
        second: those of the other.
        confidence: such as 0.95.

    Source: R. G. Newcombe, "Interval estimation for the difference between independent
    proportions", Statistics in Medicine 17 (1998), 873-890, method 10 (hybrid score).
    """
    if not first[1] or not second[1]:
        return Interval(-1.0, 1.0)
    one, other = wilson(*first, confidence), wilson(*second, confidence)
    rate, rival = first[0] / first[1], second[0] / second[1]
    difference = rate - rival
    return Interval(
        difference - math.hypot(rate - one.low, other.high - rival),
        difference + math.hypot(one.high - rate, rival - other.low),
    )


def _root(rising: Callable[[float], float]) -> float:
    """Return where a rising function of a rate passes 0."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
