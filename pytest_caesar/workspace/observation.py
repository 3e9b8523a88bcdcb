"""The tree before the agent beside the tree after it."""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Action
from pytest_caesar.workspace import locks
from pytest_caesar.workspace.closed_folders import open_up
from pytest_caesar.workspace.force_added import force_added
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.git_named import git_named
from pytest_caesar.workspace.integrity import find_forgery
from pytest_caesar.workspace.large_files import set_aside
from pytest_caesar.workspace.observer import Entry, Observer, Scan, discard, new_folder
from pytest_caesar.workspace.reconciliation import normalised
from pytest_caesar.workspace.repository_state import read_head, read_refs
from pytest_caesar.workspace.sparse_checkout import hidden_files
from pytest_caesar.workspace.state_before import Snapshot, is_within
from pytest_caesar.workspace.tampering import repository_findings
from pytest_caesar.workspace.unpatched_changes import (
    UnverifiedError,
    closed_changes,
    git_named_changes,
    ignored_names,
    in_workspace,
    large_changes,
    left_out_changes,
    matched_names,
    nested_changes,
    submodule_changes,
    unpatched_findings,
)
from pytest_caesar.workspace.values import Kind, Observation, ObservedChange, Patch, Workspace

_ACTIONS: dict[str, Action] = {
    "A": "created",
    "C": "created",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "modified",
}
_KINDS: dict[str, Kind] = {"120000": "symlink", "160000": "submodule"}
_TYPE_NAMES = {"100": "file", "120": "symbolic link", "160": "submodule"}


def observe(workspace: Workspace, *, doubt: str = "") -> Observation:
    """Tell what changed in a workspace since ``prepare``.

    The agent's whole process tree must be gone. Whatever it did, this returns:
    where git cannot tell, ``verified`` is False and a diagnostic says why.
    A write lock on the workspace is given back.

    Args:
        workspace: as ``prepare`` made it.
        doubt: why somebody may still write there, so that nothing can be verified; or "".
    """
    look = workspace.project.begin_look() if workspace.project is not None else None
    try:
        observation = _unverified(workspace, doubt) if doubt else _looked(workspace)
        if look is None:
            return observation
        beside = look.findings()
        return replace(observation, diagnostics=(*observation.diagnostics, *beside))
    finally:
        if look is not None:
            look.stop()
        locks.release(workspace.lock)


def _looked(workspace: Workspace) -> Observation:
    try:
        if workspace.snapshot is None:
            return Observation(verified=False)
        try:
            return _observe(workspace.snapshot)
        except (GitError, OSError) as error:
            if not _is_full(error):
                raise
            # The repository's disk is full, by the agent say; the system's may have room.
            return _observe(replace(workspace.snapshot, room=Path(tempfile.gettempdir())))
    except Exception as error:  # noqa: BLE001 - whatever was brought about, the run is kept
        told = isinstance(error, (GitError, OSError, UnverifiedError))
        problem = str(error) if told else f"{type(error).__name__}: {error}".removesuffix(": ")
        return _unverified(workspace, f"Git could not tell what changed: {problem}")


def _unverified(workspace: Workspace, problem: str) -> Observation:
    found = Diagnostic(code="workspace-unverified", message=problem, path=str(workspace.path))
    return Observation(verified=False, diagnostics=(found,))


def ignored_paths(workspace: Workspace, paths: Iterable[str]) -> frozenset[str]:
    """Return those of ``paths`` that git ignored, by the rules from before the agent.

    Args:
        workspace: as ``prepare`` made it.
        paths: in any spelling; those outside the repository are never ignored.
    """
    snapshot = workspace.snapshot
    if snapshot is None:
        return frozenset()
    asked: dict[bytes, list[str]] = {}
    for path in paths:
        full = posixpath.normpath(
            posixpath.join(snapshot.prefix, normalised(path, str(workspace.path)))
        )
        if "\0" in full or full.startswith(("../", "/")) or full in ("..", "."):
            continue
        try:
            asked.setdefault(os.fsencode(full), []).append(path)
        except UnicodeEncodeError:
            continue  # a lone surrogate: no file has this name
    if not asked:
        return frozenset()
    return frozenset(path for name in ignored_names(snapshot, list(asked)) for path in asked[name])


def _is_full(error: GitError | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return any(os.strerror(code) in error.stderr for code in (errno.ENOSPC, errno.EDQUOT))


def _observe(snapshot: Snapshot) -> Observation:
    _check_top(snapshot)
    with contextlib.ExitStack() as undo:
        room = new_folder(snapshot.room)
        undo.callback(discard, room)
        observer = Observer(snapshot, room)
        scanning = observer.start_scan()
        undo.callback(scanning.stop)
        # Meanwhile, for what git does not look into.
        called_git = git_named(snapshot.top, snapshot.passed_over)
        scan = scanning.finish()
        closed: list[ObservedChange] = []
        if scan.unreadable:
            passed_over = (*snapshot.excluded, *snapshot.closed)
            folders = open_up(snapshot.top, passed_over, undo)
            closed = closed_changes(snapshot, observer, folders)
            scan = observer.scan()
            if scan.unreadable and not folders and not snapshot.closed:
                raise UnverifiedError(f"something cannot be read: {scan.unreadable[0]}")
        hidden = hidden_files(snapshot, scan.tracked, partial(matched_names, snapshot))
        scan = scan.without(hidden)
        before = _before(snapshot, scan)
        known = {*before, *scan.paths, *force_added(snapshot, observer)}
        paths = sorted(path for path in known if not _is_submodule_folder(snapshot, path))
        left_out: dict[bytes, str] = {}
        entries: list[Entry] = []
        paths, large = set_aside(observer, paths, before)
        heading = b"".join(file.line for file in large)
        patch = Patch(heading)
        if paths:
            tree = observer.restrict({path: before[path] for path in paths if path in before})
            left_out = observer.stage(paths)
            entries, patch = observer.diff(tree, heading=heading)
            forgery = find_forgery(observer, entries)
            if forgery:
                raise UnverifiedError(f"the object store was tampered with: {forgery}")
        refs = read_refs(snapshot.common_dir)
        head, head_name = read_head(snapshot.git_dir, refs)
        findings, descends = repository_findings(snapshot, observer, refs, head, head_name)
    bare: list[ObservedChange] = [
        *closed,
        *left_out_changes(snapshot, scan, left_out, entries),
        *nested_changes(snapshot, scan),
        *submodule_changes(snapshot, entries),
        *git_named_changes(snapshot, scan, called_git),
        *(big := large_changes(snapshot, large)),
    ]
    bare.sort(key=lambda change: os.fsencode(change.path))
    plain = [_change(snapshot, entry, left_out) for entry in entries]
    changes = sorted([*plain, *bare], key=lambda change: os.fsencode(change.path))
    return Observation(
        verified=True,
        changes=tuple(changes),
        patch=patch,
        head=head,
        diagnostics=(*findings, *unpatched_findings(bare, big)),
        descends=descends,
        unpatched=tuple(change.path for change in bare),
    )


def _before(snapshot: Snapshot, scan: Scan) -> dict[bytes, tuple[str, str]]:
    """Return mode and object id from before the agent of everything that may have changed."""
    lost = {path: ("160000", snapshot.submodules[path][0]) for path in _lost_submodules(snapshot)}
    # An adopted worktree may stand elsewhere than on its base.
    ahead = {
        path: entry
        for path, entry in snapshot.ahead.items()
        if not is_within(path, snapshot.excluded)
    }
    return {**scan.tracked, **lost, **ahead}


def _check_top(snapshot: Snapshot) -> None:
    """Refuse to look at another tree than the one that was prepared."""
    if not snapshot.top.is_dir():
        raise UnverifiedError(f"the folder {snapshot.top} is gone")
    if os.path.realpath(snapshot.top) != os.fspath(snapshot.top):
        raise UnverifiedError(f"a symbolic link took the place of {snapshot.top}")


def _change(snapshot: Snapshot, entry: Entry, left_out: dict[bytes, str]) -> ObservedChange:
    path = in_workspace(snapshot.prefix, entry.path)
    mode = entry.old_mode if entry.status == "D" else entry.new_mode
    renamed = entry.status == "R" and entry.old_path is not None
    return ObservedChange(
        path=path,
        action=_ACTIONS.get(entry.status, "modified"),
        old_path=in_workspace(snapshot.prefix, entry.old_path or b"") if renamed else None,
        outside=path.startswith("../"),
        kind=_KINDS.get(mode, "file"),
        note=left_out.get(entry.path, "") or _note(entry),
    )


def _note(entry: Entry) -> str:
    if entry.status in "AD" or entry.old_mode == entry.new_mode:
        return ""
    if entry.old_mode[:3] != entry.new_mode[:3]:
        before, after = (_TYPE_NAMES.get(m[:3], m) for m in (entry.old_mode, entry.new_mode))
        return f"{before} -> {after}"
    return f"mode {entry.old_mode} -> {entry.new_mode}"


def _lost_submodules(snapshot: Snapshot) -> list[bytes]:
    return [
        path
        for path in snapshot.submodules
        if not _is_submodule_folder(snapshot, path) and not is_within(path, snapshot.excluded)
    ]


def _is_submodule_folder(snapshot: Snapshot, path: bytes) -> bool:
    full = os.path.join(os.fsencode(snapshot.top), path)  # noqa: PTH118 - bytes
    return path in snapshot.submodules and os.path.isdir(full) and not os.path.islink(full)  # noqa: PTH112, PTH114
