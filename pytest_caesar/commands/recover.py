"""``pytest-caesar recover TASK_DIR``: what an orchestrator would have made of a folder."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line, printable
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents import Change, Task
from caesar_agent.errors import CaesarError, DocumentError
from caesar_agent.events.reading import read_events
from caesar_agent.task_directory import (
    MAX_DOCUMENT_BYTES,
    TaskDirectory,
    open_regular,
    read_bounded,
)
from pytest_caesar.agents.launch import FINAL_MESSAGE
from pytest_caesar.orchestrator.brief import render_brief
from pytest_caesar.recovery.evidence import Evidence, Recovered
from pytest_caesar.recovery.passages import PLAIN
from pytest_caesar.recovery.streams import DIALECTS
from pytest_caesar.recovery.tiers import MAX_LOG_BYTES, recover
from pytest_caesar.runs.record import RECORD_NAME
from pytest_caesar.session.kept_logs import speaks_against

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers

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


class BriefFileError(CaesarError):
    """A file that was given as the brief cannot be read.

    Attributes:
        path: what was given.
        problem: what the system said.
    """

    path: Path
    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return (
            f"{self.path}: {self.problem}; expected a file with the brief as it was sent "
            "(without --brief it is rendered from task.json)"
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


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "recover",
        help="recover the report from the folder of a task",
        description="Recover the report from what a delegation left in its folder, as an "
        "orchestrator does. Exit code: 0 when the agent reported, 1 when the report had to be "
        "synthesized, 2 for usage.",
    )
    parser.add_argument("task_dir", metavar="TASK_DIR", type=Path)
    parser.add_argument(
        "--brief", type=Path, metavar="FILE",
        help="the brief as it was sent (default: rendered from task.json)",
    )  # fmt: skip
    parser.add_argument(
        "--dialect", choices=(*DIALECTS, PLAIN), metavar="NAME",
        help=f"native stream of the log: {', '.join(DIALECTS)}, or {PLAIN} (default: detected)",
    )  # fmt: skip
    parser.add_argument(
        "--exit-code", type=int, metavar="N",
        help="how the process ended (default: what the folder says)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Recover, and print the verdict."""
    folder = read_folder(args.task_dir)
    evidence = folder.evidence
    if args.brief is not None:
        evidence = replace(evidence, brief=_brief(args.brief))
    if args.dialect is not None:
        evidence = replace(evidence, dialect=args.dialect)
    if args.exit_code is not None:
        evidence = replace(evidence, exit_code=args.exit_code, signal=None, timed_out=False)
    recovered = recover(evidence)
    told = (*folder.diagnostics, *recovered.diagnostics, *speaks_against(recovered, evidence))
    if args.json:
        sys.stdout.write(json.dumps(_as_json(recovered, told), indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _as_lines(recovered, told)))
    return 1 if recovered.source == "synthesized" else 0


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
        message = f"task.json cannot be read, so a report of any task is taken: {error.problem}"
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


def _brief(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        problem = f"cannot be read as a brief: {error.strerror}"
        raise BriefFileError(path=path, problem=problem) from None


def _as_json(recovered: Recovered, told: tuple[Diagnostic, ...]) -> dict[str, Any]:
    return {
        "source": recovered.source,
        "form": recovered.form,
        "report": recovered.report.dump(),
        "diagnostics": [diagnostic.as_dict() for diagnostic in told],
        "offsets": list(recovered.offsets) if recovered.offsets else None,
    }


def _as_lines(recovered: Recovered, told: tuple[Diagnostic, ...]) -> list[str]:
    where = f", as {recovered.form}" if recovered.form else ""
    if recovered.offsets:
        where += f" at bytes {recovered.offsets[0]}-{recovered.offsets[1]} of raw.log"
    report = recovered.report
    lines = [
        f"source   {recovered.source}{where}",
        f"status   {report.status}",
        f"summary  {one_line(report.summary, limit=1000)}",
    ]
    lines += [f"next     {one_line(step, limit=300)}" for step in report.next_steps]
    lines += [f"{found.code}: {printable(found.message)}" for found in told]
    return lines
