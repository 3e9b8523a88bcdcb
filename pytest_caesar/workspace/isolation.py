"""Where an agent works: a worktree of its own, or in place."""

from __future__ import annotations

import contextlib
import os
import posixpath
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.workspace import baseline_tree, locks, placing, worktree
from pytest_caesar.workspace.errors import (
    BaseRefError,
    IsolationError,
    MissingFolderError,
    RepositoryError,
    StorageError,
    WorktreeImpossibleError,
)
from pytest_caesar.workspace.filtered_files import used_filters
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.kept_folder import kept_outside
from pytest_caesar.workspace.naming import OWN_FOLDERS, named
from pytest_caesar.workspace.observer import discard
from pytest_caesar.workspace.project_state import ProjectState, project_before
from pytest_caesar.workspace.repository_state import EMPTY_TREES, Checkout, resolve_commit, survey
from pytest_caesar.workspace.state_before import Snapshot
from pytest_caesar.workspace.values import Workspace, WorkspaceRequest

__all__ = ["IsolationError", "decide", "prepare", "release", "remove"]

remove = worktree.remove


def release(workspace: Workspace) -> None:
    """Give back what is held for a workspace that will not be observed again."""
    locks.release(workspace.lock)
    if workspace.kept is not None:
        workspace.kept.close()


def prepare(request: WorkspaceRequest) -> Workspace:
    """Make a workspace ready, and remember what is in it.

    Raises:
        IsolationError: it could not be made; nothing was left behind.
    """
    project = request.adopt or request.project
    if not project.is_dir():
        problem = "is not a folder" if os.path.lexists(project) else "does not exist"
        raise MissingFolderError(folder=str(project), problem=problem)
    project = project.resolve()
    with contextlib.ExitStack() as undo:
        try:
            checkout, settings = survey(project)
            workspace = _prepare(request, project, checkout, settings, undo)
        except GitError as error:
            raise RepositoryError(folder=str(project), problem=str(error)) from error
        except OSError as error:
            raise StorageError(folder=str(project), problem=str(error)) from error
        undo.pop_all()
    return workspace


def decide(
    request: WorkspaceRequest, *, usable: bool, problem: str = ""
) -> tuple[Literal["worktree", "inplace"], tuple[Diagnostic, ...]]:
    """Choose the isolation; pure.

    Args:
        request: what is asked for.
        usable: the project is in a repository that can host a worktree.
        problem: why not, when it cannot.

    Raises:
        WorktreeImpossibleError: a worktree was asked for by name and cannot be made.
    """
    unguarded = request.mode == "read-only" and not request.native_read_only
    if request.isolation == "worktree":
        if not usable:
            raise WorktreeImpossibleError(
                folder=str(request.project),
                problem=problem,
                remedy="Make a first commit there, or ask for isolation 'inplace'.",
            )
        return "worktree", ()
    if usable and (unguarded or (request.isolation == "auto" and request.mode == "write")):
        if request.isolation == "auto":
            return "worktree", ()
        return "worktree", (
            Diagnostic(
                code="isolation-changed",
                message="A worktree was made although 'inplace' was asked for: the agent has no "
                "read-only mode of its own, and the task is read-only.",
            ),
        )
    if usable or (request.mode == "read-only" and not unguarded) or request.isolation == "inplace":
        return "inplace", ()
    return "inplace", (
        Diagnostic(
            code="isolation-degraded",
            message=f"The agent works in place, without isolation: {problem}.",
        ),
    )


def _prepare(
    request: WorkspaceRequest,
    project: Path,
    checkout: Checkout | None,
    settings: dict[str, str],
    undo: contextlib.ExitStack,
) -> Workspace:
    if request.adopt is not None:
        return _adopted(request, project, checkout, settings, undo)
    problem = (
        "it is not in a git repository"
        if checkout is None
        else "its repository has no commit yet"
        if checkout.head is None
        else ""
    )
    isolation, diagnostics = decide(request, usable=not problem, problem=problem)
    if isolation == "inplace" or checkout is None:
        return _in_place(request, project, checkout, settings, undo, diagnostics)
    return _in_worktree(request, checkout, settings, undo, diagnostics)


def _in_worktree(
    request: WorkspaceRequest,
    checkout: Checkout,
    settings: dict[str, str],
    undo: contextlib.ExitStack,
    diagnostics: tuple[Diagnostic, ...],
) -> Workspace:
    assert checkout.head is not None
    placing.check(request)
    made = worktree.create(request, checkout, settings, undo)
    folder = made.checkout.top / made.checkout.prefix
    placed, remarks = placing.place(request, checkout, folder)
    excluded = _excluded(made.checkout, (), placed)
    room = _task_folder(request, undo)
    if request.setup:
        placing.run_setup(request, folder)
    snapshot = baseline_tree.of_commit(
        made.checkout,
        settings,
        base=checkout.head,
        excluded=excluded,
        pristine=True,
        room=room,
    )
    if request.setup or baseline_tree.looks_changed(snapshot, settings):
        snapshot = _work_tree_snapshot(request, made.checkout, settings, excluded, undo)
    if placed:
        placing.record(request, folder, placed)
    remarks += _filters_finding(snapshot, settings)
    return Workspace(
        path=folder,
        repository=made.checkout.top,
        project_repository=checkout.top,
        isolation="worktree",
        base_ref=checkout.head,
        branch=made.branch,
        placed=placed,
        observer=room,
        baseline=snapshot.tree,
        diagnostics=(*diagnostics, *made.diagnostics, *remarks),
        snapshot=snapshot,
        project=_project(
            request, checkout, settings, workspace=made.checkout.top, room=room, status=made.status
        ),
    )


def _in_place(
    request: WorkspaceRequest,
    project: Path,
    checkout: Checkout | None,
    settings: dict[str, str],
    undo: contextlib.ExitStack,
    diagnostics: tuple[Diagnostic, ...],
) -> Workspace:
    lock = None
    if request.mode == "write" and not request.lock_held:
        lock = locks.acquire(checkout.top if checkout else project, request.task_id)
        undo.callback(locks.release, lock)
    placed = _normalised(request.placed)
    snapshot = kept = None
    if checkout is not None:
        excluded = _excluded(checkout, _own_paths(request, checkout), placed)
        # The task directory lies in this very tree: an agent may run git clean.
        kept = kept_outside(checkout.top)
        if kept is not None:
            undo.callback(kept.close)
        snapshot = _work_tree_snapshot(
            request, checkout, settings, excluded, undo, folder=kept.path if kept else None
        )
    if placed:
        _task_folder(request, undo)
        placing.record(request, project, placed)
    return Workspace(
        path=project,
        repository=checkout.top if checkout else None,
        project_repository=checkout.top if checkout else None,
        isolation="inplace",
        base_ref=checkout.head if checkout else None,
        placed=placed,
        observer=snapshot.room if snapshot else None,
        baseline=snapshot.tree if snapshot else None,
        diagnostics=diagnostics,
        snapshot=snapshot,
        project=_project(request, checkout, settings, workspace=None, room=snapshot.room)
        if checkout is not None and snapshot is not None
        else None,
        lock=lock,
        kept=kept,
    )


def _adopted(
    request: WorkspaceRequest,
    project: Path,
    checkout: Checkout | None,
    settings: dict[str, str],
    undo: contextlib.ExitStack,
) -> Workspace:
    linked = checkout is not None and checkout.git_dir != checkout.common_dir
    isolation = request.isolation
    if isolation == "auto":
        isolation = "worktree" if linked else "inplace"
    if isolation == "inplace" or checkout is None:
        if request.isolation == "worktree":
            decide(request, usable=False, problem="it is not in a git repository")
        return _in_place(request, project, checkout, settings, undo, ())
    base = _base(request, checkout)
    lock = None
    if request.mode == "write" and not request.lock_held:
        lock = locks.acquire(checkout.top, request.task_id)
        undo.callback(locks.release, lock)
    placed = _normalised(request.placed)
    room = _task_folder(request, undo)
    snapshot = baseline_tree.of_commit(
        checkout,
        settings,
        base=base or EMPTY_TREES[checkout.object_format],
        excluded=_excluded(checkout, _own_paths(request, checkout), placed),
        pristine=False,
        room=room,
        kept=room / "observer",
    )
    snapshot = replace(snapshot, base_ref=base)
    if placed:
        placing.record(request, project, placed)
    common = checkout.common_dir
    return Workspace(
        path=project,
        repository=checkout.top,
        project_repository=common.parent if common.name == ".git" else checkout.top,
        isolation="worktree",
        base_ref=base,
        placed=placed,
        observer=room,
        baseline=snapshot.tree,
        snapshot=snapshot,
        project=_project_of_adopted(request, checkout, settings, room),
        lock=lock,
    )


def _project(
    request: WorkspaceRequest,
    checkout: Checkout,
    settings: dict[str, str],
    *,
    workspace: Path | None,
    room: Path,
    status: Sequence[bytes] | None = None,
) -> ProjectState | None:
    """Remember what lies beside the workspace; for an agent of an agent the upper one does."""
    if request.lock_held:
        return None
    return project_before(checkout, settings, workspace=workspace, room=room, status=status)


def _project_of_adopted(
    request: WorkspaceRequest, checkout: Checkout, settings: dict[str, str], room: Path
) -> ProjectState | None:
    """Remember the main checkout beside a worktree that was prepared."""
    common = checkout.common_dir
    if checkout.git_dir == common or common.name != ".git":
        return _project(request, checkout, settings, workspace=None, room=room)
    main, its_settings = survey(common.parent)
    if main is None or main.common_dir != common:
        return _project(request, checkout, settings, workspace=None, room=room)
    return _project(request, main, its_settings, workspace=checkout.top, room=room)


def _filters_finding(snapshot: Snapshot, settings: dict[str, str]) -> tuple[Diagnostic, ...]:
    drivers = used_filters(snapshot.attributes, settings)
    if not drivers:
        return ()
    return (
        Diagnostic(
            code="filters-not-run",
            message=f"Filters are not run ({named(drivers)}): where the repository asks for them, "
            "the agent sees what git stores, a pointer of Git LFS say.",
        ),
    )


def _base(request: WorkspaceRequest, checkout: Checkout) -> str | None:
    if request.base_ref is None:
        return checkout.head
    if not request.base_ref:
        return None
    try:
        return resolve_commit(checkout, request.base_ref)
    except GitError as error:
        raise BaseRefError(folder=str(checkout.top), name=request.base_ref) from error


def _work_tree_snapshot(
    request: WorkspaceRequest,
    checkout: Checkout,
    settings: dict[str, str],
    excluded: tuple[bytes, ...],
    undo: contextlib.ExitStack,
    *,
    folder: Path | None = None,
) -> Snapshot:
    room = _task_folder(request, undo)
    if folder is None:
        folder = room / "observer"
    undo.callback(discard, folder)
    return baseline_tree.of_work_tree(
        checkout, settings, excluded=excluded, folder=folder, room=room
    )


def _task_folder(request: WorkspaceRequest, undo: contextlib.ExitStack) -> Path:
    """Make the task directory if need be, to be removed again on refusal."""
    missing = []
    folder = request.task_directory
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    request.task_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for made in reversed(missing):
        undo.callback(_remove_if_empty, made)
    worktree.hide(request.task_directory.parent)
    return request.task_directory


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        if folder.name == "tasks":
            (folder / ".gitignore").unlink(missing_ok=True)
        folder.rmdir()


def _own_paths(request: WorkspaceRequest, checkout: Checkout) -> tuple[bytes, ...]:
    own = set(OWN_FOLDERS)
    if checkout.prefix:
        own |= {os.fsencode(checkout.prefix) + b"/" + folder for folder in OWN_FOLDERS}
    task = request.task_directory.resolve()
    with contextlib.suppress(ValueError):
        own.add(os.fsencode(task.relative_to(checkout.top)))
    return tuple(sorted(own))


def _excluded(
    checkout: Checkout, own: tuple[bytes, ...], placed: tuple[str, ...]
) -> tuple[bytes, ...]:
    return own + tuple(
        os.fsencode(posixpath.normpath(posixpath.join(checkout.prefix, path))) for path in placed
    )


def _normalised(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(posixpath.normpath(path) for path in paths if path.strip("/. ")))
