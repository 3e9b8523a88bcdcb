"""The project beside the workspace: its own checkout and its other worktrees, before and after.

The orchestrator owns the repository while an agent works in a worktree of it. What is
different there afterwards is told, whoever did it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.workspace import locks
from pytest_caesar.workspace.baseline_tree import (
    FIRST_SECOND,
    RULE_NAMES,
    read_checkout_index,
    rule_files,
)
from pytest_caesar.workspace.file_systems import times_tell
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.index_changes import index_changes
from pytest_caesar.workspace.index_file import has_gitlinks, read_index, without_bits
from pytest_caesar.workspace.naming import OWN_FOLDERS, named, shown
from pytest_caesar.workspace.observer import Observer, Scan, discard, new_folder
from pytest_caesar.workspace.other_worktrees import OtherWorktree, other_worktrees
from pytest_caesar.workspace.path_states import look_at, same
from pytest_caesar.workspace.remembered_files import InsideState, PathState
from pytest_caesar.workspace.repositories_inside import (
    Inside,
    differences,
    head_of,
    is_repository,
)
from pytest_caesar.workspace.repository_state import EMPTY_TREES, Checkout, read_rules
from pytest_caesar.workspace.state_before import (
    Snapshot,
    is_within,
    observer_config,
    read_plain_file,
)

MAX_NAMED = 1000
"""Findings of this kind that are named; the others are counted."""

MAX_INDEX_BYTES = 256 << 20
"""Bytes of an index that is read afterwards."""


@dataclass(frozen=True, slots=True)
class OwnCheckout:
    """The checkout that the project itself lies in.

    Attributes:
        snapshot: its index, rules and configuration.
        head: what its HEAD said, and the branch that it named.
        differing: paths that were not as the index says already, and their state.
        inside: repositories in it, submodules among them.
        writers: how often somebody worked in place there.
    """

    snapshot: Snapshot
    head: tuple[bytes | None, ...]
    differing: dict[bytes, PathState]
    inside: dict[bytes, InsideState]
    writers: int

    @classmethod
    def begin(cls, snapshot: Snapshot, differing: set[bytes] | None) -> OwnCheckout | None:
        """Remember a checkout; None where somebody works in it.

        Args:
            snapshot: of the checkout.
            differing: what git status said; None looks.
        """
        if locks.is_held(snapshot.top):
            return None
        if differing is None:
            with contextlib.closing(_Look(snapshot)) as look:
                differing = look.finish().differing
        return cls(
            snapshot,
            head_of(snapshot.git_dir, snapshot.common_dir),
            look_at(snapshot.top, differing),
            _inside(snapshot, differing),
            locks.times_taken(snapshot.top),
        )

    def changes(self, look: _Look) -> Iterator[tuple[str, str]]:
        """Yield what is different now: a path, and what happened to it."""
        before, snapshot = self.differing, self.snapshot
        scan = look.finish()
        there = scan.differing
        now = look_at(snapshot.top, {*before, *there}, beside=before)
        for path in sorted({*before, *there}):
            if path in before and same(before[path], now[path]):
                continue
            if path in before and path not in there and path not in scan.tracked:
                told = "went back to what git has" if now[path].exists else "was deleted"
            elif not now[path].exists:
                told = "was deleted"
            else:
                is_new = path not in before and path not in scan.tracked
                told = "was created" if is_new else "was modified"
            yield os.fsdecode(path), told
        looking = Inside(snapshot)
        for path, state in self.inside.items():
            folder = snapshot.top / os.fsdecode(path)
            if is_repository(folder) and (
                found := differences(state, looking.state(folder, state))
            ):
                yield os.fsdecode(path) + "/", f"was modified ({named(found)})"
        index = read_plain_file(snapshot.git_dir / "index", MAX_INDEX_BYTES) or b""
        for path in index_changes(snapshot, snapshot.first_index, index):
            yield os.fsdecode(path), "has another entry in the index"
        if head_of(snapshot.git_dir, snapshot.common_dir) != self.head:
            yield "HEAD", "names another branch or commit"


def _inside(snapshot: Snapshot, differing: Iterable[bytes]) -> dict[bytes, InsideState]:
    """Look into the repositories that lie in a checkout."""
    paths = {path[:-1] for path in differing if path.endswith(b"/")}
    if has_gitlinks(snapshot.index, sha256=len(snapshot.tree) == 64):
        entries = read_index(snapshot.index) or ()
        paths |= {entry.path for entry in entries if entry.mode == 0o160000}
    looking = Inside(snapshot)
    folders = {path: snapshot.top / os.fsdecode(path) for path in sorted(paths)}
    return {
        path: looking.state(folder)
        for path, folder in folders.items()
        if is_repository(folder) and not is_within(path, snapshot.excluded)
    }


class _Look:
    """Git looking at a checkout, in a git directory of ours."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._room = new_folder(snapshot.room)
        try:
            self._observer = Observer(snapshot, self._room)
            self._scanning = self._observer.start_scan()
        except BaseException:
            discard(self._room)
            raise

    def finish(self) -> Scan:
        """Wait for what git found."""
        return self._observer.confirmed(self._scanning.finish())

    def close(self) -> None:
        """End the look at once, if it goes on."""
        self._scanning.stop()
        discard(self._room)


@dataclass(frozen=True, slots=True)
class ProjectState:
    """A repository beside the workspace of an agent, as it stood before.

    Attributes:
        own: the project's own checkout; None where the agent works in it, or another one does.
        others: the other worktrees.
    """

    own: OwnCheckout | None
    others: tuple[OtherWorktree, ...]

    def begin_look(self) -> ProjectLook:
        """Start to look at it again; the agent must be gone."""
        return ProjectLook(self)


def project_before(
    checkout: Checkout,
    settings: dict[str, str],
    *,
    workspace: Path | None,
    room: Path,
    status: Sequence[bytes] | None = None,
) -> ProjectState:
    """Remember a repository beside a workspace.

    Args:
        checkout: the project's own.
        settings: its effective configuration.
        workspace: top level of the checkout that the agent works in; None when in this one.
        room: where a git directory may be made later.
        status: what ``git status --porcelain -z --no-renames --untracked-files=all`` said of
            the checkout just now; without, it is looked at.
    """
    index, index_time = read_checkout_index(checkout)
    root = os.fsencode(checkout.top)
    if not times_tell(checkout.top, room):
        index_time, status = FIRST_SECOND, None
    bare = without_bits(
        index,
        lambda path: not os.path.lexists(os.path.join(root, path)),  # noqa: PTH118 - bytes
        sha256=checkout.object_format == "sha256",
    )
    differing = None if status is None else {_path(record) for record in status} - {b""}
    names = set(rule_files(checkout, index))
    names |= {path for path in differing or () if path.rpartition(b"/")[2] in RULE_NAMES}
    excludes, attributes = read_rules(checkout, settings, names)
    prefix = os.fsencode(checkout.prefix) + b"/" if checkout.prefix else b""
    own = (*OWN_FOLDERS, *(prefix + folder for folder in OWN_FOLDERS if prefix))
    snapshot = Snapshot(
        top=checkout.top,
        prefix="",
        git_dir=checkout.git_dir,
        common_dir=checkout.common_dir,
        objects=(checkout.objects,),
        index=bare,
        first_index=index,
        index_time=index_time,
        tree=EMPTY_TREES[checkout.object_format],
        room=room,
        config=observer_config(settings, checkout.object_format),
        excludes=excludes,
        attributes=attributes,
        excluded=own,
    )
    if differing is not None:
        differing = {path for path in differing if not is_within(path.rstrip(b"/"), own)}
    at_work = {checkout.top, *([workspace] if workspace else ())}
    main = checkout.common_dir.parent if checkout.common_dir.name == ".git" else checkout.top
    return ProjectState(
        OwnCheckout.begin(snapshot, differing) if workspace is not None else None,
        other_worktrees(
            snapshot,
            checkout.common_dir,
            without=at_work,
            tasks=main / ".caesar" / "tasks",
            ours=checkout.top / ".caesar" / "wt",
        ),
    )


def _path(record: bytes) -> bytes:
    """Return the path of a line of git status that is not as the index says; else b""."""
    return b"" if record[1:2] == b" " else record[3:]


class ProjectLook:
    """The look afterwards; git works on it while others do something else."""

    def __init__(self, state: ProjectState) -> None:
        self._state = state
        self._problem = ""
        self._own: _Look | None = None
        own = state.own
        if own is not None and not locks.is_held(own.snapshot.top):
            try:
                if not own.snapshot.top.is_dir():
                    self._problem = "it is gone"
                else:
                    self._own = _Look(own.snapshot)
            except (OSError, GitError) as error:
                self._problem = str(error)

    def findings(self) -> list[Diagnostic]:
        """Tell what is different now; ends the look."""
        found: dict[tuple[str, str], list[str]] = {}
        try:
            for where, path, told in self._all():
                found.setdefault((where, path), []).append(told)
        except (OSError, GitError) as error:
            self._problem = self._problem or str(error)
        finally:
            self.stop()
        findings = [
            _finding(where, path, " and ".join(dict.fromkeys(told)))
            for (where, path), told in list(found.items())[:MAX_NAMED]
        ]
        if len(found) > MAX_NAMED:
            findings.append(
                Diagnostic(
                    code="project-changed",
                    message=f"{len(found) - MAX_NAMED} more paths beside the workspace changed.",
                )
            )
        if self._problem:
            findings.append(
                Diagnostic(
                    code="project-unverified",
                    message="Whether the project's own checkout changed while the agent worked is "
                    f"not known: {self._problem}",
                )
            )
        return findings

    def stop(self) -> None:
        """End the look at once."""
        look, self._own = self._own, None
        if look is not None:
            look.close()

    def _all(self) -> Iterator[tuple[str, str, str]]:
        own = self._state.own
        if own is not None and self._own is not None:
            changes = list(own.changes(self._own))
            # Whoever worked there in place meanwhile is another task of ours, not an accident.
            if locks.times_taken(own.snapshot.top) == own.writers:
                yield from (("", path, told) for path, told in changes)
        for other in self._state.others:
            yield from ((str(other.top), path, told) for path, told in other.changes())


def _finding(where: str, path: str, told: str) -> Diagnostic:
    place = f"the worktree {shown(where)}" if where else "the project's own checkout"
    return Diagnostic(
        code="project-changed",
        message=f"While the agent worked, {shown(path)} {told} in {place}, which is not its "
        "workspace; by whom is not known.",
        path=os.path.join(where, path) if where else path,  # noqa: PTH118 - any text
    )
