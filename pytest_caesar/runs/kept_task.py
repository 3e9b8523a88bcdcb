"""What a delegation left in its folder, read as evidence: ours, the reference's, or made by hand."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Change
from caesar_agent.documents.task import Task
from caesar_agent.errors import CaesarError, DocumentError
from caesar_agent.events.reading import read_events
from caesar_agent.task_directory import (
    MAX_DOCUMENT_BYTES,
    TaskDirectory,
    open_regular,
    read_bounded,
)
from pytest_caesar.agents.launch import FINAL_MESSAGE
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.sources import MAX_LOG_BYTES
from pytest_caesar.runs.brief import render_brief
from pytest_caesar.runs.record import RECORD_NAME
from pytest_caesar.supervision.logs import MAX_STDERR_BYTES, tail_of

SCHEMA_NAME = "report.schema.json"
"""A schema in the folder: the CLI was asked for a structured final message."""

_MADE_BY_ORCHESTRATOR = frozenset({"extracted", "synthesized"})
"""Sources of a report that the reference orchestrator writes to report.json itself."""


class TaskDirectoryError(CaesarError):
    """A path that was given as a task directory is none.

    Attributes:
        path: what was given.
        problem: what is wrong with it.
    """

    path: Path
    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return (
            f"{self.path}: {self.problem}; expected the folder of one task, "
            "such as .caesar/tasks/t_0001"
        )


@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder holds.

    Attributes:
        evidence: for recovery.
        diagnostics: what could not be read on the way.
    """

    evidence: Evidence
    diagnostics: tuple[Diagnostic, ...] = ()


def read_folder(path: Path) -> Folder:
    """Read what a delegation left behind: ours, the reference's, or made by hand.

    Raises:
        TaskDirectoryError: the path is no folder.
    """
    if not path.is_dir():
        found = "it is not a folder" if path.exists() else "there is nothing of that name"
        raise TaskDirectoryError(path=path, problem=found)
    directory = TaskDirectory(path.absolute())
    task, diagnostics = _task(directory)
    log, offset, log_problem = _log_tail(directory.raw_log)
    if log_problem is not None:
        diagnostics.append(log_problem)
    report, submission = directory.read_report(), directory.read_submission()
    report_file = report.data
    record = _json_object(directory.path / RECORD_NAME, diagnostics)
    message = directory.read(FINAL_MESSAGE)
    schema = _read(directory.path / SCHEMA_NAME, diagnostics)
    state = _state(directory.path)
    made = state.get("report_source")
    if report_file is not None and isinstance(made, str) and made in _MADE_BY_ORCHESTRATOR:
        report_file = None
        diagnostics.append(
            Diagnostic(
                code="report-file-not-the-agents",
                message="report.json was written by the orchestrator, which says that it was "
                f"{made}; it is not read as the agent's",
                path=str(directory.report_file),
            )
        )
    evidence = Evidence(
        task_id=task.id if task else "",
        mode=task.mode if task else "write",
        raw_log=log,
        raw_log_offset=offset,
        stderr_log=tail_of(directory.path, directory.stderr_log.name, MAX_STDERR_BYTES)[0],
        brief=render_brief(task) if task else None,
        report_file=report_file,
        report_file_problem=report.problem,
        submission=submission.data,
        submission_problem=submission.problem,
        final_message=message.data,
        final_message_problem=message.problem,
        schema_expected=schema is not None,
        changes=_changes(record),
    )
    return Folder(replace(evidence, **_ending(directory, record, state)), tuple(diagnostics))


def _task(directory: TaskDirectory) -> tuple[Task | None, list[Diagnostic]]:
    reading = directory.read_task()
    if reading.problem is not None:
        return None, [reading.problem]
    path = str(directory.task_file)
    if reading.data is None:
        message = "there is no task.json: a report of any task is taken"
        return None, [Diagnostic(code="task-missing", message=message, path=path)]
    try:
        return Task.parse(reading.data), []
    except DocumentError as error:
        where = f"{error.where}: " if error.where else ""
        message = (
            f"task.json cannot be read, so a report of any task is taken: {where}{error.problem}"
        )
        return None, [Diagnostic(code="task-invalid", message=message, path=path)]


def _log_tail(path: Path) -> tuple[bytes, int, Diagnostic | None]:
    descriptor, problem = open_regular(path)
    if descriptor is None:
        return b"", 0, problem
    with os.fdopen(descriptor, "rb") as file:
        start = max(0, os.fstat(descriptor).st_size - MAX_LOG_BYTES)
        file.seek(start)
        return file.read(MAX_LOG_BYTES), start, None


def _ending(
    directory: TaskDirectory, record: dict[str, Any], state: dict[str, Any]
) -> dict[str, Any]:
    """Return how the process ended: from our record, the reference's, or the event log."""
    outcome = record.get("outcome")
    if isinstance(outcome, dict):
        return {
            "exit_code": _integer(outcome.get("exit_code")),
            "signal": outcome.get("signal") if isinstance(outcome.get("signal"), str) else None,
            "timed_out": outcome.get("timed_out") is True,
            "cancelled": outcome.get("status") == "cancelled",
            "killed_after_report": outcome.get("killed_after_report") is True,
        }
    if state:
        return {
            "exit_code": _integer(state.get("exit_code")),
            "timed_out": state.get("status") == "timed_out",
            "cancelled": state.get("status") == "cancelled",
        }
    for event in reversed(read_events(directory.events_file).events):
        if event.type == "finished":
            code = _integer(getattr(event, "exit_code", None))
            if code is not None:
                return {"exit_code": code}
    return {"exit_code": None}


def _state(path: Path) -> dict[str, Any]:
    """Return what the reference orchestrator keeps of a task beside its folder, if it does."""
    return _json_object(path.parent.parent / "state" / "tasks" / f"{path.name}.json", [])


def _changes(record: dict[str, Any]) -> tuple[Change, ...] | None:
    if record.get("changes_verified_by") != "git" or not isinstance(record.get("changes"), list):
        return None
    try:
        return tuple(
            Change.model_validate({"path": item["path"], "action": item["action"]})
            for item in record["changes"]
        )
    except (KeyError, TypeError, ValueError):
        return None


def _json_object(path: Path, diagnostics: list[Diagnostic]) -> dict[str, Any]:
    data = _read(path, diagnostics)
    if data is None:
        return {}
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _read(path: Path, diagnostics: list[Diagnostic]) -> bytes | None:
    reading = read_bounded(path, max_bytes=MAX_DOCUMENT_BYTES)
    if reading.problem is not None:
        diagnostics.append(reading.problem)
    return reading.data


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
