"""Bounds on tokens, cost and turns."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_caesar.recovery.usage import Usage, usage
from pytest_caesar.runs.budget import Budget, Limits, problem_of_limits

USED = usage(input_tokens=900, output_tokens=100, cost_usd=0.25, turns=3)


@pytest.mark.parametrize(
    ("limits", "exceeded"),
    [
        (Limits(), ""),
        (Limits(max_tokens=1000, max_cost_usd=0.25, max_turns=3), ""),
        (Limits(max_tokens=999), "1000 tokens, at most 999 tokens (max_tokens)"),
        (Limits(max_cost_usd=0.2), "$0.25, at most $0.2 (max_cost_usd)"),
        (Limits(max_turns=2), "3 turns, at most 2 turns (max_turns)"),
    ],
)
def test_a_bound_is_passed_by_more_than_it(limits: Limits, exceeded: str) -> None:
    assert limits.exceeded([USED]) == exceeded


def test_runs_are_added_up_and_what_is_not_known_is_no_proof() -> None:
    limits = Limits(max_tokens=1500)

    assert limits.exceeded([USED, Usage()]) == ""
    assert limits.exceeded([USED, usage(input_tokens=600)]) != ""
    assert limits.exceeded([USED, USED]) == "2000 tokens, at most 1500 tokens (max_tokens)"


@pytest.mark.parametrize(
    ("used", "unknown"),
    [
        (USED, ""),
        (Usage(), "max_cost_usd is $1, and nobody tells the cost"),
        (
            usage(input_tokens=1, output_tokens=1, cost_usd=0.1, at_least=True),
            "max_cost_usd is $1, and only a part of the cost is known",
        ),
    ],
)
def test_unknown_is_never_zero(used: Usage, unknown: str) -> None:
    assert Limits(max_cost_usd=1).unknown(used) == unknown
    findings = Budget(Limits(max_cost_usd=1)).close("t", used)
    assert [item.message for item in findings] == ([unknown] if unknown else [])


def test_an_agent_is_stopped_once_and_the_finding_says_so() -> None:
    budget = Budget(Limits(max_tokens=1500))

    assert not budget.watch("one", USED)
    assert budget.watch("two", USED)
    assert not budget.watch("two", USED)
    (finding,) = budget.close("two", USED)
    assert (finding.code, finding.message) == (
        "budget-exceeded",
        "the test used 2000 tokens, at most 1500 tokens (max_tokens); the agent was stopped",
    )


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"max_tokens": 5, "max_cost_usd": 0.5, "max_turns": None}, ""),
        ({"max_tokens": 0}, "max_tokens=0, expected a whole number above 0"),
        ({"max_tokens": 1.5}, "max_tokens=1.5, expected a whole number above 0"),
        ({"max_turns": True}, "max_turns=True, expected a whole number above 0"),
        ({"max_cost_usd": "1"}, "max_cost_usd='1', expected a number above 0"),
        ({"max_cost_usd": float("nan")}, "max_cost_usd=nan, expected a number above 0"),
    ],
)
def test_what_is_no_bound_is_refused(values: dict[str, Any], problem: str) -> None:
    assert problem_of_limits(values) == problem
