"""The folder of one task, made so that a refusal leaves nothing of it behind."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.workspace.naming import shown


def make_task_directory(
    tasks: Path, task_id: str, *, undo: contextlib.ExitStack, closing: contextlib.ExitStack
) -> TaskDirectory:
    """Make a task directory, and what leads to it.

    Args:
        tasks: the folder for those of a project, ``.caesar/tasks``.
        task_id: safe as a file name.
        undo: takes away again what was made.
        closing: closes the descriptor through which the folder is found again.

    Raises:
        DelegationError: it exists already, or something is in its way.
    """
    try:
        return _make(tasks, task_id, undo, closing)
    except OSError as error:
        raise DelegationError(
            problem=f"no task directory could be made in {shown(str(tasks))}: {_cause(tasks, error)}"
        ) from error


def _make(
    tasks: Path, task_id: str, undo: contextlib.ExitStack, closing: contextlib.ExitStack
) -> TaskDirectory:
    for folder in (tasks.parent, tasks):
        # Another delegation may make it at the same moment.
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            undo.callback(_remove_empty, folder)
    ignore = tasks / ".gitignore"
    # Exclusively: an earlier agent may have left a link of that name to anywhere.
    with contextlib.suppress(FileExistsError), ignore.open("x", encoding="utf-8") as file:
        undo.callback(_remove_alone, ignore)
        file.write("*\n")
    path = tasks / task_id
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        raise DelegationError(
            problem=f"the task directory {path} exists already: task ids must be new"
        ) from None
    undo.callback(shutil.rmtree, path, ignore_errors=True)
    parent = os.open(tasks, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    closing.callback(_close, parent)
    return TaskDirectory(path, parent)


def _cause(tasks: Path, error: OSError) -> str:
    """Say what is in the way, left by an earlier agent maybe, or what the system said."""
    for folder in (tasks.parent, tasks):
        if os.path.lexists(folder) and not folder.is_dir():
            what = "a link that leads to no folder" if folder.is_symlink() else "not a folder"
            return f"{shown(str(folder))} is {what}; remove it and try again"
    return f"{error.strerror or error}; make room or give write access, and try again"


def _close(descriptor: int) -> None:
    """Close a descriptor that an agent in this process may have closed already."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _remove_alone(ignore: Path) -> None:
    """Take a ``.gitignore`` away again where nothing else came to lie beside it."""
    if [entry.name for entry in ignore.parent.iterdir()] == [ignore.name]:
        ignore.unlink()
