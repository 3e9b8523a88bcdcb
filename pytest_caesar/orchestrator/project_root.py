"""Which project a folder lies in, and where the orchestrator keeps its own folder."""

from __future__ import annotations

import os
from pathlib import Path

from caesar_agent.task_directory import read_bounded
from pytest_caesar.workspace.repository_state import has_git_entry

MAX_NOTE_BYTES = 64 * 1024
"""Bytes of a file in which git notes a path; longer ones are none."""


def project_around(folder: Path) -> Path:
    """Return the project that a folder lies in.

    That is the nearest folder with a ``.caesar``, at most the top level of the repository,
    so that its agents and its policy count from everywhere in it; ``folder`` itself outside git.
    """
    around = (folder, *folder.parents)
    top = next(filter(has_git_entry, around), folder)
    return next(at for at in around if at == top or (at / ".caesar").is_dir())


def caesar_root(folder: Path) -> Path:
    """Return the folder whose ``.caesar`` holds the tasks of ``folder``.

    That is the top level of the main checkout, also for a linked worktree, so that
    tasks outlive the worktrees they were done in; ``folder`` itself outside git.
    Nothing is started: only ``.git`` and the files it names are read.
    """
    for candidate in filter(has_git_entry, (folder, *folder.parents)):
        entry = candidate / ".git"
        if entry.is_dir():
            return candidate
        if entry.is_file():
            return _main_checkout(entry) or candidate
    return folder


def _main_checkout(entry: Path) -> Path | None:
    """Follow a ``.git`` file to the checkout that its worktree was made from."""
    try:
        git_dir = (entry.parent / _text(entry).removeprefix("gitdir:").strip()).resolve()
        common = (git_dir / _text(git_dir / "commondir").strip()).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    return common.parent if common.name == ".git" else None


def _text(file: Path) -> str:
    """Return what a small file of git's says; an agent may have put anything in its place."""
    data = read_bounded(file, max_bytes=MAX_NOTE_BYTES).data
    if data is None:
        message = f"{file} is not a file of git's"
        raise ValueError(message)
    return os.fsdecode(data)
