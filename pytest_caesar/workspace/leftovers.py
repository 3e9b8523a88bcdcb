"""What tasks left in a repository once they are over: worktrees, branches, refs."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path

from pytest_caesar.workspace import baseline_tree
from pytest_caesar.workspace.errors import IsolationError
from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.naming import named, shown
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.observer import discard, new_folder
from pytest_caesar.workspace.repository_state import locate, survey
from pytest_caesar.workspace.state_before import read_plain_file
from pytest_caesar.workspace.values import Workspace
from pytest_caesar.workspace.worktree import notes_of, take_away

INITIALIZING = "initializing"
"""Reason for which a worktree is locked while its files are written, by git and by us."""

OWN_BRANCHES = "refs/heads/caesar/"
"""Only such branches are ever deleted, whatever a record says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What was kept of a finished task that had a worktree of its own.

    Attributes:
        branch: made for it.
        base_ref: commit that it started from.
        head: commit that HEAD stood on in the end, or None.
        prefix: the workspace relative to the worktree, "" when it is the same folder.
        placed: paths in the workspace that are not the agent's work.
        patch: what it changed.
        unpatched: what it changed and no patch can carry.
        moment: when all of it was saved, in ns.
    """

    branch: str
    base_ref: str
    head: str | None
    prefix: str
    placed: tuple[str, ...]
    patch: bytes
    unpatched: tuple[str, ...]
    moment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """What is there of one task.

    Attributes:
        task_id: whose.
        worktree: its folder, or None.
        branch: full name of its branch, or None.
        refs: every ref of it and the commit it names.
    """

    task_id: str
    worktree: Path | None
    branch: str | None
    refs: dict[str, str]

    def __bool__(self) -> bool:
        """Say whether there is anything at all."""
        return self.worktree is not None or bool(self.refs)


class Leftovers:
    """Everything that tasks left in one repository, looked up once.

    Args:
        top: top level of the checkout that the tasks were delegated on.

    Raises:
        IsolationError: git cannot work with the repository.
    """

    def __init__(self, top: Path) -> None:
        self.top = top
        checkout = locate(top)
        self.common_dir = None if checkout is None else checkout.common_dir
        self._refs: dict[str, str] = {}
        self._notes: dict[Path, Path] = {}
        if self.common_dir is None:
            return
        lines = (
            Git(top)
            .run(
                "for-each-ref",
                "--format=%(objectname) %(refname)",
                OWN_BRANCHES.rstrip("/"),
                "refs/caesar",
            )
            .lines
        )
        for line in lines:
            commit, _, name = line.partition(" ")
            self._refs[name] = commit
        for folder in sorted((self.common_dir / "worktrees").glob("*")):
            text = os.fsdecode(read_plain_file(folder / "gitdir", 8192) or b"").strip()
            if text.endswith("/.git"):
                self._notes[Path(text).parent] = folder

    def task_ids(self) -> tuple[str, ...]:
        """Return the tasks that have a worktree of ours, or a ref."""
        folder = self.top / ".caesar" / "wt"
        found = {path.parent.name: None for path in folder.glob("*/.git")}
        found |= {name[12:]: None for name in self._refs if name.startswith("refs/caesar/")}
        return tuple(sorted(found))

    def of(self, task_id: str, branch: str | None) -> Leftover:
        """Return what is there of one task.

        Args:
            task_id: safe as a file name.
            branch: as recorded; None takes the one that the worktree stands on.
        """
        top = self.top / ".caesar" / "wt" / task_id
        notes = self._notes_of(top)
        ref = f"refs/heads/{branch}" if branch is not None else _head(notes)
        if not ref.startswith(OWN_BRANCHES) or ref not in self._refs:
            ref = ""
        names = [name for name in (ref, f"refs/caesar/{task_id}") if name in self._refs]
        return Leftover(
            task_id=task_id,
            worktree=top if os.path.lexists(top) else None,
            branch=ref or None,
            refs={name: self._refs[name] for name in names},
        )

    def unsaved(self, leftover: Leftover, saved: Saved) -> str:
        """Say why removing it would lose something; "" when all of it is saved."""
        branch = leftover.branch
        if branch is not None:
            commit = leftover.refs[branch]
            if commit not in (saved.head, saved.base_ref):
                return f"branch {branch[11:]} has moved to {commit[:12]} since"
            for top, notes in self._notes.items():
                if top != leftover.worktree and _head(notes) == branch:
                    return f"branch {branch[11:]} is checked out in {shown(str(top))}"
            if self.common_dir is not None and _head(self.common_dir) == branch:
                return f"branch {branch[11:]} is checked out in {shown(str(self.top))}"
        worktree = leftover.worktree
        return "" if worktree is None else self._unsaved_files(worktree, saved)

    def _unsaved_files(self, top: Path, saved: Saved) -> str:
        if top.is_symlink() or not top.is_dir():
            return "something else took the place of its worktree"
        if saved.unpatched:
            return f"no patch can carry {named(saved.unpatched)}"
        newer = newer_than(top, saved.moment)
        if newer is not None and not self._is_as_saved(top, saved):
            return f"{shown(newer)} was changed after the task had ended"
        return ""

    def _notes_of(self, top: Path) -> Path | None:
        return None if self.common_dir is None else notes_of(top, self.common_dir)

    def locked(self, leftover: Leftover, *, force: bool = False) -> str:
        """Say why the worktree must not be touched, or "".

        Args:
            leftover: of a task.
            force: a checkout that was broken off, and locked while it was made, may be.
        """
        if leftover.worktree is not None:
            for folder in (leftover.worktree.parent.parent, leftover.worktree.parent):
                if folder.is_symlink():
                    return f"{shown(str(folder))} is a link, and nothing behind it is removed"
        notes = self._notes_of(leftover.worktree) if leftover.worktree else None
        if notes is None or not os.path.lexists(notes / "locked"):
            return ""
        reason = os.fsdecode(read_plain_file(notes / "locked", 4096) or b"").strip()
        if reason == INITIALIZING:
            if force:
                return ""
            return "its checkout was broken off, or goes on; --force removes it"
        said = f" ({shown(reason[:200])})" if reason else ""
        where = shown(str(leftover.worktree))
        return f"somebody locked its worktree{said}; git worktree unlock {where} releases it"

    def clear(self, leftover: Leftover) -> tuple[str, ...]:
        """Remove worktree, branch and refs of a task; return what was removed, in words."""
        if self.common_dir is None:
            return ()
        take_away(leftover.worktree, self.common_dir, leftover.refs)
        words = ["worktree"] if leftover.worktree is not None else []
        words += [f"branch {name[11:]}" for name in leftover.refs if name == leftover.branch]
        words += [name for name in leftover.refs if name != leftover.branch]
        return tuple(words)

    def _is_as_saved(self, top: Path, saved: Saved) -> bool:
        """Look at every file again: touched is not changed."""
        room = new_folder(top.parent / ".no-such-folder")
        try:
            checkout = locate(top)
            _, settings = survey(self.top)
            if checkout is None or checkout.top != top.resolve():
                return False
            excluded = tuple(
                os.fsencode(posixpath.normpath(posixpath.join(saved.prefix, path)))
                for path in saved.placed
            )
            snapshot = baseline_tree.of_commit(
                checkout,
                settings,
                base=saved.base_ref,
                excluded=excluded,
                pristine=False,
                room=room,
            )
            observation = observe(
                Workspace(
                    path=top,
                    repository=top,
                    project_repository=self.top,
                    isolation="worktree",
                    base_ref=saved.base_ref,
                    snapshot=snapshot,
                )
            )
        except (GitError, IsolationError, OSError, ValueError):
            return False
        finally:
            discard(room)
        same = bytes(observation.patch) == saved.patch
        return observation.verified and same and not observation.unpatched


def newer_than(top: Path, moment: int) -> str | None:
    """Return what was touched at ``moment`` (ns) or after it, a file rather than its folder.

    Links are not followed. Of a file that is gone, only its folder tells.
    """
    pending, touched = [top], None
    while pending:
        folder = pending.pop()
        name = "its worktree" if folder == top else f"{folder.relative_to(top)}/"
        try:
            if folder.lstat().st_ctime_ns >= moment:
                touched = name
            with os.scandir(folder) as entries:
                for entry in entries:
                    path = folder / entry.name
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(path)
                    elif entry.stat(follow_symlinks=False).st_ctime_ns >= moment:
                        return str(path.relative_to(top))
        except OSError:
            return name
    return touched


def _head(git_dir: Path | None) -> str:
    """Return the branch that a HEAD names, or ""."""
    text = read_plain_file(git_dir / "HEAD", 4096) if git_dir is not None else None
    name = os.fsdecode(text or b"").strip()
    return name[5:].strip() if name.startswith("ref: ") else ""
