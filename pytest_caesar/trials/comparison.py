"""Tests of whether one agent is better than another; exact and pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from pytest_caesar.trials.binomial import check_counts


class Counts(NamedTuple):
    """Results of two agents on one test: successes and trials of each."""

    first: int
    first_trials: int
    second: int
    second_trials: int

    @property
    def weight(self) -> Fraction:
        """How much this test says about a difference, by its numbers of trials."""
        both = self.first_trials + self.second_trials
        return Fraction(self.first_trials * self.second_trials, both or 1)


def fisher(counts: Counts) -> float:
    """Return the two-sided p-value of Fisher's exact test: trials are not pairs.

    As likely tables count too; the probabilities are compared as whole numbers.

    Source: R. A. Fisher, "The design of experiments" (1935), section 11; two-sided as in
    A. Agresti, "Categorical data analysis", 3rd edition, section 3.5.
    """
    return stratified([counts])


def stratified(tables: Sequence[Counts]) -> float:
    """Return the two-sided p-value of no difference between two agents on every test of a suite.

    It is the exact Cochran-Mantel-Haenszel test, which is the permutation of outcomes between
    the agents within each test, over all permutations. With one test it is Fisher's.

    Args:
        tables: one for each test, n entries of at most t trials; O(n^2 t^2).

    Source: W. G. Cochran, Biometrics 10 (1954), 417-451; N. Mantel, W. Haenszel, JNCI 22 (1959),
    719-748; the exact distribution as in C. R. Mehta and others, JASA 80 (1985), 969-973.
    """
    ways, low = [1], 0
    for table in tables:
        here, least = _ways(table)
        ways, low = _convolved(ways, here), low + least
    seen = ways[sum(table.first for table in tables) - low]
    return float(Fraction(sum(way for way in ways if way <= seen), sum(ways)))


def difference(tables: Sequence[Counts]) -> float | None:
    """Return how much better the first agent is over a suite, as a difference of rates.

    Returns:
        The weighted mean of the differences within each test; None where nothing compares.

    Source: the risk difference of Mantel and Haenszel, as in S. Greenland, J. M. Robins,
    Biometrics 41 (1985), 55-68.
    """
    total = sum(table.weight for table in tables)
    if not total:
        return None
    weighted = sum(
        (
            table.weight
            * (
                Fraction(table.first, table.first_trials)
                - Fraction(table.second, table.second_trials)
            )
            for table in tables
            if table.weight
        ),
        Fraction(0),
    )
    return float(weighted / total)


def mcnemar(first_only: int, second_only: int) -> float:
    """Return the two-sided exact p-value over tests with one trial of each agent.

    Args:
        first_only: tests that only the first agent passed.
        second_only: tests that only the second one passed.

    Source: Q. McNemar, Psychometrika 12 (1947), 153-157; exact as in A. Agresti, section 11.1.
    """
    if min(first_only, second_only) < 0:
        raise ValueError(f"{min(first_only, second_only)} tests: expected 0 or more")
    n = first_only + second_only
    fewer = sum(math.comb(n, k) for k in range(min(first_only, second_only) + 1))
    return min(1.0, float(Fraction(2 * fewer, 2**n)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values for several comparisons at once, each against the same level.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6 (1979), 65-70.
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def chances(pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> list[float]:
    """Return a p-value for each pair of rates, corrected for how many there are.

    Args:
        pairs: successes and trials of one side, and of the other, n pairs.

    Returns:
        n p-values of Fisher's exact test, adjusted as ``holm`` does.
    """
    return holm([fisher(Counts(*first, *second)) for first, second in pairs])


def _ways(table: Counts) -> tuple[list[int], int]:
    """Return in how many ways each number of successes can be the first agent's, and the least."""
    check_counts(table.first, table.first_trials)
    check_counts(table.second, table.second_trials)
    successes = table.first + table.second
    least = max(0, successes - table.second_trials)
    most = min(successes, table.first_trials)
    ways = [
        math.comb(table.first_trials, mine) * math.comb(table.second_trials, successes - mine)
        for mine in range(least, most + 1)
    ]
    return ways, least


def _convolved(left: Sequence[int], right: Sequence[int]) -> list[int]:
    result = [0] * (len(left) + len(right) - 1)
    for index, one in enumerate(left):
        for offset, other in enumerate(right):
            result[index + offset] += one * other
    return result
