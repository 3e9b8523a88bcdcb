"""The tree before the agent beside the tree after it."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Action
from pytest_caesar.workspace import locks, submodules
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.observer import Entry, Observer, Scan, discard, new_folder
from pytest_caesar.workspace.snapshot import Snapshot, is_within
from pytest_caesar.workspace.survey import Checkout, read_head, read_refs
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

MAX_NAMED = 5
"""Names in one diagnostic."""


def observe(workspace: Workspace) -> Observation:
    """Tell what changed in a workspace since ``prepare``.

    The agent's whole process tree must be gone. Whatever it did, this returns:
    where git cannot tell, ``verified`` is False and a diagnostic says why.
    A write lock on the workspace is given back.
    """
    try:
        if workspace.snapshot is None:
            return Observation(verified=False)
        return _observe(workspace.snapshot)
    except (GitError, OSError, ValueError) as error:
        return Observation(
            verified=False,
            diagnostics=(
                Diagnostic(
                    code="workspace-unverified",
                    message=f"Git could not tell what changed: {error}",
                    path=str(workspace.path),
                ),
            ),
        )
    finally:
        locks.release(workspace.lock)


def ignored_paths(workspace: Workspace, paths: Iterable[str]) -> frozenset[str]:
    """Return those of ``paths`` that git ignored, by the rules from before the agent.

    Args:
        workspace: as ``prepare`` made it.
        paths: workspace-relative; those outside the repository are never ignored.
    """
    snapshot = workspace.snapshot
    if snapshot is None:
        return frozenset()
    asked: dict[bytes, str] = {}
    for path in paths:
        full = posixpath.normpath(posixpath.join(snapshot.prefix, path)) if path else ""
        if (
            full
            and "\0" not in path
            and not full.startswith(("../", "/"))
            and full not in ("..", ".")
        ):
            asked[os.fsencode(full)] = path
    if not asked:
        return frozenset()
    return frozenset(asked[found] for found in _ignored(snapshot, list(asked)))


def _ignored(snapshot: Snapshot, paths: list[bytes]) -> list[bytes]:
    """Ask git about names alone, in an empty folder: nothing of the agent's is looked at."""
    room = new_folder(snapshot.room)
    try:
        (room / "git").mkdir()
        (room / "tree").mkdir()
        empty = Snapshot(
            top=room / "tree",
            prefix="",
            git_dir=room / "git",
            common_dir=room / "git",
            objects=(),
            index=b"",
            index_time=0,
            tree=snapshot.tree,
            pristine=True,
            room=room,
            config=snapshot.config,
            excludes=b"",
            attributes=b"",
        )
        observer = Observer(empty, room / "git")
        (room / "git" / "info" / "exclude").write_bytes(snapshot.excludes)
        result = observer.git.run(
            "check-ignore",
            "-z",
            "--no-index",
            "--stdin",
            stdin=b"".join(path + b"\0" for path in paths),
            accept=(0, 1),
        )
        return result.records
    except (GitError, OSError):
        return []
    finally:
        discard(room)


def _observe(snapshot: Snapshot) -> Observation:
    diagnostics: list[Diagnostic] = []
    room = new_folder(snapshot.room)
    try:
        observer = Observer(snapshot, room)
        scan = observer.scan()
        entries: list[Entry] = []
        patch = b""
        extra = _force_added(snapshot, observer, diagnostics)
        paths = [*scan.paths, *extra]
        paths = [path for path in paths if not _is_submodule_folder(snapshot, path)]
        if paths or not snapshot.pristine:
            observer.stage(paths)
            entries, patch = observer.diff(snapshot.tree)
    finally:
        discard(room)
    changes = [_change(snapshot, entry) for entry in entries]
    changes += _nested_changes(snapshot, scan)
    changes += _submodule_changes(snapshot, entries)
    head, head_name = _head(snapshot)
    diagnostics += _repository_diagnostics(snapshot, head, head_name)
    return Observation(
        verified=True,
        changes=tuple(sorted(changes, key=lambda change: os.fsencode(change.path))),
        patch=Patch(patch),
        head=head,
        diagnostics=tuple(diagnostics),
    )


def _force_added(
    snapshot: Snapshot, observer: Observer, diagnostics: list[Diagnostic]
) -> list[bytes]:
    return []


def _change(snapshot: Snapshot, entry: Entry) -> ObservedChange:
    path = in_workspace(snapshot.prefix, entry.path)
    mode = entry.old_mode if entry.status == "D" else entry.new_mode
    return ObservedChange(
        path=path,
        action=_ACTIONS.get(entry.status, "modified"),
        old_path=None
        if entry.old_path is None or entry.status != "R"
        else in_workspace(snapshot.prefix, entry.old_path),
        outside=path.startswith("../"),
        kind=_KINDS.get(mode, "file"),
        note=_note(entry),
    )


def _note(entry: Entry) -> str:
    if entry.status in "AD" or entry.old_mode == entry.new_mode:
        return ""
    if entry.old_mode[:3] != entry.new_mode[:3]:
        before, after = (_TYPE_NAMES.get(m[:3], m) for m in (entry.old_mode, entry.new_mode))
        return f"{before} -> {after}"
    return f"mode {entry.old_mode} -> {entry.new_mode}"


def in_workspace(prefix: str, path: bytes) -> str:
    """Turn a path of the repository into one of the workspace, ``../`` where it is outside."""
    text = os.fsdecode(path)
    return posixpath.relpath(text, prefix) if prefix else text


def _nested_changes(snapshot: Snapshot, scan: Scan) -> list[ObservedChange]:
    found = set(scan.nested)
    actions: list[tuple[bytes, Action]] = [(path, "created") for path in found - snapshot.nested]
    top = os.fsencode(snapshot.top)
    actions += [
        (path, "deleted")
        for path in snapshot.nested - found
        if not os.path.lexists(os.path.join(top, path))  # noqa: PTH118 - bytes
    ]
    return [
        ObservedChange(
            path=(path := in_workspace(snapshot.prefix, raw) + "/"),
            action=action,
            outside=path.startswith("../"),
            kind="nested-repository",
            note="a repository of its own: contents not verified by git, not part of the patch",
        )
        for raw, action in actions
    ]


def _submodule_changes(snapshot: Snapshot, entries: list[Entry]) -> list[ObservedChange]:
    """Tell of submodules whose state is another than before; those that are gone have an entry."""
    told = {entry.path for entry in entries}
    changes = []
    for raw, (commit, before) in snapshot.submodules.items():
        if raw in told or is_within(raw, snapshot.excluded):
            continue
        after = submodules.state(snapshot.top, raw, commit, snapshot.config)
        if after != before:
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


def _is_submodule_folder(snapshot: Snapshot, path: bytes) -> bool:
    full = os.path.join(os.fsencode(snapshot.top), path)  # noqa: PTH118 - bytes
    return path in snapshot.submodules and os.path.isdir(full) and not os.path.islink(full)  # noqa: PTH112, PTH114


def _head(snapshot: Snapshot) -> tuple[str | None, str | None]:
    return read_head(snapshot.git_dir, _refs(snapshot))


def _refs(snapshot: Snapshot) -> dict[str, str]:
    return read_refs(_checkout(snapshot))


def _checkout(snapshot: Snapshot) -> Checkout:
    return Checkout(
        top=snapshot.top,
        prefix=snapshot.prefix,
        git_dir=snapshot.git_dir,
        common_dir=snapshot.common_dir,
        objects=snapshot.objects[0],
        object_format="",
        head=snapshot.base_ref,
    )


def _repository_diagnostics(
    snapshot: Snapshot, head: str | None, head_name: str | None
) -> list[Diagnostic]:
    return []
