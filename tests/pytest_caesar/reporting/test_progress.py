"""Progress is shown late, seldom, and only to somebody who watches."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import pty
import re
import subprocess
import sys

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


SLOW = """
import os, time

def main(agent):
    print("caught", flush=True)
    for n in range(40):
        agent.progress(f"step {n}")
        time.sleep(0.1)
    return agent.success("Done.")
"""


@pytest.mark.parametrize("option", ["--capture=fd", "--capture=sys", "-s"])
def test_an_agent_in_this_process_is_shown_while_it_works(
    pytester: pytest.Pytester, option: str
) -> None:
    pytester.makepyfile(slow=SLOW)
    pytester.makepyfile(
        test_s="def test_s(caesar_orchestrator):\n"
        "    run = caesar_orchestrator.delegate('x')\n"
        "    assert run.succeeded\n"
        "    assert run.raw_log == b'caught\\n'\n"
        "    assert run.codes == {'isolation-degraded'}, run.diagnostics\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", option]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*command, "--caesar-agent=slow:main", "test_s.py"],
        cwd=pytester.path, stdin=theirs, stdout=theirs, stderr=theirs,
    ) as process:  # fmt: skip
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while data := os.read(ours, 4096):
                seen += data
        assert process.wait() == 0, seen.decode()
    os.close(ours)
    assert re.search(rb"\r\ncaesar t_0001, [3-9] s: progress step \d+\r\n", seen)
