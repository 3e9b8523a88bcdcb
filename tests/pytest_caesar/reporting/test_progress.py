"""Progress is shown late, seldom, and only to somebody who watches."""

from __future__ import annotations

import functools
import io

import pytest
from _pytest.terminal import TerminalReporter

from caesar_agent.documents import Event
from pytest_caesar.reporting.progress import Progress, progress_of, told


class Stopwatch:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def event(kind: str, **fields: object) -> Event:
    return Event.from_value(
        {
            "protocol": "caesar.event/v1",
            "seq": 0,
            "at": "2026-01-01T00:00:00.000Z",
            "task_id": "t_0001",
            "type": kind,
            **fields,
        }
    )


@pytest.fixture
def page() -> io.StringIO:
    return io.StringIO()


def test_a_delegation_that_takes_its_time_is_told_once_a_second(
    page: io.StringIO, pytestconfig: pytest.Config
) -> None:
    watch = Stopwatch()
    progress = Progress(TerminalReporter(pytestconfig, page), None, clock=watch)
    for now, text in ((0, "one"), (2.9, "two"), (4, "three"), (4.5, "four"), (5.5, "\x1b[2Jfive")):
        watch.now = now
        progress(event("progress", message=text))
    lines = [line for line in page.getvalue().splitlines() if line]
    assert lines == [
        "caesar t_0001, 4 s: progress three",
        r"caesar t_0001, 6 s: progress \x1b[2Jfive",
    ]


def test_of_an_agent_without_events_the_last_output_is_told(
    page: io.StringIO, pytestconfig: pytest.Config
) -> None:
    watch = Stopwatch()
    progress = Progress(TerminalReporter(pytestconfig, page), None, clock=watch)
    progress.quiet("t_0001", lambda: b"")
    for now, output in ((4, b"one"), (6, b""), (8, b"two"), (11.5, b"reading\n\x1b[2J src\n\n")):
        watch.now = now
        progress.quiet("t_0001", functools.partial(bytes, output))
    lines = [line for line in page.getvalue().splitlines() if line]
    assert lines == [
        "caesar t_0001, 6 s: nothing printed yet",
        r"caesar t_0001, 12 s: printed \x1b[2J src",
    ]


def test_an_event_is_told_in_a_few_words() -> None:
    assert told(event("tool_use", tool="bash", input_summary="make check")) == (
        "tool use bash make check"
    )
    assert told(event("progress", message="half", pct=50)) == "progress half (50 %)"
    assert told(event("progress", message="on it")) == "progress on it"
    assert told(event("file_changed", path="a.py", action="modified")) == (
        "file changed modified a.py"
    )


def test_nobody_who_reads_a_file_is_told(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfigure("-p", "no:randomly")
    assert progress_of(config) is None
