"""Where the orchestrator keeps its own folder."""

from __future__ import annotations

from pathlib import Path


def caesar_root(folder: Path) -> Path:
    """Return the folder whose ``.caesar`` holds the tasks of ``folder``.

    That is the top level of the main checkout, also for a linked worktree, so that
    tasks outlive the worktrees they were done in; ``folder`` itself outside git.
    Nothing is started: only ``.git`` and the files it names are read.
    """
    for candidate in (folder, *folder.parents):
        entry = candidate / ".git"
        if entry.is_dir():
            return candidate
        if entry.is_file():
            return _main_checkout(entry) or candidate
    return folder


def _main_checkout(entry: Path) -> Path | None:
    """Follow a ``.git`` file to the checkout that its worktree was made from."""
    try:
        text = entry.read_text(encoding="utf-8", errors="surrogateescape")
        git_dir = (entry.parent / text.removeprefix("gitdir:").strip()).resolve()
        named = (git_dir / "commondir").read_text(encoding="utf-8").strip()
        common = (git_dir / named).resolve()
    except (OSError, ValueError):
        return None
    return common.parent if common.name == ".git" else None
