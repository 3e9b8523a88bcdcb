"""Binomial probabilities without numpy; pure."""

from __future__ import annotations

import math

NEGLIGIBLE = 1e-17
"""Share of a sum, beyond its largest term, from which on nothing more changes it."""


def check_counts(successes: int, trials: int) -> None:
    """Refuse counts that cannot be.

    Raises:
        ValueError: a negative number, or more successes than trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials}: expected 0 <= successes <= trials")


def check_level(confidence: float) -> None:
    """Refuse a confidence that is none.

    Raises:
        ValueError: not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence}: expected a number between 0 and 1")


def log_choose(n: int, k: int) -> float:
    """Return the logarithm of the number of ways to choose ``k`` of ``n``."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def probability(successes: int, trials: int, rate: float) -> float:
    """Return the probability of exactly that many successes."""
    if rate <= 0 or rate >= 1:
        return float(successes == (trials if rate >= 1 else 0))
    return math.exp(
        log_choose(trials, successes)
        + successes * math.log(rate)
        + (trials - successes) * math.log1p(-rate)
    )


def at_least(successes: int, trials: int, rate: float) -> float:
    """Return the probability of that many successes or more. O(trials)."""
    if successes <= 0:
        return 1.0
    total = 0.0
    for k in range(successes, trials + 1):
        share = probability(k, trials, rate)
        total += share
        if k > trials * rate and share < NEGLIGIBLE * total:
            break
    return min(1.0, total)


def at_most(successes: int, trials: int, rate: float) -> float:
    """Return the probability of that many successes or fewer. O(trials)."""
    return at_least(trials - successes, trials, 1 - rate)
