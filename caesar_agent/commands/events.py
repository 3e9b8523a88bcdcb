"""``caesar-agent events``: show the event log of a task, once or while it grows."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import one_line, printable

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers
    from caesar_agent.documents.event import Event
    from caesar_agent.events.lines import EventReading
    from caesar_agent.task_directory import TaskDirectory

NOT_FOUND = 2
"""Exit code when there is no such task directory."""

LIMIT = 200
"""Characters of one event that are shown at most; ``--json`` shows all of them."""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``events`` to the command line."""
    parser = subparsers.add_parser(
        "events",
        help="show what an agent tells while it works",
        description="Show the events of a task; what is no event is named on stderr.",
        epilog="exit code: 0, or 2 when there is no such task directory",
    )
    parser.add_argument("task_dir", metavar="TASK_DIR", type=Path, help="folder of the task")
    parser.add_argument(
        "--follow",
        action="store_true",
        help="go on as the log grows, until the task has finished, its folder is gone, or Ctrl-C",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object for each event")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Show the events."""
    from caesar_agent.events.reading import follow, read_events  # noqa: PLC0415 - slow
    from caesar_agent.task_directory import TaskDirectory  # noqa: PLC0415 - as above

    folder: Path = args.task_dir
    if not folder.is_dir():
        print(f"caesar-agent: {printable(str(folder))} is no task directory", file=sys.stderr)
        return NOT_FOUND
    directory = TaskDirectory(folder)
    log = directory.events_file
    if not (os.path.lexists(directory.task_file) or os.path.lexists(log)):
        print(f"caesar-agent: {no_task(folder)}", file=sys.stderr)
        if not args.follow:  # what is followed may be on its way
            return NOT_FOUND
    finished = False
    task_id = _task_id(directory)
    tools: dict[str, str] = {}
    readings: Iterable[EventReading] = (
        follow(log, stop=lambda: finished or not folder.is_dir(), task_id=task_id)
        if args.follow
        else [read_events(log, task_id=task_id)]
    )
    for reading in readings:
        _show(reading, tools, as_json=args.json)
        finished = finished or any(event.type == "finished" for event in reading.events)
    return 0


def _task_id(directory: TaskDirectory) -> str | None:
    """Return whose events those are, as ``task.json`` says; None where nobody can tell."""
    try:
        ident = json.loads(directory.read_task().data or b"")["id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return ident if isinstance(ident, str) else None


def no_task(folder: Path) -> str:
    """Say that a folder is not that of a task."""
    return (
        f"there is no task.json in {printable(str(folder))}; "
        "expected the folder of one task, such as .caesar/tasks/t_0001"
    )


def _show(reading: EventReading, tools: dict[str, str], *, as_json: bool) -> None:
    for event in reading.events:
        # ASCII alone in JSON: the reader is a program, and nothing in it acts on a terminal.
        line = json.dumps(event.dump()) if as_json else _line(with_tool(event, tools))
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    for found in reading.diagnostics:
        place = f"line {found.line}: " if found.line is not None else ""
        print(f"{place}{printable(found.message, limit=300)} [{found.code}]", file=sys.stderr)


def _line(event: Event) -> str:
    at, kind = one_line(event.at, limit=40), one_line(event.type, limit=20)
    return f"{event.seq:>4}  {at}  {kind:<12}  {one_line(describe(event), limit=LIMIT)}".rstrip()


def with_tool(event: Event, tools: dict[str, str]) -> Event:
    """Return an event with the name of its tool, which an end may leave to its start.

    Args:
        event: the next one of a log.
        tools: names by id of the calls so far; kept up to date here.
    """
    tool, ident = getattr(event, "tool", None), getattr(event, "id", None)
    if event.type != "tool_use" or not ident:
        return event
    if tool:
        tools[ident] = tool
        return event
    known = tools.get(ident)
    return event.model_copy(update={"tool": known}) if known else event


def describe(event: Event) -> str:  # noqa: PLR0911 - one for each type
    """Say what an event says, in its own words; not yet safe to print."""
    from caesar_agent.documents import event as events  # noqa: PLC0415 - slow

    match event:
        case events.StartedEvent():
            return f"{event.agent}: {event.command}" if event.command else event.agent
        case events.ThinkingEvent() | events.MessageEvent():
            return event.text
        case events.ToolUseEvent():
            named = " ".join(part for part in (event.tool or event.id, event.input_summary) if part)
            return f"{named} ({event.status})"
        case events.FileChangedEvent():
            return f"{event.path} ({event.action})"
        case events.ProgressEvent():
            return event.message if event.pct is None else f"{event.message} ({event.pct:g} %)"
        case events.QuestionEvent():
            options = f" ({', '.join(event.options)})" if event.options else ""
            return f"{event.id}: {event.question}{options}"
        case events.AnswerEvent():
            return f"{event.id}: {event.answer}"
        case events.ErrorEvent():
            return f"{event.message} (fatal)" if event.fatal else event.message
        case events.FinishedEvent():
            code = "" if event.exit_code is None else f", exit code {event.exit_code}"
            summary = f": {event.summary}" if event.summary else ""
            return f"{event.status}{code}{summary}"
    return json.dumps(event.model_extra) if event.model_extra else ""
