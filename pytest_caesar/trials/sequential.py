"""A gate that may be looked at after each trial; pure.

Two martingales watch the trials: one collects evidence that the rate lies above the gate, one
that it lies below. Each is the likelihood of the outcomes under a rate drawn evenly from its
side of the gate, over their likelihood at the gate. For an agent at the gate (or on the other
side) it is a non-negative (super)martingale that starts at 1, so it ever reaches 1/a with a
probability of at most a, however often one looks and whenever one stops.

Source: J. Ville (1939); H. Robbins, "Statistical methods related to the law of the iterated
logarithm", Annals of Mathematical Statistics 41 (1970), 1397-1409 (mixtures); the uniform
mixture is the one of D. A. Darling, H. Robbins, PNAS 58 (1967), 66-68, cut to each side.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, NamedTuple

from pytest_caesar.trials.binomial import at_least, at_most, check_counts, check_level, log_choose


class Bounds(NamedTuple):
    """What decides after a number of trials: at least ``met`` successes, at most ``missed``.

    Neither is reachable early on: ``met`` is then more than there were trials, ``missed`` -1.
    """

    met: int
    missed: int


class Decision(NamedTuple):
    """A decision, and the number of counted trials it took."""

    state: Literal["met", "missed"]
    trials: int


class Prospects(NamedTuple):
    """What becomes of an agent of a known rate: probabilities, and trials on average."""

    met: float
    missed: float
    undecided: float
    trials: float


def evidence(successes: int, trials: int, gate: Fraction) -> tuple[float, float]:
    """Return the logarithms of the evidence that the rate is above, and below, the gate.

    Args:
        successes: of ``trials``.
        trials: counted so far.
        gate: the rate asked for, above 0 and below 1.
    """
    check_counts(successes, trials)
    rate = float(gate)
    # The integral of p^s (1-p)^f from 0 to the gate is B(s+1, f+1) P(Bin(n+1, gate) > s).
    whole = -math.log(trials + 1) - log_choose(trials, successes)
    at_gate = successes * math.log(rate) + (trials - successes) * math.log1p(-rate)
    above = at_most(successes, trials + 1, rate)
    below = at_least(successes + 1, trials + 1, rate)
    return (
        whole + _log(above) - math.log1p(-rate) - at_gate,
        whole + _log(below) - math.log(rate) - at_gate,
    )


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _check_gate(gate: Fraction) -> None:
    if not 0 < gate < 1:
        raise ValueError(f"a gate of {gate}: expected a rate above 0 and below 1")


@functools.lru_cache(maxsize=64)
def _all_bounds(gate: Fraction, confidence: float) -> list[Bounds]:
    """Return the bounds that are known so far, which grow; those of no trial come first."""
    check_level(confidence)
    _check_gate(gate)
    return [Bounds(met=1, missed=-1)]


def bounds(trials: int, gate: Fraction, confidence: float) -> Bounds:
    """Return what decides after that many counted trials; the bounds are kept.

    Raises:
        ValueError: the gate is not between 0 and 1, or the confidence is not.
    """
    known = _all_bounds(gate, confidence)
    needed = -math.log1p(-confidence)
    while len(known) <= trials:
        n = len(known)
        met, missed = known[-1]
        # More trials never ask for fewer successes, and each adds one at most.
        while met <= n and evidence(met, n, gate)[0] < needed:
            met += 1
        while missed < n and evidence(missed + 1, n, gate)[1] >= needed:
            missed += 1
        known.append(Bounds(met, missed))
    return known[trials]


def decide(outcomes: Iterable[bool], gate: Fraction, confidence: float) -> Decision | None:
    """Return what the outcomes decide, at the first trial that decides; None while undecided.

    Args:
        outcomes: of the counted trials, in the order of their numbers, never of their ends:
            a slow failure that came last would let an agent pass that should not.
        gate: the rate asked for.
        confidence: 1 less the level of each side.
    """
    successes = 0
    for trials, success in enumerate(outcomes, 1):
        successes += success
        met, missed = bounds(trials, gate, confidence)
        if successes >= met:
            return Decision("met", trials)
        if successes <= missed:
            return Decision("missed", trials)
    return None


def least_trials(gate: Fraction, confidence: float) -> int:
    """Return the number of trials below which not even successes alone meet a gate.

    Raises:
        ValueError: the gate is not between 0 and 1, or the confidence is not.
    """
    check_level(confidence)
    _check_gate(gate)
    needed = -math.log1p(-confidence)
    enough = 1
    while evidence(enough, enough, gate)[0] < needed:
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if evidence(middle, middle, gate)[0] < needed:
            too_few = middle
        else:
            enough = middle
    return enough


def prospects(rate: float, gate: Fraction, confidence: float, maximum: int) -> Prospects:
    """Compute exactly what becomes of an agent of a known rate. O(maximum^2).

    Args:
        rate: of success, in truth.
        gate: the rate asked for.
        confidence: 1 less the level of each side.
        maximum: trials after which nothing more is tried.
    """
    going, met, missed, taken = {0: 1.0}, 0.0, 0.0, 0.0
    for trials in range(1, maximum + 1):
        taken += sum(going.values())
        after: dict[int, float] = {}
        for successes, share in going.items():
            after[successes] = after.get(successes, 0.0) + share * (1 - rate)
            after[successes + 1] = after.get(successes + 1, 0.0) + share * rate
        limits = bounds(trials, gate, confidence)
        met += sum(share for successes, share in after.items() if successes >= limits.met)
        missed += sum(share for successes, share in after.items() if successes <= limits.missed)
        going = {
            successes: share
            for successes, share in after.items()
            if limits.missed < successes < limits.met
        }
    return Prospects(met, missed, sum(going.values()), taken)
