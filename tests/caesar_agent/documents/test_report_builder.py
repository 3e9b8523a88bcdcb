"""Whatever an agent tells becomes a report that reads back as it was."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesar_agent import MisuseError, Report
from caesar_agent.documents import Action, Severity
from caesar_agent.documents.report_builder import MERGED, ReportBuilder

ACTIONS = get_args(Action)
SAID = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text.strip())
ANY = st.text(st.characters())  # lone surrogates too
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=5,
)

CALLS: st.SearchStrategy[tuple[str, tuple[Any, ...]]] = st.one_of(
    st.tuples(st.just("change"), st.tuples(SAID, st.sampled_from(ACTIONS), ANY)),
    st.tuples(st.just("command"), st.tuples(ANY, st.none() | st.integers(0, 255), ANY)),
    st.tuples(
        st.just("finding"),
        st.tuples(
            st.sampled_from(get_args(Severity)),
            SAID,
            st.none() | ANY,
            st.none() | st.integers(1, 10**6),
            ANY,
        ),
    ),
    st.tuples(st.just("question"), st.tuples(SAID, st.lists(ANY, max_size=3))),
    st.tuples(st.just("next_step"), st.tuples(SAID)),
    st.tuples(st.just("artifact"), st.tuples(SAID, ANY)),
    st.tuples(st.just("output"), st.tuples(SAID, JSON)),
)


@settings(deadline=None)
@given(st.lists(CALLS, max_size=10), st.sampled_from(["success", "partial", "failed"]), SAID)
def test_a_report_reads_back_as_it_was_written(
    calls: list[tuple[str, tuple[Any, ...]]], status: Any, summary: str
) -> None:
    builder = ReportBuilder()
    for name, arguments in calls:
        getattr(builder, name)(*arguments)

    report = builder.report(status, summary, task_id="t_1")

    data = report.to_json().encode("utf-8", "backslashreplace")
    assert Report.parse(data) == report


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(ACTIONS)), max_size=12))
def test_a_path_is_declared_at_most_once(calls: list[tuple[str, Any]]) -> None:
    builder = ReportBuilder()
    for path, action in calls:
        builder.change(path, action, "")

    paths = [change.path for change in builder.report("success", "x", task_id="").changes]
    assert len(paths) == len(set(paths))
    # Only what was deleted again is no change any more.
    last = dict(calls)
    assert {last[path] for path in set(last) - set(paths)} <= {"deleted"}


def test_no_pair_of_declarations_is_merged_into_what_neither_says() -> None:
    for (first, second), merged in MERGED.items():
        assert {first, second} <= set(ACTIONS)
        assert merged is None or merged in ACTIONS
        if first == second:
            assert merged == first


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=5))
def test_usage_adds_up(amounts: list[int]) -> None:
    builder = ReportBuilder()
    for amount in amounts:
        builder.add_usage(input_tokens=amount)

    assert builder.usage is not None
    assert builder.usage.input_tokens == sum(amounts)
    assert builder.usage.output_tokens is None


def test_a_negative_amount_is_refused_although_the_sum_is_not() -> None:
    builder = ReportBuilder()
    builder.add_usage(input_tokens=10)

    with pytest.raises(MisuseError, match="input_tokens"):
        builder.add_usage(input_tokens=-3)

    assert builder.usage is not None
    assert builder.usage.input_tokens == 10


def test_what_is_refused_leaves_nothing_behind() -> None:
    builder = ReportBuilder()
    for call in (
        lambda: builder.change("a", "changed", ""),  # type: ignore[arg-type]
        lambda: builder.finding("bad", "t", None, None, ""),  # type: ignore[arg-type]
        lambda: builder.question(" ", []),
        lambda: builder.output("k", {1, 2}),
    ):
        with pytest.raises(MisuseError):
            call()

    empty = ReportBuilder().report("success", "x", task_id="")
    assert builder.report("success", "x", task_id="") == empty
