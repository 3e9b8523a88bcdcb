from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caesar_agent.documents import Event, ToolUseEvent
from caesar_agent.events.tool_calls import pair_tools
from pytest_caesar import strategies
from tests.caesar_agent.documents.examples import event


def used(status: str, tool: str = "bash", **fields: Any) -> ToolUseEvent:
    return ToolUseEvent.from_value(event(type="tool_use", tool=tool, status=status, **fields))


def test_start_and_end_are_paired_by_id() -> None:
    first, second = used("started", id="1"), used("started", id="2")
    ended, failed = used("succeeded", id="2"), used("failed", id="1")
    calls = pair_tools([first, second, ended, failed])

    assert [(call.start, call.end) for call in calls] == [(first, failed), (second, ended)]


def test_an_end_that_has_only_the_id_has_the_name_of_its_start() -> None:
    (call,) = pair_tools(
        [used("started", "Read", id="toolu_1"), used("succeeded", "", id="toolu_1")]
    )

    assert call.tool == "Read"
    assert not call.running


def test_without_ids_name_and_summary_pair_the_oldest_first() -> None:
    starts = [used("started", input_summary="make", seq=number) for number in range(2)]
    other = used("started", input_summary="ls", seq=2)
    ends = [used("succeeded", input_summary="make", seq=number) for number in (3, 4)]
    calls = pair_tools([*starts, other, *ends])

    assert [(call.start, call.end) for call in calls] == [
        (starts[0], ends[0]),
        (starts[1], ends[1]),
        (other, None),
    ]


def test_a_call_that_was_never_ended_is_running() -> None:
    (call,) = pair_tools([used("started", id="1")])

    assert call.running


def test_an_end_without_a_start_is_a_call_of_its_own() -> None:
    end = used("succeeded", "edit", id="9")
    (call,) = pair_tools([used("started", "edit").model_copy(update={"status": "failed"}), end][1:])

    assert (call.start, call.end, call.tool) == (None, end, "edit")


def test_a_second_start_of_a_running_call_is_the_same_call() -> None:
    calls = pair_tools(
        [used("started", id="1"), used("started", id="1"), used("succeeded", id="1")]
    )

    assert len(calls) == 1


def test_an_id_that_is_used_again_is_another_call() -> None:
    calls = pair_tools(
        [used(status, id="1") for status in ("started", "failed", "started", "succeeded")]
    )

    assert [call.end.status for call in calls if call.end] == ["failed", "succeeded"]


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(strategies.events(type="tool_use") | strategies.events()))
def test_every_use_is_in_exactly_one_call_or_repeats_a_start(events: list[Event]) -> None:
    calls = pair_tools(events)
    told = [item for call in calls for item in (call.start, call.end) if item]
    uses = [item for item in events if isinstance(item, ToolUseEvent)]

    assert len(told) <= len(uses)
    assert all(any(item is use for use in uses) for item in told)
    ends = [item for item in uses if item.status != "started"]
    assert len([call for call in calls if call.end]) == len(ends)
