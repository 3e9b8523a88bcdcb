"""What ``pytest-caesar run`` shows a person: what came of it, and how to answer meanwhile."""

from __future__ import annotations

import os
import re
import shlex
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import one_line, printable, tell
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.commands.help_texts import in_options
from pytest_caesar.gates.messages import gate_lines
from pytest_caesar.orchestrator.project_root import caesar_root
from pytest_caesar.reporting.activity_lines import command_lines, usage_line
from pytest_caesar.reporting.sections import tree_lines
from pytest_caesar.reporting.source_advice import missing_report
from pytest_caesar.supervision.logs import tail_of

if TYPE_CHECKING:
    from caesar_agent.documents.event import Event
    from pytest_caesar.runs.run import Run

CHANGES = 50
"""Changed paths that are shown; --json and ``pytest-caesar diff`` tell all."""

COMMANDS = 20
"""Commands that are shown; --json tells all."""

OF_A_CODE = 10
"""Diagnostics of one code that are shown."""

LOG_LINES = 12
"""Last lines of a log that are shown of an agent that did not succeed."""

LOG_BYTES = 8 * 1024
"""Last bytes of a log that are looked at for them."""

LINE = 160
"""Characters of one line of a log."""

_SAFE_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def describe_run(run: Run, *, width: int | None = None) -> str:
    """Return a run as a page.

    Args:
        run: what came of a delegation.
        width: columns that sentences are folded to; None leaves each on one line.
    """
    lines = [
        *_folded(
            f"{run.report.status} (from {run.source}): {one_line(run.report.summary, limit=400)}",
            width,
        )
    ]
    if missing := missing_report(run):
        lines += _folded(f"report: {missing}", width)
    outcome = run.outcome
    how = outcome.status.replace("_", " ")
    if outcome.exit_code is not None:
        how += f", exit code {outcome.exit_code}"
    if outcome.signal:
        how += f", {outcome.signal}"
    lines.append(f"process: {how}, {outcome.duration_ms} ms")
    if run.changes_verified_by == "git":
        lines.append(f"changes: {len(run.changes) or 'none'}")
        shown = run.changes[:CHANGES]
        lines += [f"  {change.action:<9} {printable(change.path)}" for change in shown]
        if len(run.changes) > CHANGES:
            lines.append(f"  … and {len(run.changes) - CHANGES} more")
    else:
        lines.append("changes: not verified by git")
    lines += _activity(run)
    if run.gates:
        lines += ["gates:", *gate_lines(run)]
    if run.children:
        lines += ["handed on to other agents:", *tree_lines(run)]
    lines += _findings(run, width)
    if not run.succeeded:
        # What the harness read of it, whatever lies at its place now.
        lines += _log("raw.log", run.raw_log[-LOG_BYTES:], len(run.raw_log))
        lines += _stderr(run.task_dir)
    lines.append(f"task directory: {printable(str(run.task_dir))}")
    return "\n".join(lines) + "\n"


def _activity(run: Run) -> list[str]:
    """Return what it ran, and what it cost."""
    lines = command_lines(run.commands[:COMMANDS])
    if len(run.commands) > COMMANDS:
        lines.append(f"  … and {len(run.commands) - COMMANDS} more")
    used = usage_line(run)
    return [*(["commands:", *lines] if lines else []), *([f"usage: {used}"] if used else [])]


def _findings(run: Run, width: int | None) -> list[str]:
    """Return the diagnostics, of one code a bounded number."""
    lines: list[str] = []
    told: Counter[str] = Counter()
    for item in run.diagnostics:
        told[item.code] += 1
        if told[item.code] <= OF_A_CODE:
            message = one_line(in_options(item.message), limit=300)
            lines += _folded(f"{item.code}: {message}", width)
    return lines + [
        f"{code}: … and {count - OF_A_CODE} more like these"
        for code, count in told.items()
        if count > OF_A_CODE
    ]


def width_of(stream: object) -> int | None:
    """Return the columns of a terminal, or None for a file or a pipe."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):
        return None


def how_to_answer(event: Event, project: Path) -> str:
    """Return the command line that answers a question, or "" for what is none.

    Args:
        event: anything an agent tells; it may lie.
        project: what is delegated on.
    """
    ident = getattr(event, "id", None)
    if event.type != "question" or not isinstance(ident, str) or not _SAFE_ID.fullmatch(ident):
        return ""
    folder = caesar_root(project.absolute()) / ".caesar" / "tasks" / event.task_id
    if not _SAFE_ID.fullmatch(event.task_id) or not folder.is_dir():
        return ""
    here = Path.cwd()
    place = folder.relative_to(here) if folder.is_relative_to(here) else folder
    return printable(f'caesar-agent answer {shlex.quote(str(place))} {ident} "…"')


def show_how_to_answer(event: Event, project: Path) -> None:
    """Print it on stderr, where questions are shown too."""
    command = how_to_answer(event, project)
    if command:
        tell(f"   answer it: {command}\n")


def _folded(text: str, width: int | None) -> list[str]:
    if width is None or len(text) <= width:
        return [text]
    return textwrap.wrap(
        text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _stderr(task_dir: Path) -> list[str]:
    """Return the end of what an agent with a native stream printed on stderr."""
    name = TaskDirectory(task_dir).stderr_log.name
    return _log(name, *tail_of(task_dir, name, LOG_BYTES))


def _log(name: str, tail: bytes, size: int) -> list[str]:
    """Return the end of a log of ``size`` bytes, each line escaped; nothing of an empty one."""
    text = tail.decode("utf-8", "backslashreplace")
    lines = text.rstrip("\n").split("\n")
    if not text.strip():
        return []
    cut = len(lines) > LOG_LINES or size > LOG_BYTES
    title = f"the end of {name}" if cut else name
    shown = (printable(line.rstrip("\r"), keep="\t") for line in lines[-LOG_LINES:])
    return [
        f"{title}:",
        *(f"  | {line if len(line) <= LINE else line[: LINE - 1] + '…'}" for line in shown),
    ]
