"""What a failing test shows of its runs: bounded, and safe to print."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from caesar_agent.console import one_line, printable
from pytest_caesar.reporting.activity_lines import command_lines, usage_line
from pytest_caesar.reporting.source_advice import missing_report
from pytest_caesar.supervision.time_left import format_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from caesar_agent.diagnostics import Diagnostic
    from pytest_caesar.recovery.evidence import Recovered
    from pytest_caesar.runs.run import Run
    from pytest_caesar.sandboxes.invariants import SandboxUse
    from pytest_caesar.workspace.reconciliation import ReconciledPath

LOG_LINES = 20
"""Last lines of ``raw.log`` that are shown."""

LOG_BYTES = 8 * 1024
"""Last bytes of ``raw.log`` that are looked at for them."""

EVENTS = 12
"""Events that are shown: the last ones."""

PATHS = 20
"""Changed paths that are shown."""

COMMANDS = 12
"""Commands that are shown."""

FINDINGS = 12
"""Diagnostics that are shown."""

STEPS = 3
"""Next steps of a recovered report that are shown."""

BELOW = 12
"""Runs of other agents that are shown."""

OF_A_PATH = frozenset({"undeclared-change", "phantom-change", "wrong-action", "unverified-change"})
"""Findings that the changes tell already: they come after the others."""

APART = 2
"""Such findings of one code that are told one by one; more of them are counted."""

COLUMNS = 80
"""Columns that sentences of the harness and the agent are folded to."""

UNBROKEN = "\N{NO-BREAK SPACE}"
"""Stands between a number and its unit while a line is folded."""

COMMAND = 50
"""Characters of the agent's command line that its event shows: the last ones."""

WIDTH = 160
"""Characters of one line that an agent wrote."""


def run_section(run: Run) -> tuple[str, str]:
    """Return title and text of the section on one run."""
    lines = [
        _field("agent", run.task.agent),
        _field("objective", one_line(run.task.objective, limit=WIDTH)),
        _field("summary", one_line(run.report.summary, limit=2 * WIDTH)),
        *([_field("report", missing)] if (missing := missing_report(run)) else []),
        _field("process", process_line(run)),
        *([_field("sandbox", sandbox_line(run.sandbox))] if run.sandbox else []),
        *([_place("played back", run.recording)] if run.recording else []),
        *_changes(run),
        *_commands(run),
        *([_field("usage", used)] if (used := usage_line(run)) else []),
        *_findings(run.diagnostics),
        *_gates(run),
        *_below(run),
        *_events(run),
        *_log(run),
        _place("task directory", run.task_dir),
        _place("workspace", run.workspace),
    ]
    return (_title(run), "\n".join(lines))


def brief_section(run: Run) -> tuple[str, str]:
    """Return title and text for a run that is not shown in full."""
    return (_title(run), f"{process_line(run)}\n{_place('task directory', run.task_dir)}")


def verdict_section(recovered: Recovered, number: int) -> tuple[str, str]:
    """Return title and text of the section on one verdict of ``caesar_recover``."""
    title = (
        f"caesar_recover, verdict {number}: {recovered.status} (source: {recovered.source}"
        f"{f', as {recovered.form}' if recovered.form else ''})"
    )
    report = recovered.report
    changes = [f"  {_path(change.path)}: {change.action}" for change in report.changes]
    lines = [
        _field("summary", one_line(report.summary, limit=2 * WIDTH)),
        *(_field("next", one_line(step, limit=WIDTH)) for step in report.next_steps[:STEPS]),
        *(_listed("changes", changes, PATHS) if changes else []),
        *_findings(recovered.diagnostics),
    ]
    return (title, "\n".join(lines))


def _title(run: Run) -> str:
    return f"caesar run {run.task.id}: {run.report.status} (source: {run.source})"


def process_line(run: Run) -> str:
    """Say how the process ended."""
    outcome = run.outcome
    if outcome.signal:
        end = f"ended by {outcome.signal}"
    elif outcome.exit_code is not None:
        end = f"exit code {outcome.exit_code}"
    else:
        end = "no exit code"
    words = [end]
    if outcome.timed_out:
        words.append(f"the deadline of {format_seconds(run.task.deadline_ms)} passed")
    if outcome.killed_after_report:
        words.append("ended by the orchestrator after it had delivered its report")
    if outcome.leaked:
        names = ", ".join(
            f"{one_line(leaked.name, limit=60)} (pid {leaked.pid})" for leaked in outcome.leaked[:3]
        )
        words.append(f"{len(outcome.leaked)} left behind and ended: {names}")
    return f"{outcome.status.replace('_', ' ')}, {', '.join(words)}, {outcome.duration_ms} ms"


def sandbox_line(sandbox: SandboxUse) -> str:
    """Say what a run was made in, and how much of it was proved."""
    return f"{sandbox}; proved here: {', '.join(sandbox.held)}"


def task_directory(run: Run) -> list[str]:
    """Say where the task directory lies, in a line of an explanation."""
    return [f"task directory: {one_line(str(run.task_dir), limit=400)}"]


def _field(name: str, value: str) -> str:
    return _wrapped(f"{name + ':':<16}{value}", indent=16)


def _place(name: str, path: Path) -> str:
    return f"{name + ':':<16}{one_line(str(path), limit=4096)}"


def _wrapped(text: str, *, indent: int) -> str:
    """Fold a long line between words; a path stays in one piece."""
    return "\n".join(
        line.replace(UNBROKEN, " ")
        for line in textwrap.wrap(
            re.sub(r"(?<=\d) (?=m?s\b)", UNBROKEN, text),
            width=COLUMNS,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
        )
    )


def _listed(title: str, lines: Sequence[str], limit: int) -> list[str]:
    more = [f"  … and {len(lines) - limit} more"] if len(lines) > limit else []
    return [f"{title}:", *lines[:limit], *more]


def change_lines(run: Run) -> list[str]:
    """Say for every path what is declared and what git shows, in path order."""
    if run.changes_verified_by != "git":
        return [
            f"  {_path(change.path)}: declared {change.action}, not verified"
            for change in run.declared.changes
        ]
    return [f"  {entry_line(entry)}" for entry in run.reconciliation.entries]


def entry_line(entry: ReconciledPath) -> str:
    """Say what is declared about a path and what git shows."""
    sides = _sides(entry.declared_action, entry.observed_action)
    return f"{_path(entry.path)}: {sides}{_note(entry.verdict)}"


def _note(verdict: str) -> str:
    return "" if verdict == "matched" else f"  [{verdict.replace('-', ' ')}]"


def _sides(declared: str | None, observed: str | None) -> str:
    if declared and observed:
        same = declared == observed
        return f"{observed}, as declared" if same else f"declared {declared}, git shows {observed}"
    if observed:
        return f"git shows {observed}, not declared"
    return f"declared {declared}, git shows no change"


def _path(path: str) -> str:
    return one_line(path, limit=WIDTH)


def _changes(run: Run) -> list[str]:
    lines = change_lines(run)
    if not lines:
        return [_field("changes", "none declared, none observed")]
    nothing = "nothing was declared (no report); " if run.source == "synthesized" else ""
    return _listed(f"changes ({nothing}verified by {run.changes_verified_by})", lines, PATHS)


def _commands(run: Run) -> list[str]:
    lines = [_wrapped(line, indent=4) for line in command_lines(run.commands)]
    return _listed("commands", lines, COMMANDS) if lines else []


def _findings(found: Sequence[Diagnostic]) -> list[str]:
    of_paths = Counter(finding.code for finding in found if finding.code in OF_A_PATH)
    folded = {code for code, count in of_paths.items() if count > APART}
    lines = [
        _wrapped(f"  {finding.code}: {one_line(finding.message, limit=2 * WIDTH)}", indent=4)
        for finding in sorted(found, key=lambda finding: finding.code in OF_A_PATH)
        if finding.code not in folded
    ]
    # Each of these paths is marked among the changes already.
    lines += [f"  {code}: {of_paths[code]} paths, marked above" for code in sorted(folded)]
    return _listed("diagnostics", lines, FINDINGS) if lines else []


def _gates(run: Run) -> list[str]:
    if not run.gates:
        return []
    from pytest_caesar.gates.messages import gate_lines  # noqa: PLC0415 - seldom needed

    return ["gates:", *gate_lines(run)]


def _below(run: Run) -> list[str]:
    lines = tree_lines(run)
    return _listed("handed on to other agents", lines, BELOW) if lines else []


def tree_lines(run: Run, *, indent: int = 2) -> list[str]:
    """Say what other agents did that this one asked for, and those that they asked for."""
    lines = []
    for child in run.children:
        text = (
            f"{child.task.id} {child.task.agent}: {child.report.status} (source: {child.source}), "
            f"{process_line(child)}"
        )
        lines.append(f"{' ' * indent}{one_line(text, limit=2 * WIDTH)}")
        lines += tree_lines(child, indent=indent + 2)
    return lines


def _events(run: Run) -> list[str]:
    if not run.events:
        return [_field("events", "none")]
    lines = []
    for event in run.events[-EVENTS:]:
        extra = event.model_dump(
            mode="json", exclude={"protocol", "seq", "at", "task_id", "type"}, exclude_none=True
        )
        if event.type == "started":
            extra["command"] = _end(extra["command"])
        told = " ".join(f"{key}={value}" for key, value in extra.items() if value not in ("", []))
        line = one_line(f"{event.seq} {event.type} {told}", limit=WIDTH)
        lines.append(_wrapped(f"  {line}", indent=4))
    count = len(run.events)
    shown = f"events (the last {EVENTS} of {count})" if count > EVENTS else "events"
    return [f"{shown}:", *lines]


def _end(command: str) -> str:
    """Keep the end of a long command, where the agent's own words stand."""
    line = one_line(command, limit=4096)
    return line if len(line) <= COMMAND else f"…{line[1 - COMMAND :]}"


def _log(run: Run) -> list[str]:
    stderr = run.evidence.stderr_log
    told = _log_end("raw.log", run.raw_log) if run.raw_log else [_field("raw.log", "empty")]
    return told + (_log_end("stderr.log", stderr) if stderr.strip() else [])


def _log_end(name: str, log: bytes) -> list[str]:
    tail = log[-LOG_BYTES:].decode("utf-8", "backslashreplace")
    lines = tail.rstrip("\n").split("\n")
    cut = len(lines) > LOG_LINES or len(log) > LOG_BYTES
    title = f"the end of {name}" if cut else name
    return [
        f"{title}:",
        *(f"  | {_log_line(line)}" for line in lines[-LOG_LINES:]),
    ]


def _log_line(line: str) -> str:
    shown = printable(line.rstrip("\r")[: 2 * WIDTH], keep="\t")
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"
