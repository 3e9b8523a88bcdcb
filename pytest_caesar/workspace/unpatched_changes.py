"""Changes that no patch carries, and how they are told."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from dataclasses import replace

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Action
from pytest_caesar.workspace import submodules
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.large_files import LargeFile
from pytest_caesar.workspace.naming import named, shown
from pytest_caesar.workspace.observer import Entry, Observer, Scan, discard, new_folder
from pytest_caesar.workspace.repositories_inside import Inside, differences
from pytest_caesar.workspace.repository_state import check_ignored
from pytest_caesar.workspace.state_before import Snapshot, is_within
from pytest_caesar.workspace.values import ObservedChange

MAX_NAMED = 1000
"""Findings of one kind that are named; the others are counted."""


class UnverifiedError(Exception):
    """Git looked, and what it showed cannot be trusted."""


def in_workspace(prefix: str, path: bytes) -> str:
    """Turn a path of the repository into one of the workspace, ``../`` where it is outside."""
    text = os.fsdecode(path)
    return posixpath.relpath(text, prefix) if prefix else text


def left_out_changes(
    snapshot: Snapshot, scan: Scan, left_out: dict[bytes, str], entries: list[Entry]
) -> list[ObservedChange]:
    """Tell of files that git cannot hold, with the reason."""
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


def nested_changes(snapshot: Snapshot, scan: Scan) -> list[ObservedChange]:
    """Tell of repositories inside that were made, removed or worked in."""
    found = set(scan.nested)
    actions: list[tuple[bytes, Action, str]] = [
        (path, "created", "a repository of its own: contents not verified by git, ")
        for path in found - snapshot.nested
    ]
    top = os.fsencode(snapshot.top)
    for raw in sorted(snapshot.nested - found):
        full = os.path.join(top, raw)  # noqa: PTH118 - bytes
        if not os.path.isdir(full) or os.path.islink(full):  # noqa: PTH112, PTH114 - bytes
            actions.append((raw, "deleted", "it was a repository of its own; "))
        else:
            # Its files are told as such.
            actions.append((raw, "modified", "it is no repository of its own any more; "))
    looking = Inside(snapshot)
    actions += [
        (raw, "modified", f"a repository of its own ({phrases}); ")
        for raw in sorted(found & snapshot.nested)
        if (phrases := _inside_changes(snapshot, looking, raw))
    ]
    return [
        ObservedChange(
            path=(name := in_workspace(snapshot.prefix, raw) + "/"),
            action=action,
            outside=name.startswith("../"),
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


def closed_changes(
    snapshot: Snapshot, observer: Observer, folders: dict[bytes, str]
) -> list[ObservedChange]:
    """Tell of folders that stay closed; the rest of the tree is verified all the same."""
    if b"" in folders:
        raise UnverifiedError(f"the folder {snapshot.top} cannot be read: {folders[b'']}")
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


def submodule_changes(snapshot: Snapshot, entries: list[Entry]) -> list[ObservedChange]:
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


def git_named_changes(
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
    ignored = set(ignored_names(snapshot, list(dict.fromkeys(beside.values()))))
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


def large_changes(snapshot: Snapshot, large: Iterable[LargeFile]) -> list[ObservedChange]:
    """Tell of files that are too large for the patch."""
    return [
        ObservedChange(
            path=(path := in_workspace(snapshot.prefix, file.path)),
            action=file.action,
            outside=path.startswith("../"),
            note=file.note,
        )
        for file in large
    ]


def unpatched_findings(
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


def ignored_names(snapshot: Snapshot, paths: list[bytes]) -> list[bytes]:
    """Return those of ``paths`` that were ignored before the agent."""
    return matched_names(snapshot, snapshot.excludes, paths)


def matched_names(snapshot: Snapshot, patterns: bytes, paths: list[bytes]) -> list[bytes]:
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
