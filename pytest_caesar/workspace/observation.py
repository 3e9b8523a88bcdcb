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
from pytest_caesar.workspace import locks, submodules
from pytest_caesar.workspace.closed_folders import open_up
from pytest_caesar.workspace.force_added import force_added
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.git_named import git_named
from pytest_caesar.workspace.integrity import find_forgery
from pytest_caesar.workspace.large_files import LargeFile, set_aside
from pytest_caesar.workspace.naming import named, shown
from pytest_caesar.workspace.observer import Entry, Observer, Scan, discard, new_folder
from pytest_caesar.workspace.reconciliation import normalised
from pytest_caesar.workspace.repositories_inside import Inside, differences
from pytest_caesar.workspace.repository_state import check_ignored, read_head, read_refs
from pytest_caesar.workspace.sparse_checkout import hidden_files
from pytest_caesar.workspace.state_before import Snapshot, is_within
from pytest_caesar.workspace.tampering import repository_findings
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


MAX_NAMED = 1000
"""Findings of one kind that are named; the others are counted."""


class _UnverifiedError(Exception):
    """Git looked, and what it showed cannot be trusted."""


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
        told = isinstance(error, (GitError, OSError, _UnverifiedError))
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
    return frozenset(path for name in _ignored(snapshot, list(asked)) for path in asked[name])


def in_workspace(prefix: str, path: bytes) -> str:
    """Turn a path of the repository into one of the workspace, ``../`` where it is outside."""
    text = os.fsdecode(path)
    return posixpath.relpath(text, prefix) if prefix else text


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
            closed = _closed_changes(snapshot, observer, folders)
            scan = observer.scan()
            if scan.unreadable and not folders and not snapshot.closed:
                raise _UnverifiedError(f"something cannot be read: {scan.unreadable[0]}")
        hidden = hidden_files(snapshot, scan.tracked, partial(_matched, snapshot))
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
                raise _UnverifiedError(f"the object store was tampered with: {forgery}")
        refs = read_refs(snapshot.common_dir)
        head, head_name = read_head(snapshot.git_dir, refs)
        findings, descends = repository_findings(snapshot, observer, refs, head, head_name)
    bare: list[ObservedChange] = [
        *closed,
        *_left_out_changes(snapshot, scan, left_out, entries),
        *_nested_changes(snapshot, scan),
        *_submodule_changes(snapshot, entries),
        *_git_named_changes(snapshot, scan, called_git),
        *(big := _large_changes(snapshot, large)),
    ]
    bare.sort(key=lambda change: os.fsencode(change.path))
    plain = [_change(snapshot, entry, left_out) for entry in entries]
    changes = sorted([*plain, *bare], key=lambda change: os.fsencode(change.path))
    return Observation(
        verified=True,
        changes=tuple(changes),
        patch=patch,
        head=head,
        diagnostics=(*findings, *_unpatched_finding(bare, big)),
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
        raise _UnverifiedError(f"the folder {snapshot.top} is gone")
    if os.path.realpath(snapshot.top) != os.fspath(snapshot.top):
        raise _UnverifiedError(f"a symbolic link took the place of {snapshot.top}")


def _ignored(snapshot: Snapshot, paths: list[bytes]) -> list[bytes]:
    return _matched(snapshot, snapshot.excludes, paths)


def _matched(snapshot: Snapshot, patterns: bytes, paths: list[bytes]) -> list[bytes]:
    """Ask git about names alone, in an empty folder: nothing of the agent's is looked at."""
    try:
        room = new_folder(snapshot.room)
    except OSError:
        return []
    try:
        (room / "git").mkdir()
        (room / "tree").mkdir()
        empty = replace(snapshot, top=room / "tree", objects=(), index=b"", attributes=b"")
        observer = Observer(empty, room / "git")
        (room / "git" / "info" / "exclude").write_bytes(patterns)
        return check_ignored(observer.git, paths, "--no-index")
    except (GitError, OSError):
        return []
    finally:
        discard(room)


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


def _left_out_changes(
    snapshot: Snapshot, scan: Scan, left_out: dict[bytes, str], entries: list[Entry]
) -> list[ObservedChange]:
    told = {entry.path for entry in entries}
    return [
        ObservedChange(
            path=(path := in_workspace(snapshot.prefix, raw)),
            action="modified" if raw in scan.tracked else "created",
            outside=path.startswith("../"),
            note=f"{reason}; not part of the patch",
        )
        for raw, reason in left_out.items()
        if raw not in told
    ]


def _nested_changes(snapshot: Snapshot, scan: Scan) -> list[ObservedChange]:
    found = set(scan.nested)
    actions: list[tuple[bytes, Action, str]] = [
        (path, "created", "a repository of its own: contents not verified by git, ")
        for path in found - snapshot.nested
    ]
    top = os.fsencode(snapshot.top)
    actions += [
        (path, "deleted", "a repository of its own: contents not verified by git, ")
        for path in snapshot.nested - found
        if not os.path.lexists(os.path.join(top, path))  # noqa: PTH118 - bytes
    ]
    looking = Inside(snapshot)
    for raw in sorted(found & snapshot.nested):
        if phrases := _inside_changes(snapshot, looking, raw):
            actions.append((raw, "modified", f"a repository of its own ({phrases}); "))
    return [
        ObservedChange(
            path=(path := in_workspace(snapshot.prefix, raw) + "/"),
            action=action,
            outside=path.startswith("../"),
            kind="nested-repository",
            note=f"{note}not part of the patch",
        )
        for raw, action, note in actions
    ]


def _inside_changes(snapshot: Snapshot, looking: Inside, path: bytes) -> str:
    """Say what is different in a repository that was looked into before, or ""."""
    before = snapshot.inside.get(path)
    if before is None:
        return ""
    after = looking.state(snapshot.top / os.fsdecode(path), before)
    return named(differences(before, after))


def _closed_changes(
    snapshot: Snapshot, observer: Observer, folders: dict[bytes, str]
) -> list[ObservedChange]:
    """Tell of folders that stay closed; the rest of the tree is verified all the same."""
    if b"" in folders:
        raise _UnverifiedError(f"the folder {snapshot.top} cannot be read: {folders[b'']}")
    return [
        ObservedChange(
            path=(path := in_workspace(snapshot.prefix, raw) + "/"),
            action="modified" if observer.holds(raw) else "created",
            outside=path.startswith("../"),
            note=f"a folder that cannot be read ({reason}): contents not verified by git, "
            "not part of the patch",
        )
        for raw, reason in folders.items()
    ]


def _submodule_changes(snapshot: Snapshot, entries: list[Entry]) -> list[ObservedChange]:
    """Tell of submodules whose state is another than before; those that are gone have an entry."""
    told = {entry.path for entry in entries}
    looking = Inside(snapshot)
    changes = []
    for raw, (commit, before) in snapshot.submodules.items():
        if raw in told or is_within(raw, snapshot.excluded):
            continue
        if raw in snapshot.inside:
            after = _inside_changes(snapshot, looking, raw)
            is_same = not after
        else:
            after = submodules.state(snapshot.top, raw, commit, snapshot.config)
            is_same = after == before or (before, after) == ("", "clean")
        if not is_same:
            path = in_workspace(snapshot.prefix, raw)
            changes.append(
                ObservedChange(
                    path=path,
                    action="modified",
                    outside=path.startswith("../"),
                    kind="submodule",
                    note=f"submodule {after or 'emptied'}; not part of the patch",
                )
            )
    return changes


def _lost_submodules(snapshot: Snapshot) -> list[bytes]:
    return [
        path
        for path in snapshot.submodules
        if not _is_submodule_folder(snapshot, path) and not is_within(path, snapshot.excluded)
    ]


def _is_submodule_folder(snapshot: Snapshot, path: bytes) -> bool:
    full = os.path.join(os.fsencode(snapshot.top), path)  # noqa: PTH118 - bytes
    return path in snapshot.submodules and os.path.isdir(full) and not os.path.islink(full)  # noqa: PTH112, PTH114


def _git_named_changes(
    snapshot: Snapshot, scan: Scan, found: dict[bytes, bytes]
) -> list[ObservedChange]:
    """Tell of what is called .git and is not that of a repository which is told itself."""
    before = snapshot.git_named
    repositories = {*scan.nested, *snapshot.nested, *snapshot.submodules}
    paths = [
        path
        for path in sorted(before.keys() | found.keys())
        if before.get(path) != found.get(path)
        and path.rstrip(b"/").rpartition(b"/")[0] not in repositories
        and not is_within(path, repositories)
    ]
    if not paths:
        return []
    # Whether git would ignore it, it says of any other name beside it.
    beside = {path: path.rstrip(b"/")[: -len(b".git")] + b"caesar" for path in paths}
    ignored = set(_ignored(snapshot, list(dict.fromkeys(beside.values()))))
    changes: list[ObservedChange] = []
    for raw in paths:
        if beside[raw] in ignored:
            continue
        path = in_workspace(snapshot.prefix, raw) + ("/" if raw.endswith(b"/") else "")
        action: Action = "modified"
        if raw not in before or raw not in found:
            action = "created" if raw in found else "deleted"
        changes.append(
            ObservedChange(
                path=path.replace("//", "/"),
                action=action,
                outside=path.startswith("../"),
                note="git looks into nothing of this name: not part of the patch",
            )
        )
    return changes


def _large_changes(snapshot: Snapshot, large: Iterable[LargeFile]) -> list[ObservedChange]:
    return [
        ObservedChange(
            path=(path := in_workspace(snapshot.prefix, file.path)),
            action=file.action,
            outside=path.startswith("../"),
            note=file.note,
        )
        for file in large
    ]


def _unpatched_finding(
    changes: list[ObservedChange], large: list[ObservedChange]
) -> tuple[Diagnostic, ...]:
    """Name what the patch does not carry: of each kind as many as somebody may read."""
    too_large = {change.path for change in large}
    kinds = {
        "not-in-patch": [change for change in changes if change.path not in too_large],
        "patch-incomplete": large,
    }
    found = []
    for code, told in kinds.items():
        found += [
            Diagnostic(code=code, message=f"{shown(each.path)}: {each.note}.", path=each.path)
            for each in told[:MAX_NAMED]
        ]
        if len(told) > MAX_NAMED:
            more = f"{len(told) - MAX_NAMED} more paths are not in the patch."
            found.append(Diagnostic(code=code, message=more))
    return tuple(found)
