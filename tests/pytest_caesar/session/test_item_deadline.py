from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.session.item_deadline import seconds_left
from pytest_caesar.supervision.time_left import MARGIN, SHORTEST, fit

ALONE = ("-p", "no:caesar", "-p", "no:anyio", "-p", "no:hypothesispytest", "-p", "no:randomly")
SECONDS = st.floats(min_value=0.001, max_value=1e9)


def test_without_a_test_nothing_is_left_and_nothing_cut() -> None:
    assert seconds_left("no such test") is None
    assert fit(600, 5, None) == (600, 5)


def test_what_ends_in_time_is_not_cut() -> None:
    assert fit(10, 5, 17) == (10, 5)


def test_the_grace_is_cut_with_the_deadline() -> None:
    assert fit(600, 5, 10) == (6, 2)
    assert fit(600, 1, 10) == (7, 1)


def test_who_is_late_already_gets_the_shortest() -> None:
    assert fit(600, 5, 0) == (SHORTEST, 0)


@given(timeout=SECONDS, grace=SECONDS, left=st.floats(min_value=-10, max_value=1e6))
def test_a_cut_ends_before_the_test_does(timeout: float, grace: float, left: float) -> None:
    cut, rest = fit(timeout, grace, left)
    assert 0 < cut <= timeout or cut == SHORTEST
    assert 0 <= rest <= grace
    if left - MARGIN > 2 * SHORTEST:
        assert cut + rest <= (left - MARGIN) * (1 + 1e-9)


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_what_is_left_of_a_test_is_known_while_it_runs(
    pytester: pytest.Pytester, method: str
) -> None:
    pytester.makeconftest("pytest_plugins = ['pytest_caesar.session.item_deadline']")
    pytester.makepyfile(
        """
        import pytest
        from pytest_caesar.session.item_deadline import seconds_left

        @pytest.fixture
        def left():
            return seconds_left()

        @pytest.mark.timeout(50)
        def test_with_one(left, request):
            assert 40 < seconds_left() < left <= 50
            assert seconds_left(request.node.nodeid) > 40
            assert seconds_left("another") is None

        def test_without_one(left):
            assert left is None
            assert seconds_left() is None
        """
    )
    result = pytester.runpytest_subprocess(*ALONE, f"--timeout-method={method}")
    result.assert_outcomes(passed=2)


def test_without_pytest_timeout_nothing_is_missed(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("pytest_plugins = ['pytest_caesar.session.item_deadline']")
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest_subprocess(*ALONE, "-p", "no:timeout", "--strict-config")
    result.assert_outcomes(passed=1)
