"""What crosses the walls of this room: workspaces, observations, patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Action
from pytest_caesar.workspace.kept_folder import KeptFolder
from pytest_caesar.workspace.locks import WriteLock
from pytest_caesar.workspace.patch import Patch
from pytest_caesar.workspace.project_state import ProjectState
from pytest_caesar.workspace.state_before import Snapshot

__all__ = ["Kind", "Observation", "ObservedChange", "Patch", "Workspace", "WorkspaceRequest"]

Kind = Literal["file", "symlink", "submodule", "nested-repository"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedChange:
    """One path that differs between the tree before and the tree after.

    Attributes:
        path: POSIX, relative to the workspace, bytes kept with surrogateescape;
            begins with ``../`` when it lies outside the workspace, ends with ``/``
            for a nested repository.
        action: what happened to it.
        old_path: where it came from when ``action`` is ``renamed``, same frame.
        outside: it lies in the repository but outside the workspace.
        kind: what the path is now (or was, when deleted).
        note: what a reader must know, such as "mode 100644 -> 100755"; often "".
    """

    path: str
    action: Action
    old_path: str | None = None
    outside: bool = False
    kind: Kind = "file"
    note: str = ""

    def __repr__(self) -> str:
        origin = f" from {self.old_path!r}" if self.old_path is not None else ""
        remarks = [
            *([self.kind] if self.kind != "file" else []),
            *(["outside the workspace"] if self.outside else []),
            *([self.note] if self.note else []),
        ]
        more = f" ({', '.join(remarks)})" if remarks else ""
        return f"<{self.path!r} {self.action}{origin}{more}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What git shows between the baseline and the tree after the agent.

    Attributes:
        verified: False when git could not tell; ``changes`` then means nothing.
        changes: in path order, each path once.
        patch: of the same changes against the baseline, without placed paths.
        head: SHA of HEAD afterwards, or None.
        diagnostics: what was found on the way.
        descends: HEAD is ``base_ref`` or comes after it; None when there is none to ask.
        unpatched: paths among the changes that the patch cannot carry.
    """

    verified: bool
    changes: tuple[ObservedChange, ...] = ()
    patch: Patch = Patch(b"")  # noqa: RUF009 - bytes never change
    head: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    descends: bool | None = None
    unpatched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRequest:
    """What a delegation asks of the isolation.

    Attributes:
        task_id: safe as a file name (letters, digits, ``_``, ``-``, ``.``).
        project: the repository (or plain folder) that is delegated on, absolute.
        isolation: as asked for; ``auto`` lets the rules decide.
        mode: ``read-only`` or ``write``.
        native_read_only: the agent has a read-only mode of its own.
        label: role or agent id, for the branch name; may be "".
        objective: for the branch name.
        task_directory: where ``placed.json`` and the observer's git directory go.
        copy, link: ``[worktree]`` paths, relative to the project.
        setup: shell commands run in the fresh worktree.
        setup_timeout: seconds for all of ``setup``.
        adopt: a prepared workspace to use as it is, or None.
        base_ref: with ``adopt``: the commit it started from; "" for the empty tree.
        placed: with ``adopt``: paths that are not the agent's work.
        cancelled: tells whether to give up; looked at while ``setup`` runs.
        lock_held: whoever asks holds the write lock of the tree, for an agent above this one.
    """

    task_id: str
    project: Path
    isolation: Literal["auto", "worktree", "inplace"] = "auto"
    mode: Literal["read-only", "write"] = "write"
    native_read_only: bool = False
    label: str = ""
    objective: str = ""
    task_directory: Path
    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    setup_timeout: float = 300.0
    cancelled: Callable[[], bool] = lambda: False
    adopt: Path | None = None
    base_ref: str | None = None
    placed: tuple[str, ...] = ()
    lock_held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A workspace ready for an agent.

    Attributes:
        path: the folder the agent works in.
        repository: top level of the git checkout that holds it, or None outside git.
        project_repository: top level of the user's repository, or None outside git.
        isolation: what was decided.
        base_ref: full SHA that the work starts from, or None (no commit, no git).
        branch: the branch made for the task, or None.
        placed: workspace-relative POSIX paths that are not the agent's work.
        observer: the orchestrator's own git directory, or None outside git.
        baseline: tree id that stands for the state before the agent, or None.
        diagnostics: what the decision or the placing had to say.
        snapshot: what the orchestrator remembers of the repository, or None outside git.
        project: what the orchestrator remembers of the repository beside the workspace.
        lock: held by the one writer in a tree, until ``observe`` or ``remove``.
        kept: holds content of the baseline, until ``release`` or ``remove``.
    """

    path: Path
    repository: Path | None
    project_repository: Path | None
    isolation: Literal["worktree", "inplace"]
    base_ref: str | None
    branch: str | None = None
    placed: tuple[str, ...] = ()
    observer: Path | None = None
    baseline: str | None = None
    diagnostics: tuple[Diagnostic, ...] = field(default=())
    snapshot: Snapshot | None = field(default=None, repr=False, compare=False)
    project: ProjectState | None = field(default=None, repr=False, compare=False)
    lock: WriteLock | None = field(default=None, repr=False, compare=False)
    kept: KeptFolder | None = field(default=None, repr=False, compare=False)
