"""How often a gate would say something else if the same session were run again; pure."""

from __future__ import annotations

import math
from typing import NamedTuple

from pytest_caesar.trials import sequential
from pytest_caesar.trials.binomial import at_least
from pytest_caesar.trials.intervals import wilson
from pytest_caesar.trials.rate_gate import Gate

POINTS = 50
"""Rates of the interval that are looked at for the worst one."""


class Flips(NamedTuple):
    """How often another session would say the opposite, as probabilities.

    Attributes:
        observed: when the true rate is the one that was observed.
        worst: when it is the one in the interval at which the two differ most often.
    """

    observed: float
    worst: float


def flips(gate: Gate, successes: int, counted: int, *, met: bool) -> Flips:
    """Compute how often another session would flip the verdict of this one.

    A verdict with confidence that stays undecided has not flipped.

    Args:
        gate: what is asked, with a rate.
        successes: of the counted trials of this session.
        counted: how many there were; one or more.
        met: what this session says.
    """
    low, high = wilson(successes, counted)
    rates = [low + (high - low) * step / POINTS for step in range(POINTS + 1)]
    return Flips(
        observed=_opposite(gate, successes / counted, met=met),
        worst=max(_opposite(gate, rate, met=met) for rate in rates),
    )


def _opposite(gate: Gate, rate: float, *, met: bool) -> float:
    """Return how often a session says the opposite of an earlier one, at a true rate."""
    assert gate.min_rate is not None
    if gate.confidence is not None:
        found = sequential.prospects(rate, gate.min_rate, gate.confidence, gate.trials)
        return found.missed if met else found.met
    passes = at_least(math.ceil(gate.min_rate * gate.trials), gate.trials, rate)
    return 1 - passes if met else passes
