"""Prices of tokens, from the JSON that LiteLLM keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_caesar.recovery.usage import Usage, added, usage
from pytest_caesar.runs.prices import PricesError, parse_prices, priced

LISTED: dict[str, Any] = {
    "sample_spec": {"input_cost_per_token": "a number"},
    "m": {
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 1e-5,
        "cache_read_input_token_cost": 1e-7,
        "cache_creation_input_token_cost": 2e-6,
    },
    "n": {"input_cost_per_token": 1e-3, "output_cost_per_token": 0},
}
PRICES = parse_prices(json.dumps(LISTED).encode(), path="p.json")
USED = usage(
    input_tokens=1000, cached_input_tokens=600, cache_write_tokens=100, output_tokens=50
)  # fmt: skip
COST = 300 * 1e-6 + 600 * 1e-7 + 100 * 2e-6 + 50 * 1e-5


def test_cached_tokens_have_a_price_of_their_own() -> None:
    assert PRICES.cost(USED, model="m") == pytest.approx(COST)
    assert PRICES.cost(USED, model="provider/m") == pytest.approx(COST)
    assert PRICES.cost(USED, model="n") == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("used", "model"),
    [
        (USED, None),
        (USED, "unknown"),
        (usage(input_tokens=5), "m"),
        (usage(turns=3), "m"),
        (usage(input_tokens=5, output_tokens=1, by_model={"x": Usage(), "y": Usage()}), "m"),
    ],
)
def test_what_is_not_known_costs_nothing_that_is_known(used: Usage, model: str | None) -> None:
    assert PRICES.cost(used, model=model) is None


def test_the_model_of_the_stream_wins_and_each_has_its_own_price() -> None:
    one = usage(input_tokens=10, output_tokens=0)
    both = usage(input_tokens=20, output_tokens=0, by_model={"m": one, "n": one})

    assert PRICES.cost(both) == pytest.approx(10 * 1e-6 + 10 * 1e-3)
    named = usage(input_tokens=10, output_tokens=0, by_model={"n": Usage(turns=1)})
    assert PRICES.cost(named, model="m") == pytest.approx(10 * 1e-3)


def test_a_cost_that_the_program_tells_is_kept() -> None:
    told = usage(input_tokens=10, output_tokens=0, cost_usd=7.0)

    assert priced(told, PRICES, model="m").cost_usd == 7.0
    assert priced(USED, None, model="m").cost_usd is None
    assert priced(USED, PRICES, model="m").cost_usd == pytest.approx(COST)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"{", "not JSON: "),
        (b"[]", "expected an object of models, found a list"),
        (b'{"m": {"input_cost_per_token": true}}', "no model has "),
    ],
)
def test_what_is_no_list_of_prices_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(PricesError) as caught:
        parse_prices(data, path="p.json")

    assert str(caught.value).startswith(f"prices p.json: {problem}")


def test_a_sum_does_not_know_what_one_of_its_parts_does_not() -> None:
    total = added(
        [usage(input_tokens=5, output_tokens=1, turns=2), usage(input_tokens=7, output_tokens=1)]
    )

    assert (total.input_tokens, total.total_tokens, total.turns) == (12, 14, None)
    assert added([]) == Usage()
