"""A run as JSON, and what is kept of it in the task directory."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.layout import readable
from caesar_agent.documents.timestamps import format_timestamp
from caesar_agent.errors import CaesarError
from caesar_agent.task_directory import MAX_DOCUMENT_BYTES, TaskDirectory, read_bounded
from pytest_caesar.recovery.tool_call import ToolCall
from pytest_caesar.runs.command_reconciliation import Command
from pytest_caesar.runs.permission import Permission
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.leftovers import Saved
from pytest_caesar.workspace.values import Workspace

RECORD_NAME = "run.json"
"""What became of a delegation, beside the documents of the contract."""

PATCH_NAME = "changes.patch"
"""The changes against ``base_ref``, as ``git apply --binary`` takes them."""

MAX_RECORD_BYTES = MAX_DOCUMENT_BYTES
"""Size of a record that is read at most, in bytes."""

MAX_PATCH_BYTES = 2**30
"""Size of a patch that is read at most, in bytes: 1 GiB."""


class RecordError(CaesarError):
    """A task directory holds no record of a finished delegation.

    Attributes:
        task_dir: the folder that was looked at.
        problem: what is missing or wrong, and what to do.
    """

    task_dir: Path
    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return f"{self.task_dir}: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What ``diff`` and ``apply`` need long afterwards.

    Attributes:
        task_id: the task.
        verified: git could tell what changed.
        patch: the changes, without placed paths.
        repository: the user's repository, or None outside git.
        unpatched: paths that it changed and no patch can carry.
        workspace: where it worked.
        saved: what there is to know of a worktree that was made for it, or None.
    """

    task_id: str
    verified: bool
    patch: bytes
    repository: Path | None
    unpatched: tuple[str, ...] = ()
    workspace: str = ""
    saved: Saved | None = None


def run_as_json(run: Run) -> dict[str, Any]:
    """Return a run as one JSON object; paths that are not UTF-8 keep their bytes as escapes."""
    return {
        "task_id": run.task.id,
        "agent": run.task.agent,
        "source": str(run.source),
        "form": run.form,
        "report": run.report.dump(),
        "changes_verified_by": run.changes_verified_by,
        "changes": [
            {
                "path": change.path,
                "action": change.action,
                "outside": change.outside,
                **({"old_path": change.old_path} if change.old_path else {}),
                **({"kind": change.kind} if change.kind != "file" else {}),
                **({"note": change.note} if change.note else {}),
            }
            for change in run.changes
        ],
        "commands": [_command_as_json(command) for command in run.commands],
        "tool_calls": [_call_as_json(call) for call in run.tool_calls],
        "usage": run.usage.as_dict(),
        **({"total_usage": run.total_usage.as_dict()} if run.children else {}),
        "undeclared": [entry.path for entry in run.reconciliation.undeclared],
        "phantom": [entry.path for entry in run.reconciliation.phantom],
        "outcome": {
            "status": run.outcome.status,
            "exit_code": run.outcome.exit_code,
            "signal": run.outcome.signal,
            "timed_out": run.outcome.timed_out,
            "killed_after_report": run.outcome.killed_after_report,
            "duration_ms": run.outcome.duration_ms,
            "leaked": [{"pid": item.pid, "name": item.name} for item in run.outcome.leaked],
        },
        "diagnostics": [item.as_dict() for item in run.diagnostics],
        **(
            {"permissions": [_permission_as_json(one) for one in run.permissions]}
            if run.permissions
            else {}
        ),
        **(
            {
                "sandbox": {
                    "name": run.sandbox.name,
                    "version": run.sandbox.version,
                    "held": list(run.sandbox.held),
                }
            }
            if run.sandbox
            else {}
        ),
        **({"gates": [gate.dump() for gate in run.gates]} if run.gates else {}),
        "children": [run_as_json(child) for child in run.children],
        "task_dir": str(run.task_dir),
        "workspace": str(run.workspace),
        "error": None,
    }


def _command_as_json(command: Command) -> dict[str, Any]:
    return {
        "command": command.command,
        "declared_exit_code": command.declared_exit_code,
        "observed_exit_code": command.observed_exit_code,
        "verdict": command.verdict,
        "witnesses": list(command.witnesses),
        "started_at": _time(command.started_at),
        "duration": command.duration,
        "changed_after": None if command.changed_after is None else list(command.changed_after),
    }


def _permission_as_json(permission: Permission) -> dict[str, Any]:
    return {
        "kind": permission.request.kind,
        "texts": list(permission.request.texts),
        "allowed": permission.allowed,
        "reason": permission.reason,
    }


def _call_as_json(call: ToolCall) -> dict[str, Any]:
    """Return a call without its arguments and output, which may hold anything."""
    return {
        "tool": call.tool,
        "status": call.status,
        "exit_code": call.exit_code,
        "at": _time(call.at),
        "duration": call.duration,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_timestamp(moment)


def failure_as_json(error: CaesarError, *, agent: str) -> dict[str, Any]:
    """Return the object of ``run_as_json`` for a delegation that could not be started."""
    empty = dict.fromkeys(
        ("task_id", "source", "form", "report", "changes_verified_by", "usage", "outcome",
         "task_dir", "workspace")
    )  # fmt: skip
    lists: dict[str, Any] = {
        name: []
        for name in (
            "changes",
            "commands",
            "tool_calls",
            "undeclared",
            "phantom",
            "diagnostics",
            "children",
        )
    }
    return {
        **empty,
        **lists,
        "agent": agent,
        "error": {"kind": type(error).__name__, "message": str(error)},
    }


def write_record(
    run: Run,
    *,
    directory: TaskDirectory,
    workspace: Workspace,
) -> None:
    """Keep the run and its patch in the task directory, after the agent is gone.

    Raises:
        OSError: the task directory is gone, was replaced or cannot be written.
    """
    repository = workspace.project_repository
    value = {
        **run_as_json(run),
        "repository": str(repository) if repository else None,
        "unpatched": list(run.observation.unpatched),
        "worktree": _worktree_as_json(run, workspace),
    }
    directory.write(PATCH_NAME, bytes(run.patch))
    directory.write(RECORD_NAME, (readable(value) + "\n").encode())


def keep_record(run: Run, *, directory: TaskDirectory, workspace: Workspace) -> Run:
    """Keep the run in its task directory; where the agent took that away, the run says so."""
    try:
        write_record(run, directory=directory, workspace=workspace)
    except OSError as error:
        lost = Diagnostic(
            code="record-unwritable",
            message=f"the run could not be kept in its task directory: {error.strerror or error}",
            path=str(run.task_dir),
        )
        return replace(run, diagnostics=(*run.diagnostics, lost))
    return run


def _worktree_as_json(run: Run, workspace: Workspace) -> dict[str, Any] | None:
    """Return what ``pytest-caesar clean`` must know of a worktree that was made for the task."""
    if workspace.branch is None or workspace.repository is None:
        return None
    return {
        "branch": workspace.branch,
        "base_ref": workspace.base_ref,
        "head": run.observation.head,
        "prefix": os.path.relpath(workspace.path, workspace.repository),
        "placed": list(workspace.placed),
        "unpatched": list(run.observation.unpatched),
    }


def _saved(value: dict[str, Any], task_dir: Path, patch: bytes) -> Saved | None:
    made = value.get("worktree")
    if made is None:
        return None
    return Saved(
        branch=str(made["branch"]),
        base_ref=str(made["base_ref"]),
        head=made["head"],
        prefix=str(made["prefix"]),
        placed=tuple(map(str, made["placed"])),
        patch=patch,
        unpatched=tuple(map(str, made["unpatched"])),
        moment=(task_dir / RECORD_NAME).lstat().st_ctime_ns,
    )


def read_record(task_dir: Path) -> Record:
    """Read what ``write_record`` kept.

    Raises:
        RecordError: the folder is not a task directory, or the delegation never ended.
    """
    if not task_dir.is_dir():
        raise RecordError(task_dir=task_dir, problem="there is no such task directory")
    try:
        value = json.loads(_read(task_dir, RECORD_NAME, MAX_RECORD_BYTES))
        patch = _read(task_dir, PATCH_NAME, MAX_PATCH_BYTES)
        repository = value["repository"]
        return Record(
            task_id=value["task_id"],
            verified=value["changes_verified_by"] == "git",
            patch=patch,
            repository=Path(repository) if repository else None,
            unpatched=tuple(map(str, value.get("unpatched", ()))),
            workspace=str(value.get("workspace", "")),
            saved=_saved(value, task_dir, patch),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordError(
            task_dir=task_dir, problem=f"{RECORD_NAME} is not a record of a run: {error}"
        ) from error


def _read(task_dir: Path, name: str, max_bytes: int) -> bytes:
    """Read a file that the agent's last process may have put something else in place of."""
    reading = read_bounded(task_dir / name, max_bytes=max_bytes)
    if reading.data is not None:
        return reading.data
    if reading.problem is not None:
        raise RecordError(task_dir=task_dir, problem=reading.problem.message)
    raise RecordError(
        task_dir=task_dir,
        problem=f"{name} is missing: the delegation has not ended, "
        "or another orchestrator made this folder",
    )
