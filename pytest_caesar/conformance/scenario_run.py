"""What one scenario left behind, for the checks to look at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from caesar_agent.console import one_line, printable
from caesar_agent.documents.event import ErrorEvent, Event, FinishedEvent
from pytest_caesar.reporting.sections import process_line
from pytest_caesar.runs.run import Run

HANDED_IN = ("channel", "schema", "file")
"""Sources of a report that was handed in, and not merely found."""

_STOPPED = re.compile("; the agent was (ended|stopped)")

_REFUSED = re.compile(
    r"(get_task|report_progress|ask_orchestrator|submit_report) was refused: (.*)", re.DOTALL
)
"""What the server of the return channel tells of a call that it did not take."""

LOG_TAIL = 400
"""Bytes of the log that a message repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioRun:
    """One scenario, carried out.

    Attributes:
        scenario: its name.
        run: the run that is judged; of several the last one.
        earlier: the runs before it, or beside it.
        strayed: what changed outside the workspace, as ``path: what``.
        half_report: what was seen in the place of the report before it was whole, or None.
        executed: something that stood in the text of the task was carried out.
        lost_private: what became of a file that git ignores, or "" when it is as it was.
        unasked: files in questions/ although the task has no return channel.
        in_time: the events that came before the deadline, where one was given.
        lost_work: what became of the user's uncommitted work, or "" when it is all there.
        tampered: the orchestrator's files that the agent changed.
        destroyed: after its first task there was no project for the next one.
        nested: depths of the tasks that the agent gave to others.
        committed: paths that its commits differ in from ``base_ref``; None where nobody looked.
        prints_report: its CLI can hand in a report by printing it.
    """

    scenario: str
    run: Run
    earlier: tuple[Run, ...] = ()
    strayed: tuple[str, ...] = ()
    half_report: str | None = None
    executed: bool = False
    lost_private: str = ""
    unasked: tuple[str, ...] = ()
    in_time: tuple[Event, ...] = ()
    lost_work: str = ""
    tampered: tuple[str, ...] = ()
    destroyed: bool = False
    nested: tuple[int, ...] = ()
    committed: frozenset[str] | None = None
    prints_report: bool = False

    @property
    def handed_in(self) -> bool:
        """The agent itself handed in a valid report."""
        return was_handed_in(self.run, prints_report=self.prints_report)

    @property
    def own_events(self) -> tuple[Event, ...]:
        """The events that the agent told, without those of the orchestrator."""
        return tuple(_own(self.run.events))

    def ended(self) -> str:
        """Say in a word or two how it ended, to compare it with another time."""
        run = self.run
        if run.outcome.timed_out:
            return "not in time"
        if not self.handed_in:
            return "no valid report"
        exit_code = run.outcome.exit_code
        return f"{run.report.status} (exit code {exit_code})" if exit_code else run.report.status

    @property
    def refused(self) -> tuple[tuple[str, str], ...]:
        """The calls that the return channel refused: the tool, and why."""
        errors = (event for event in self.run.events if isinstance(event, ErrorEvent))
        found = (_REFUSED.match(event.message) for event in errors)
        return tuple((match[1], match[2]) for match in found if match)

    def described(self) -> str:
        """Say what came of it, for a message: report, process, and the end of the log."""
        return described(self.run)


def was_handed_in(run: Run, *, prints_report: bool = False) -> bool:
    """Tell whether the agent itself handed in a valid report."""
    return run.source in HANDED_IN or (prints_report and run.source == "extracted")


def described(run: Run) -> str:
    """Say what came of a run, for a message."""
    summary = one_line(run.report.summary, limit=200)
    lines = [
        f"report: {run.report.status} (source: {run.source}), {summary!r}",
        f"process: {process_line(run)}",
    ]
    log = run.raw_log[-LOG_TAIL:].decode("utf-8", "backslashreplace").strip()
    if log:
        lines.append(f"its output ends: {printable(log, keep=chr(10))}")
    problems = [item for item in run.diagnostics if item.code.startswith("report-")]
    lines += [f"{item.code}: {one_line(item.message, limit=300)}" for item in problems[:3]]
    lines.append(f"task directory: {one_line(str(run.task_dir), limit=400)}")
    return "\n".join(lines)


def _own(events: tuple[Event, ...]) -> Iterator[Event]:
    """Leave out what the orchestrator tells: the start, the end, questions and answers."""
    last = len(events) - 1
    for index, event in enumerate(events):
        if index == 0 and event.type == "started":
            continue
        if event.type in ("question", "answer"):
            continue
        if isinstance(event, ErrorEvent) and _REFUSED.match(event.message):
            continue
        if index == last and _is_the_orchestrators_end(event):
            continue
        yield event


def _is_the_orchestrators_end(event: Event) -> bool:
    if isinstance(event, FinishedEvent):
        return event.summary == "" and event.exit_code is not None
    fatal = getattr(event, "fatal", False)
    message = getattr(event, "message", "")
    return bool(fatal and _STOPPED.search(message))


def task_depth(data: bytes) -> int | None:
    """Return the depth that a task tells, or None where the bytes are no task."""
    try:
        value = json.loads(data)
        depth = value.get("depth", 0)
    except (ValueError, AttributeError, RecursionError):
        return None
    return depth if isinstance(depth, int) and value.get("protocol") == "caesar.task/v1" else None
