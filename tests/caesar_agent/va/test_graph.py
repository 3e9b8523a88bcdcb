from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesar_agent.va import (
    Evidence,
    TaskGraphError,
    TaskUnit,
    UnresolvedInputError,
    check_graph,
    dispatch_order,
    resolve_inputs,
)


def unit(id: str, *depends_on: str, **fields: Any) -> TaskUnit:  # noqa: A002 - as in the schema
    return TaskUnit.from_value(
        {
            "id": id,
            "objective": f"do {id}",
            "acceptanceCriteria": ["done"],
            "dependsOn": list(depends_on),
            **fields,
        }
    )


def ref(task: str, key: str) -> dict[str, str]:
    return {"fromTask": task, "outputKey": key}


@pytest.mark.parametrize(
    ("units", "text"),
    [
        ([unit("a"), unit("a")], "task 'a': two units have this id; ids are unique"),
        ([unit("a", "x"), unit("b")], "task 'a': depends on 'x', which is none of the units: a, b"),
        ([unit("a", "a")], "task 'a': it waits for itself: a -> a"),
        ([unit("z"), unit("a", "b"), unit("b", "z", "c"), unit("c", "a")], "task 'a': it waits for itself: a -> b -> c -> a"),
        ([unit("in", "a"), unit("a", "b"), unit("b", "a")], "task 'a': it waits for itself: a -> b -> a"),
        ([unit("a"), unit("b", inputs={"n": ref("a", "k")})], "task 'b': the input 'n' is an output of 'a', which is not in dependsOn: none"),
        (
            [unit("a", outputContract={"keys": ["url"]}), unit("b", "a", inputs={"n": ref("a", "uri")})],
            "task 'b': the input 'n' is the output 'uri' of 'a', whose contract promises url",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused_by_name(units: list[TaskUnit], text: str) -> None:
    with pytest.raises(TaskGraphError) as caught:
        check_graph(units)

    assert str(caught.value) == text


def test_an_output_of_a_unit_without_a_contract_is_only_known_afterwards() -> None:
    check_graph([unit("a"), unit("b", "a", inputs={"n": ref("a", "anything")})])


def test_units_may_depend_on_what_was_worked_on_before() -> None:
    before = [
        Evidence(task_id="a", status="completed"),
        Evidence(task_id="c", status="failed"),  # as before it is tried once more
    ]
    units = [unit("b", "a", "c", inputs={"n": ref("a", "k")}), unit("c")]

    assert list(check_graph(units, done=before)) == ["b", "c"]
    assert dispatch_order(units, done=before) == ("c", "b")
    with pytest.raises(TaskGraphError, match="depends on 'x', which is none of the units: b, a, c"):
        check_graph([unit("b", "x")], done=before)


def test_of_what_is_ready_the_most_urgent_goes_first_and_equals_in_their_order() -> None:
    units = [
        unit("late", priority="P3"),
        unit("plain"),
        unit("second"),
        unit("urgent", priority="P0"),
        unit("after", "late", priority="P0"),
    ]

    assert dispatch_order(units) == ("urgent", "plain", "second", "late", "after")


@st.composite
def graphs(draw: st.DrawFn) -> list[TaskUnit]:
    """Draw units of which each depends on earlier ones alone, then shuffle them."""
    count = draw(st.integers(0, 8))
    units = []
    for number in range(count):
        earlier = st.integers(0, max(0, number - 1))
        others = draw(st.lists(earlier, max_size=3)) if number else []
        priority = draw(st.sampled_from(["P0", "P1", "P2", "P3"]))
        units.append(unit(str(number), *map(str, others), priority=priority))
    return draw(st.permutations(units))


@given(graphs())
def test_every_unit_comes_once_and_after_what_it_depends_on(units: list[TaskUnit]) -> None:
    order = dispatch_order(units)

    assert sorted(order) == sorted(unit.id for unit in units)
    for item in units:
        assert all(order.index(other) < order.index(item.id) for other in item.depends_on)


@given(graphs(), st.data())
def test_a_cycle_is_found_wherever_it_is(units: list[TaskUnit], data: st.DataObject) -> None:
    order = dispatch_order(units)
    if not order:
        return
    first = data.draw(st.integers(0, len(order) - 1))
    last = data.draw(st.integers(first, len(order) - 1))
    by_id = {item.id: item for item in units}
    chain = order[first : last + 1]
    for number, task_id in enumerate(chain):
        fields = {"depends_on": (*by_id[task_id].depends_on, chain[number - 1])}
        by_id[task_id] = by_id[task_id].model_copy(update=fields)

    with pytest.raises(TaskGraphError) as caught:
        check_graph(by_id.values())

    cycle = caught.value.cycle
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    for here, there in itertools.pairwise(cycle):
        assert there in by_id[here].depends_on


def test_a_long_chain_is_no_deep_recursion() -> None:
    units = [unit("0"), *(unit(str(number), str(number - 1)) for number in range(1, 3000))]

    assert len(check_graph(reversed(units))) == 3000


def test_references_are_replaced_by_what_was_handed_over() -> None:
    proof = Evidence(task_id="a", status="completed", outputs={"url": None, "other": 1})
    given = unit("b", "a", inputs={"where": ref("a", "url"), "plain": [1]})

    resolved = resolve_inputs(given, {"a": proof})

    assert resolved.inputs == {"where": None, "plain": [1]}
    assert resolved.references == {}
    assert given.references


def test_an_output_that_was_not_handed_over_is_named() -> None:
    proof = Evidence(task_id="a", status="completed", outputs={"uri": "x", "b": 1})

    with pytest.raises(UnresolvedInputError) as caught:
        resolve_inputs(unit("b", "a", inputs={"where": ref("a", "url")}), {"a": proof})

    assert str(caught.value) == (
        "task 'b': the input 'where' is the output 'url' of 'a', which handed over b, uri"
    )


@given(st.data())
def test_the_order_is_the_one_of_taking_the_most_urgent_ready_unit_each_time(
    data: st.DataObject,
) -> None:
    count = data.draw(st.integers(1, 12))
    units = []
    for number in range(count):
        on = (
            data.draw(st.lists(st.integers(0, number - 1), unique=True, max_size=3))
            if number
            else []
        )
        priority = data.draw(st.sampled_from(["P0", "P1", "P2", "P3"]))
        units.append(unit(f"t{number}", *(f"t{one}" for one in on), priority=priority))
    units = data.draw(st.permutations(units))

    waiting, order = {one.id: one for one in units}, []
    while waiting:
        ready = [one for one in waiting.values() if not set(one.depends_on) & waiting.keys()]
        order.append(min(ready, key=lambda one: one.priority).id)
        del waiting[order[-1]]

    assert dispatch_order(units) == tuple(order)
