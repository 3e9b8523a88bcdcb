"""Runs as plain data: for the session, for JSON, for JUnit, and kept folders."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line
from caesar_agent.task_directory import TaskDirectory, open_folder, open_regular
from pytest_caesar.files.folders import copy_folder
from pytest_caesar.reporting.progress import told
from pytest_caesar.runs.record import run_as_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from pytest_caesar.runs.run import Run

MAX_PATCH = 256 * 1024
"""Bytes of a patch that a record carries; the whole patch stays in the task directory."""

MAX_EVENTS = 200
"""Events that a record carries: the last ones; the log stays in the task directory."""

MAX_LOG = 8 * 1024
"""Bytes at the end of ``raw.log`` and of ``stderr.log`` that a record carries."""

MAX_BRIEF = 16 * 1024
"""Characters of a brief that a record carries."""


def record(
    run: Run,
    *,
    number: int,
    report: pytest.TestReport,
    whole: bool,
    trial: int | None = None,
) -> dict[str, Any]:
    """Return what a session keeps of one run, as JSON types alone.

    Args:
        run: what came of a delegation.
        number: 1 for the first run of this execution of the test.
        report: the test report that it travels with.
        trial: which trial of its test it was, or None.
        whole: all that ``--caesar-json`` writes; otherwise what is counted at the end.
    """
    counted: dict[str, Any] = {
        "test": report.nodeid,
        "phase": report.when,
        "number": number,
        **({"trial": trial} if trial is not None else {}),
        "status": run.report.status,
        "source": str(run.source),
        "process": run.outcome.status,
        **_used(run),
    }
    if run.recording is not None:
        counted["recording"] = str(run.recording)
    if run.children:
        counted["below"] = [
            {
                "status": one.report.status,
                "source": str(one.source),
                "process": one.outcome.status,
                **_used(one),
            }
            for one in run.tree[1:]
        ]
    if not whole:
        return counted
    plain: dict[str, Any] = _plain({**counted, **_whole(run)})
    return plain


def _used(run: Run) -> dict[str, Any]:
    """Return what is summed at the end, as far as it is known."""
    used = {"tokens": run.usage.total_tokens, "cost_usd": run.usage.cost_usd}
    known = {name: number for name, number in used.items() if number is not None}
    return {**known, **({"at_least": True} if run.usage.at_least else {})}


def _whole(run: Run) -> dict[str, Any]:
    """Return all that is kept of a run, and as much of those that it asked for."""
    patch = bytes(run.patch)
    stderr, stderr_bytes = _stderr(run)
    return {
        "mode": run.task.mode,
        "isolation": run.task.isolation,
        "objective": run.task.objective,
        "deadline_ms": run.task.deadline_ms,
        "brief": run.brief[:MAX_BRIEF],
        **run_as_json(run),
        "declared": [change.model_dump(mode="json") for change in run.declared.changes],
        "wrong_action": [entry.path for entry in run.reconciliation.wrong_action],
        "unverified": [entry.path for entry in run.reconciliation.unverified],
        "questions": [question.as_dict() for question in run.questions],
        "events": _count(event.type for event in run.events),
        "timeline": [
            {"at": event.at, "type": event.type, "text": told(event)}
            for event in run.events[-MAX_EVENTS:]
        ],
        "log_end": run.raw_log[-MAX_LOG:].decode("utf-8", "backslashreplace"),
        "log_bytes": run.evidence.raw_log_offset + len(run.raw_log),
        "stderr_end": stderr,
        "stderr_bytes": stderr_bytes,
        "patch": patch[:MAX_PATCH].decode("utf-8", "backslashreplace"),
        "patch_bytes": len(patch),
        "children": [_whole(child) for child in run.children],
    }


def _stderr(run: Run) -> tuple[str, int]:
    """Return the end of what an agent with a native stream printed on stderr, and its size."""
    name = TaskDirectory(run.task_dir).stderr_log.name
    try:
        with open_folder(run.task_dir) as folder:
            descriptor, _ = open_regular(Path(name), dir_fd=folder)
    except OSError:
        return "", 0
    if descriptor is None:
        return "", 0
    with os.fdopen(descriptor, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MAX_LOG))
        return file.read(MAX_LOG).decode("utf-8", "backslashreplace"), size


def _count(names: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _plain(value: Any) -> Any:
    """Return JSON types alone; lone surrogates, which no encoder takes, as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def junit_property(run: Run) -> tuple[str, str]:
    """Return one property for the JUnit report: task, agent, source and status."""
    return (
        "caesar.run",
        one_line(
            f"{run.task.id} {run.task.agent} source={run.source} status={run.report.status} "
            f"process={run.outcome.status}"
        ),
    )


def keep(runs: Iterable[Run], folder: Path, report: pytest.TestReport) -> list[str]:
    """Copy task directories to ``folder/<test>/<task id>``; links are kept as links.

    Args:
        runs: what is kept, with all that other agents did below each.
        folder: where.
        report: on the test; a section tells it of every run that could not be copied.

    Returns:
        Why runs could not be copied.
    """
    found = []
    for run in runs:
        problems = [_keep_one(one, folder, report.nodeid) for one in run.tree]
        problem = "; ".join(filter(None, problems))
        if problem:
            found.append(problem)
            report.sections.append((f"caesar run {run.task.id}: not kept", problem))
    return found


def _keep_one(run: Run, folder: Path, nodeid: str) -> str | None:
    name = re.sub(r"[^A-Za-z0-9_.\[\]-]+", "-", nodeid).strip("-.")[:120] or "test"
    target = folder / name / run.task.id
    number = 1
    while os.path.lexists(target):
        number += 1
        target = folder / name / f"{run.task.id}-{number}"
    try:
        left_out = copy_folder(run.task_dir, target)
    except OSError as error:
        return f"{run.task_dir} could not be copied to {target}: {error}"
    return (
        f"{run.task_dir} was not copied whole to {target}: without {left_out}" if left_out else None
    )
