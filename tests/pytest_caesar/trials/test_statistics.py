"""The statistics, against scipy and statsmodels and against exact computation."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from scipy import stats
from statsmodels.stats import multitest, proportion
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar

from pytest_caesar.trials import sequential
from pytest_caesar.trials.binomial import at_least, at_most, probability
from pytest_caesar.trials.comparison import Counts, difference, fisher, holm, mcnemar, stratified
from pytest_caesar.trials.intervals import clopper_pearson, newcombe, wilson
from pytest_caesar.trials.pass_at import pass_all, pass_at

COUNTS = [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (17, 20), (12, 20), (1, 400), (399, 400)]
GATE = Fraction(4, 5)


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_intervals_are_those_of_statsmodels(successes: int, trials: int, confidence: float) -> None:
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "beta")):
        theirs = proportion.proportion_confint(successes, trials, 1 - confidence, method)
        assert ours(successes, trials, confidence) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations(COUNTS, 2)])
def test_the_interval_of_a_difference_is_that_of_statsmodels(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    theirs = proportion.confint_proportions_2indep(*first, *second, method="newcomb")
    assert newcombe(first, second) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations(COUNTS, 2)])
def test_fishers_test_is_that_of_scipy(first: tuple[int, int], second: tuple[int, int]) -> None:
    table = [[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]]
    assert fisher(Counts(*first, *second)) == pytest.approx(stats.fisher_exact(table)[1])


def test_an_exact_test_over_a_suite_counts_every_permutation_within_each_test() -> None:
    suite = [Counts(3, 3, 1, 3), Counts(2, 2, 0, 2), Counts(1, 3, 2, 2)]
    seen = sum(table.first for table in suite)
    sums: dict[int, int] = {}
    pools = []
    for table in suite:
        outcomes = [1] * (table.first + table.second)
        outcomes += [0] * (table.first_trials + table.second_trials - len(outcomes))
        pools.append([sum(some) for some in itertools.combinations(outcomes, table.first_trials)])
    for parts in itertools.product(*pools):
        sums[sum(parts)] = sums.get(sum(parts), 0) + 1
    as_likely = sum(count for count in sums.values() if count <= sums[seen])
    assert stratified(suite) == pytest.approx(as_likely / sum(sums.values()))


def test_an_exact_test_over_a_large_suite_agrees_with_the_approximate_one() -> None:
    suite = [Counts(50 + i, 80, 44 + i, 80) for i in range(12)]
    tables = [
        [[t.first, t.first_trials - t.first], [t.second, t.second_trials - t.second]] for t in suite
    ]
    approximate = StratifiedTable([list(map(list, zip(*t, strict=True))) for t in tables])
    theirs = approximate.test_null_odds(correction=True).pvalue
    assert stratified(suite) == pytest.approx(theirs, rel=0.02)
    assert difference(suite) == pytest.approx(6 / 80)
    assert difference([Counts(0, 0, 0, 0)]) is None


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (0, 6), (5, 6), (3, 17)])
def test_mcnemars_test_is_that_of_statsmodels(b: int, c: int) -> None:
    theirs = reference_mcnemar([[9, b], [c, 4]], exact=True).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(theirs)


@pytest.mark.parametrize("p", [[], [0.03], [0.01, 0.04, 0.03], [0.5, 0.001, 0.6, 0.001]])
def test_holms_correction_is_that_of_statsmodels(p: list[float]) -> None:
    theirs = multitest.multipletests(p, method="holm")[1] if p else []
    assert holm(p) == pytest.approx(theirs)


@pytest.mark.parametrize(("trials", "rate"), [(1, 0.5), (30, 0.2), (900, 0.95), (900, 1.0)])
def test_binomial_tails_are_those_of_scipy(trials: int, rate: float) -> None:
    for k in range(0, trials + 1, max(1, trials // 15)):
        assert probability(k, trials, rate) == pytest.approx(
            stats.binom.pmf(k, trials, rate), abs=1e-12
        )
        assert at_least(k, trials, rate) == pytest.approx(stats.binom.sf(k - 1, trials, rate))
        assert at_most(k, trials, rate) == pytest.approx(stats.binom.cdf(k, trials, rate))


def test_estimates_of_several_attempts_are_without_bias() -> None:
    rate, trials, k = 0.7, 9, 3
    shares = [probability(c, trials, rate) for c in range(trials + 1)]
    any_of = sum(s * (pass_at(k, c, trials) or 0) for c, s in enumerate(shares))
    all_of = sum(s * (pass_all(k, c, trials) or 0) for c, s in enumerate(shares))
    assert any_of == pytest.approx(1 - (1 - rate) ** k)
    assert all_of == pytest.approx(rate**k)
    assert pass_at(3, 2, 2) is pass_all(3, 2, 2) is None


@pytest.mark.parametrize(
    "impossible",
    [
        lambda: wilson(3, 2),
        lambda: clopper_pearson(-1, 2),
        lambda: wilson(1, 2, 95),
        lambda: fisher(Counts(4, 3, 0, 3)),
        lambda: mcnemar(-1, 3),
        lambda: pass_at(0, 1, 2),
        lambda: sequential.bounds(3, Fraction(1), 0.95),
        lambda: sequential.least_trials(GATE, 1.0),
    ],
    ids=range(8),
)
def test_what_cannot_be_counted_is_refused(impossible: object) -> None:
    assert callable(impossible)
    with pytest.raises(ValueError, match="expected"):
        impossible()


# --- what the numbers promise ----------------------------------------------------------


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.8, 0.97])
def test_an_exact_interval_covers_as_often_as_it_says_and_wilsons_nearly(rate: float) -> None:
    trials = 25
    shares = [probability(k, trials, rate) for k in range(trials + 1)]
    exact = sum(s for k, s in enumerate(shares) if rate in clopper_pearson(k, trials))
    score = sum(s for k, s in enumerate(shares) if rate in wilson(k, trials))
    assert exact >= 0.95
    assert 0.91 < score < 0.995


def test_newcombes_interval_covers_about_as_often_as_it_says() -> None:
    n, m, rate, rival = 20, 15, 0.85, 0.6
    covered = sum(
        probability(a, n, rate) * probability(b, m, rival)
        for a in range(n + 1)
        for b in range(m + 1)
        if rate - rival in newcombe((a, n), (b, m))
    )
    assert 0.93 < covered < 0.985


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.9])
def test_agents_that_are_the_same_are_called_different_less_often_than_the_level(
    rate: float,
) -> None:
    n = 15
    shares = [probability(k, n, rate) for k in range(n + 1)]
    called = sum(
        one * other
        for a, one in enumerate(shares)
        for b, other in enumerate(shares)
        if fisher(Counts(a, n, b, n)) <= 0.05
    )
    assert called <= 0.05


def test_a_suite_of_agents_that_are_the_same_is_called_different_no_more_often() -> None:
    draw = random.Random(17)
    rates, n, sessions = (0.3, 0.6, 0.95), 8, 400

    def count(rate: float) -> int:
        return sum(draw.random() < rate for _ in range(n))

    called = sum(
        stratified([Counts(count(r), n, count(r), n) for r in rates]) <= 0.05
        for _ in range(sessions)
    )
    # Two standard deviations above the level.
    assert called / sessions <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / sessions)


# --- the sequential rule ---------------------------------------------------------------


@pytest.mark.parametrize("gate", [Fraction(1, 2), GATE, Fraction(19, 20)])
def test_an_agent_at_the_gate_is_seldom_called_met_or_missed_however_often_one_looks(
    gate: Fraction,
) -> None:
    found = sequential.prospects(float(gate), gate, 0.95, 200)
    assert 0 < found.met <= 0.033
    assert 0 < found.missed <= 0.033
    assert found.met + found.missed + found.undecided == pytest.approx(1)


@pytest.mark.parametrize(("rate", "trials"), [(0.5, 17), (0.6, 37), (0.95, 38), (0.99, 22)])
def test_trials_stop_early_where_the_rate_is_far_from_the_gate(rate: float, trials: int) -> None:
    found = sequential.prospects(rate, GATE, 0.95, 100)
    assert round(found.trials) == trials
    assert (found.met if rate > GATE else found.missed) >= 0.95


@pytest.mark.parametrize("gate", [Fraction(1, 10), GATE, Fraction(99, 100)])
def test_the_evidence_is_the_integral_it_says_it_is(gate: Fraction) -> None:
    g = float(gate)
    for successes, trials in [(0, 3), (3, 3), (7, 11), (40, 50)]:
        above, below = sequential.evidence(successes, trials, gate)
        spread = stats.beta(successes + 1, trials - successes + 1)
        whole = math.exp(math.lgamma(successes + 1) + math.lgamma(trials - successes + 1))
        whole /= math.exp(math.lgamma(trials + 2)) * g**successes * (1 - g) ** (trials - successes)
        assert math.exp(above) == pytest.approx(spread.sf(g) * whole / (1 - g))
        assert math.exp(below) == pytest.approx(spread.cdf(g) * whole / g)


def test_bounds_are_where_the_evidence_reaches_the_level() -> None:
    needed = math.log(20)
    for trials in range(1, 60):
        met, missed = sequential.bounds(trials, GATE, 0.95)
        reached = [sequential.evidence(s, trials, GATE) for s in range(trials + 1)]
        assert met == next(
            (s for s, (above, _) in enumerate(reached) if above >= needed), trials + 1
        )
        assert missed == max(
            (s for s, (_, below) in enumerate(reached) if below >= needed), default=-1
        )


def test_a_decision_is_the_first_one_in_the_order_of_the_trials() -> None:
    good, bad = [True] * 20, [False] * 20
    assert sequential.least_trials(GATE, 0.95) == 20
    assert sequential.decide(good, GATE, 0.95) == ("met", 20)
    assert sequential.decide(good[:19], GATE, 0.95) is None
    assert sequential.decide([*good, *bad], GATE, 0.95) == ("met", 20)
    missed = sequential.decide([*bad, *good], GATE, 0.95)
    assert missed is not None
    assert missed.state == "missed"
    assert missed.trials < 10
