from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import get_args

import pytest

from pytest_caesar.settings.settings import _share
from pytest_caesar.trials import document, table
from pytest_caesar.trials.causes import FailedTrial, grouped
from pytest_caesar.trials.rate import Rate
from pytest_caesar.trials.rate_gate import Gate, Outcome, judge, known

LETTERS: dict[str, Outcome] = {
    "s": "success",
    "f": "failure",
    "e": "error",
    "k": "skipped",
    "n": "stopped",
}


def outcomes(letters: str) -> dict[int, Outcome]:
    return {n: LETTERS[letter] for n, letter in enumerate(letters, 1) if letter != "."}


def gate(trials: int = 10, rate: str | None = "4/5", confidence: float | None = None) -> Gate:
    return Gate(
        trials=trials, min_rate=None if rate is None else Fraction(rate), confidence=confidence
    )


@pytest.mark.parametrize(
    ("letters", "asked", "state"),
    [
        ("ssssssssff", gate(), "met"),
        ("sssssssfff", gate(), "missed"),
        ("sssssssfffs"[:9] + ".", gate(), "incomplete"),
        ("sss" * 3 + "s", gate(rate=None), "rated"),
        ("kkkkkkkkkk", gate(), "skipped"),
        ("sssskkkkkf", gate(), "met"),
        ("sssssssssse", gate(11), "met"),
        ("ssssssssee", gate(), "met"),
        ("sssssssseee", gate(11), "error"),
        ("eeeeeeeeee", gate(rate=None), "error"),
        ("ssssssssnn", gate(), "met"),
        ("fffnnnnnnn", gate(), "missed"),
        ("sss" * 7, gate(21, "4/5", 0.95), "met"),
        ("ffff" + "s" * 26, gate(30, "4/5", 0.95), "missed"),
        ("s" * 10 + "f" * 2 + "s" * 10, gate(22, "4/5", 0.95), "undecided"),
        # A verdict that is sure needs no more trials, whatever stopped them.
        ("s" * 20 + ".....", gate(25, "4/5", 0.95), "met"),
        # The first trial, still running or gone, is what everything after it waits for.
        ("." + "s" * 24, gate(25, "4/5", 0.95), "incomplete"),
    ],
)
def test_trials_are_judged_by_what_is_known_of_them(letters: str, asked: Gate, state: str) -> None:
    assert judge(asked, outcomes(letters)).state == state


def test_a_rate_at_the_gate_is_met_although_floats_would_miss_it() -> None:
    # 0.1 + 0.2 > 0.3 among floats.
    rate = Fraction(str(0.7))
    assert judge(Gate(trials=10, min_rate=rate), outcomes("sssssssfff")).state == "met"


def test_trials_stop_exactly_when_no_end_can_change_the_verdict() -> None:
    asked = gate(6, "2/3")
    for length in range(7):
        for begun in itertools.product("sf", repeat=length):
            rest = itertools.product("sf", repeat=6 - length)
            states = {judge(asked, outcomes("".join((*begun, *end)))).state for end in rest}
            assert known(asked, outcomes("".join(begun))) == (len(states) == 1), begun


def test_skips_and_errors_to_come_do_not_change_a_verdict_that_is_known() -> None:
    asked = gate(6, "2/3")
    for begun in map("".join, itertools.product("sfk", repeat=4)):
        if known(asked, outcomes(begun)):
            ends = [judge(asked, outcomes(begun + end)).state for end in ("ss", "kk", "sk", "ff")]
            assert len({*ends} - {"skipped"}) <= 1, begun


def test_a_slow_failure_is_waited_for_where_it_could_change_a_verdict_that_is_sure() -> None:
    asked = gate(30, "4/5", 0.95)
    late = outcomes("." + "s" * 25)
    assert not known(asked, late)
    assert known(asked, {**late, 1: "success"})


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (gate(20, "4/5", 0.95), ""),
        (
            gate(19, "4/5", 0.95),
            "19 trials can never meet min_rate=0.8 with confidence=0.95, not even by successes alone: that takes 20",
        ),
        (
            gate(500, "1", 0.95),
            "min_rate=1 with a confidence can never be met: no number of successes shows that an agent never fails; ask for less, or leave the confidence out",
        ),
        (gate(1, "1"), ""),
    ],
)
def test_a_maximum_at_which_nothing_could_be_met_is_refused(asked: Gate, problem: str) -> None:
    assert asked.problem == problem


def test_gates_survive_the_way_through_json() -> None:
    for asked in (gate(), gate(30, "1/3", 0.9), gate(5, None)):
        assert Gate.from_json(json.loads(json.dumps(asked.as_json()))) == asked
    with pytest.raises(ValueError, match="expected what a session writes"):
        Gate.from_json({"trials": "3"})


def test_failures_are_grouped_by_what_does_not_vary_between_trials() -> None:
    failed = [
        FailedTrial(number=n, outcome="failure", message=f"assert {n} == 3\n at 0x7f{n}3a")
        for n in (9, 4, 5)
    ]
    failed += [
        FailedTrial(number=1, outcome="failure", message="assert 1 == 3", codes=("wrong-action",)),
        FailedTrial(number=2, outcome="failure", message="ValueError: /tmp/a/b2/c is no file"),
        FailedTrial(number=7, outcome="failure", message="ValueError: /tmp/a/x9/c is no file"),
    ]
    causes = grouped(failed)
    assert [[one.number for one in cause.trials] for cause in causes] == [[4, 5, 9], [2, 7], [1]]


def test_the_table_says_rate_interval_gate_verdict_and_what_it_costs() -> None:
    def judged(agent: str, letters: str) -> table.Judged:
        return table.Judged(
            nodeid=f"test_x.py::test_fixes[{agent}]",
            family="test_x.py::test_fixes",
            agent=agent,
            verdict=judge(gate(20), outcomes(letters)),
            failed=[FailedTrial(number=20, outcome="failure", message="assert 1 == 2")],
            usage={n: {"tokens": 41_000.0, "cost_usd": 0.41} for n in range(1, 21)}
            if agent == "codex"
            else {},
        )

    assert table.lines(
        [judged("codex", "s" * 17 + "fff"), judged("gemini", "s" * 12 + "f" * 8)]
    ) == [
        "trials",
        "  test_fixes[codex]    17 of 20   85 %   (64 to 95)   min 80 %   met (could be chance)   "
        "3 of 3: 60 %   41000 tokens, $0.41 a trial".replace("41000", "41k"),
        "    1 × assert 1 == 2 (trial 20)",  # noqa: RUF001 - as it is shown
        "  test_fixes[gemini]   12 of 20   60 %   (39 to 78)   min 80 %   missed                  3 of 3: 19 %",
        "    1 × assert 1 == 2 (trial 20)",  # noqa: RUF001 - as it is shown
        "  codex over gemini: +25 points (−3 to +48), p = 0.16 (Fisher): not shown to be better",  # noqa: RUF001
    ]


@pytest.mark.parametrize(
    ("rate", "shown"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.999, "99.9 %"),
        (0.9999, "99.9 %"),
        (0.004, "0.4 %"),
        (0.0001, "0.1 %"),
    ],
)
def test_a_rate_that_is_nearly_whole_never_looks_so(rate: float, shown: str) -> None:
    assert table.percent(rate) == shown


def test_agents_are_compared_over_a_suite_within_each_test() -> None:
    def judged(test: str, agent: str, successes: int, trials: int) -> table.Judged:
        letters = "s" * successes + "f" * (trials - successes)
        verdict = judge(gate(trials, None), outcomes(letters))
        return table.Judged(nodeid=f"{test}[{agent}]", family=test, agent=agent, verdict=verdict)

    many = [
        judged(test, agent, successes, 10)
        for test in ("test_a", "test_b", "test_c")
        for agent, successes in (("new", 9), ("old", 5))
    ]
    assert table.comparison_lines(many)[-1] == (
        "over 3 tests, new over old: +40 points, p = 0.0018 (exact, within each test): better"
    )
    single = [
        judged(f"test_{n}", agent, successes, 1)
        for n in range(6)
        for agent, successes in (("new", 1), ("old", 0))
    ]
    assert table.comparison_lines(single)[-1] == (
        "over 6 tests, new over old: +100 points, p = 0.031 (McNemar): better"
    )


def test_trials_of_several_shards_are_judged_as_one() -> None:
    asked = gate(4, "1/2")

    def shard(letters: str) -> dict[str, object]:
        found = outcomes(letters)
        failed = [
            FailedTrial(number=n, outcome="failure", message="assert 0")
            for n, outcome in found.items()
            if outcome == "failure"
        ]
        judged = table.Judged(
            nodeid="t.py::test[a]",
            family="t.py::test",
            agent="a",
            verdict=judge(asked, found, pending=True),
            failed=failed,
        )
        entry: dict[str, object] = json.loads(json.dumps(document.judged_as_json(judged, found)))
        return entry

    one, other = shard("s.f."), shard(".f.f")
    assert one["verdict"] == other["verdict"] == "pending"
    (whole,) = document.merged([one, other])
    assert (whole["verdict"], whole["passed"], whole["counted"]) == ("missed", 1, 4)
    assert whole["causes"][0]["trials"] == [2, 3, 4]
    assert document.merged([one])[0]["verdict"] == "incomplete"
    with pytest.raises(ValueError, match="trial 1 ran in two shards"):
        document.merged([one, one])


def test_every_outcome_has_a_letter_here() -> None:
    assert set(LETTERS.values()) == set(get_args(Outcome))


def test_a_rate_compares_as_the_fraction_it_is() -> None:
    rate = Rate(judge(gate(10, None), outcomes("sssssssfff")))
    assert rate == 0.7
    assert rate >= 0.7
    assert rate < 0.71
    assert rate > Fraction(2, 3)
    assert rate != "0.7"
    assert rate.pass_at(3) == pytest.approx(119 / 120)
    assert rate.pass_all(11) is None
    assert repr(rate) == "<Rate: 7 of 10, 70 % (40 to 89), 3 of 3: 29 %>"


@pytest.mark.parametrize(("jobs", "workers"), [(8, 3), (1, 4), (64, 2)])
def test_workers_share_the_jobs_of_a_session(jobs: int, workers: int) -> None:
    shares = [_share(jobs, {"workercount": workers, "workerid": f"gw{n}"}) for n in range(workers)]
    assert sum(shares) == max(jobs, workers)
    assert max(shares) - min(shares) <= 1
    assert _share(jobs, None) == jobs
