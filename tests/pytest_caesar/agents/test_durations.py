from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.agents.durations import parse_duration
from pytest_caesar.agents.errors import DurationError


@pytest.mark.parametrize(
    ("value", "milliseconds"),
    [
        ("2m", 120_000),
        ("45s", 45_000),
        ("3h", 10_800_000),
        ("250ms", 250),
        ("250", 250),
        (251, 251),
        (2.7, 2),
        (0, 0),
        (" 7s\t", 7_000),
        (1e21, 10**21),
        ("600h", 2_160_000_000),
    ],
)
def test_a_duration_is_read_in_milliseconds(value: object, milliseconds: int) -> None:
    assert parse_duration(value) == milliseconds


@pytest.mark.parametrize(
    "value",
    ["", "7 s", "0.5h", "2d", "3H", "1m30s", "-4s", "nan", -1, True, None, [], float("inf"), "٣s"],
)
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(DurationError):
        parse_duration(value)


def test_the_refusal_says_what_is_expected() -> None:
    with pytest.raises(DurationError) as caught:
        parse_duration("2d")
    assert str(caught.value) == (
        "'2d' is not a duration: expected a whole number followed by ms, s, m or h, "
        'such as "90s" or "10m" (a bare number counts milliseconds)'
    )


def test_not_a_number_is_refused() -> None:
    with pytest.raises(DurationError):
        parse_duration(float("nan"))


@given(st.integers(min_value=0, max_value=10**12), st.sampled_from(["ms", "s", "m", "h"]))
def test_a_number_with_a_unit_is_that_many_units(number: int, unit: str) -> None:
    assert parse_duration(f"{number}{unit}") == number * parse_duration(f"1{unit}")
