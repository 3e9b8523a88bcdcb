"""What is odd about a whole event log."""

from __future__ import annotations

import pytest

from caesar_agent.documents.event import Event
from caesar_agent.events.remarks import remarks
from tests.caesar_agent.documents.examples import event


def told(*numbers: int, whole: bool = True) -> dict[str, str]:
    events = [Event.from_value(event(seq=number)) for number in numbers]
    return {item.code: item.message for item in remarks(events, whole=whole)}


def test_a_log_that_counts_on_is_not_odd() -> None:
    assert told(0, 1, 2) == {}
    assert told(7, 8, whole=False) == {}
    assert told() == {}


@pytest.mark.parametrize(
    ("numbers", "code", "message"),
    [
        ((0, 1, 1, 2), "event-seq-repeated", "seq given more than once: 1"),
        ((0, 4, 5, 9), "event-seq-missing", "seq that no event has: 1 to 3, 6 to 8"),
        ((3,), "event-seq-missing", "seq that no event has: 0 to 2"),
        ((0, 2, 1, 3), "event-seq-backward", "seq that goes backward: 1 after 2"),
        ((0, *[0] * 8), "event-seq-repeated", "seq given more than once: 0, 0, 0, 0, 0 and 3 more"),
    ],
)
def test_numbers_that_do_not_count_on_are_told(
    numbers: tuple[int, ...], code: str, message: str
) -> None:
    assert told(*numbers) == {code: message}


def test_calls_of_tools_with_one_half_are_told_by_their_names() -> None:
    def used(seq: int, status: str, **fields: str) -> Event:
        return Event.from_value(event(seq=seq, type="tool_use", status=status, **fields))

    events = [
        used(0, "started", tool="bash", id="1", input_summary="make"),
        used(1, "started", tool="edit", id="2", input_summary="a.py"),
        used(2, "succeeded", tool="", id="1"),
        used(3, "failed", tool="", id="nobody"),
    ]
    assert [(item.code, item.message) for item in remarks(events)] == [
        ("tool-call-unended", "no end was told of a call of edit a.py"),
        ("tool-call-unbegun", "no start was told of a call of nobody"),
    ]
    assert [item.code for item in remarks(events, whole=False)] == ["tool-call-unended"]
