"""What an agent starts from: the variables of the contract and the task they name."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from caesar_agent.console import printable
from caesar_agent.documents.task import Task
from caesar_agent.errors import DocumentError, StartError, UnsupportedVersionError

MAX_TASK_BYTES = 64 << 20
"""Largest task that is read; contexts of hundreds of kilobytes are usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where one agent begins.

    Attributes:
        task: what to do.
        report: where the report goes. ``$CAESAR_REPORT_PATH`` counts, also where
            ``task.report_path`` says otherwise: the variables are the contract.
        events: where events go, or None when ``$CAESAR_EVENTS_PATH`` is not set.
        directory: ``$CAESAR_TASK_DIR``, or else the folder of the task file.
    """

    task: Task
    report: Path
    events: Path | None
    directory: Path


def read_start(environ: Mapping[str, str]) -> Start:
    """Read the task that the environment names.

    Raises:
        StartError: a variable is missing, or the task is not there, too large, no
            task, or of another version.

    Source: OACP specification, "Variables d'environnement" and "Gestion des versions".
    """
    task_file = _required(environ, "CAESAR_TASK_FILE", "the task.json to read")
    report = _required(environ, "CAESAR_REPORT_PATH", "where to write the report")
    events = environ.get("CAESAR_EVENTS_PATH")
    directory = environ.get("CAESAR_TASK_DIR")
    return Start(
        task=_read_task(task_file),
        report=report,
        events=Path(events).absolute() if events else None,
        directory=Path(directory).absolute() if directory else task_file.parent,
    )


def _required(environ: Mapping[str, str], name: str, meaning: str) -> Path:
    value = environ.get(name)
    if not value:
        raise StartError(
            problem=f"{name} is {'not set' if value is None else 'empty'}: it must name {meaning}; "
            "an orchestrator sets it, and `pytest-caesar run AGENT OBJECTIVE` does so by hand"
        )
    return Path(value).absolute()


def _read_task(path: Path) -> Task:
    shown = printable(str(path))
    try:
        data = _read(path)
    except OSError as error:
        raise StartError(
            problem=f"the task {shown} cannot be read: {error.strerror or error}; "
            "CAESAR_TASK_FILE must name the task.json of the orchestrator"
        ) from error
    try:
        return Task.parse(data)
    except DocumentError as error:
        if isinstance(error, UnsupportedVersionError) and error.code == "unsupported-version":
            raise StartError(
                problem=f"the task {shown} has protocol {printable(repr(error.found), limit=80)}, and "
                f"this agent understands {error.expected!r} only; it needs another version of this "
                "SDK, or an orchestrator that speaks this one"
            ) from error
        raise StartError(
            problem=f"the task {shown} is not a task: {printable(str(error), limit=500)}; "
            "the orchestrator that wrote it has to be put right"
        ) from error


def _read(path: Path) -> bytes:
    # Without O_NONBLOCK a named pipe in its place would hold the agent for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("it is not a regular file")
        data = file.read(MAX_TASK_BYTES + 1)
    if len(data) > MAX_TASK_BYTES:
        raise OSError(f"it is larger than {MAX_TASK_BYTES} bytes")
    return data
