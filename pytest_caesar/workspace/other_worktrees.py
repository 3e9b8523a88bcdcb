"""The other worktrees of a repository: what somebody beside the agent may be working on."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_caesar.workspace import locks
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.index_changes import index_changes
from pytest_caesar.workspace.index_file import IndexEntry, read_index
from pytest_caesar.workspace.naming import OWN_FOLDERS
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.path_states import MAX_FILE_BYTES, facts_of
from pytest_caesar.workspace.repositories_inside import head_of
from pytest_caesar.workspace.repository_state import check_ignored
from pytest_caesar.workspace.rules import merge_ignore_rules
from pytest_caesar.workspace.state_before import Snapshot, read_plain_file

MAX_WORKTREES = 32
"""Worktrees that are compared: the user's before those of finished tasks, the latest of these."""

MAX_INDEX_BYTES = 16 << 20
"""Bytes of all their indexes together; of what lies beyond, HEAD is compared alone."""

MAX_FILES = 5_000
"""Files of all of them together whose state is remembered."""


_GIT_MODE = 0o170100
"""What git tells of a mode: the type, and whether the owner may run it."""


@dataclass(frozen=True, slots=True)
class OtherWorktree:
    """A worktree in which nobody was to work, as it stood.

    Attributes:
        top: where its files lie.
        git_dir: git's own folder for it.
        frame: what its files are compared with: rules and settings of the repository.
        head: what its HEAD said, and the branch that it named.
        index: bytes of its index, or None where they are not compared.
        files: state of each file, or None where they are not compared.
        writers: how often somebody worked in place there.
    """

    top: Path
    git_dir: Path
    frame: Snapshot
    head: tuple[bytes | None, ...]
    index: bytes | None
    files: dict[bytes, tuple[int, ...]] | None
    writers: int

    def changes(self) -> Iterator[tuple[str, str]]:
        """Yield what is different now: a path, and what happened to it."""
        if locks.is_held(self.top) or locks.times_taken(self.top) != self.writers:
            return
        if not self.top.is_dir():
            yield "", "is gone"
            return
        if head_of(self.git_dir, self.frame.common_dir) != self.head:
            yield "HEAD", "names another branch or commit"
        if self.index is None:
            return
        now = read_plain_file(self.git_dir / "index", MAX_INDEX_BYTES) or b""
        frame = replace(
            self.frame, top=self.top, git_dir=self.git_dir, index=self.index, index_time=1
        )
        if self.files is not None:
            after = files_of(self.top, MAX_FILES)
            if after is None:
                yield "", f"has more than {MAX_FILES} files now"
            else:
                yield from self._file_changes(frame, after)
        for path in index_changes(frame, self.index, now):
            yield os.fsdecode(path), "has another entry in the index"

    def _file_changes(
        self, frame: Snapshot, after: dict[bytes, tuple[int, ...]]
    ) -> Iterator[tuple[str, str]]:
        before = self.files or {}
        paths = {
            path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
        }
        if not paths:
            return
        entries = {entry.path: entry for entry in read_index(self.index or b"") or ()}
        paths = {path for path in paths if not self._is_as_git_has_it(path, entries.get(path))}
        paths -= self._ignored(frame, paths - entries.keys(), paths)
        for path in sorted(paths):
            told = "was modified"
            if path not in after:
                told = "was deleted"
            elif path not in before:
                told = "was created"
            yield os.fsdecode(path), told

    def _is_as_git_has_it(self, path: bytes, entry: IndexEntry | None) -> bool:
        """Tell whether a file that was clean is clean again: only its times are other ones."""
        known = (self.files or {}).get(path)
        if entry is None or not known or not _was_clean(entry, known):
            return False
        full = os.path.join(os.fsencode(self.top), path)  # noqa: PTH118 - bytes
        facts = facts_of(full)
        same_mode = bool(facts) and (facts[0] ^ known[0]) & _GIT_MODE == 0
        return same_mode and _blob_id(full, facts, len(entry.oid)) == entry.oid

    def _ignored(self, frame: Snapshot, unknown: set[bytes], changed: set[bytes]) -> set[bytes]:
        """Return those of ``unknown`` that git ignores, by rules that are as they were."""
        if not unknown:
            return set()
        rules = []
        for path in self.files or {}:
            folder, _, name = path.rpartition(b"/")
            if name == b".gitignore" and path not in changed:
                full = os.path.join(os.fsencode(self.top), path)  # noqa: PTH118 - bytes
                rules.append((folder, read_plain_file(full) or b""))
        room = new_folder(frame.room)
        try:
            (room / "git").mkdir()
            (room / "tree").mkdir()
            empty = replace(frame, top=room / "tree", objects=(), index=b"", attributes=b"")
            observer = Observer(empty, room / "git")
            text = merge_ignore_rules(rules, general=[frame.excludes])
            (room / "git" / "info" / "exclude").write_bytes(text)
            return set(check_ignored(observer.git, sorted(unknown), "--no-index"))
        except GitError:
            return set()
        finally:
            discard(room)


def other_worktrees(
    frame: Snapshot, common_dir: Path, *, without: set[Path], tasks: Path | None, ours: Path | None
) -> tuple[OtherWorktree, ...]:
    """Remember the worktrees of a repository.

    Args:
        frame: rules and settings of the repository; its excludes hold for all of it.
        common_dir: git directory of the repository.
        without: top levels that are compared otherwise, or not at all.
        tasks: folder of the task directories of finished tasks and of those in flight.
        ours: folder of the worktrees that were made for tasks.
    """
    found: list[OtherWorktree] = []
    bytes_left, files_left = MAX_INDEX_BYTES, MAX_FILES
    for top, git_dir in _places(common_dir, tasks=tasks, ours=ours):
        if top in without or locks.is_held(top):
            continue
        if len(found) >= MAX_WORKTREES:
            break
        index = read_plain_file(git_dir / "index", bytes_left + 1) or b""
        compared = len(index) <= bytes_left
        bytes_left -= len(index) if compared else 0
        files = files_of(top, files_left) if compared else None
        files_left -= len(files or ())
        found.append(
            OtherWorktree(
                *(top, git_dir, frame, head_of(git_dir, common_dir)),
                index=index if compared else None,
                files=files,
                writers=locks.times_taken(top),
            )
        )
    return tuple(found)


def files_of(top: Path, limit: int) -> dict[bytes, tuple[int, ...]] | None:
    """Return the state of every file below a folder; None where there are more than ``limit``.

    What belongs to git, or to the orchestrator, is passed over.
    """
    found: dict[bytes, tuple[int, ...]] = {}
    root = os.fsencode(top)
    folders = [b""]
    seen = 0
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:  # noqa: PTH118 - bytes
                for entry in entries:
                    seen += 1
                    if seen > limit:
                        return None
                    path = folder + entry.name
                    if entry.name == b".git" or path in OWN_FOLDERS:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(path + b"/")
                    else:
                        found[path] = facts_of(entry.path)
        except OSError:
            continue
    return found


def _places(
    common_dir: Path, *, tasks: Path | None, ours: Path | None
) -> Iterator[tuple[Path, Path]]:
    """Yield top level and git directory of each worktree that nobody works in for a task."""
    if common_dir.name == ".git":
        yield common_dir.parent, common_dir
    notes = common_dir / "worktrees"
    made = set(_names(ours)) if ours is not None else set()
    names = _names(notes)
    theirs = sorted(name for name in names if name not in made)
    latest = sorted((name for name in names if name in made), reverse=True)
    for name in (*theirs, *latest[:MAX_WORKTREES]):
        text = os.fsdecode(read_plain_file(notes / name / "gitdir", 8192) or b"").strip()
        if not text.endswith("/.git"):
            continue
        top = Path(os.path.normpath(notes / name / text)).parent
        # Without a record the task is in flight, or was broken off: nobody knows when.
        if top.parent == ours and tasks and not (tasks / top.name / "run.json").exists():
            continue
        if top.is_dir():
            yield top, notes / name


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names alone
    except OSError:
        return []


def _was_clean(entry: IndexEntry, facts: tuple[int, ...]) -> bool:
    _, size, inode, mtime, ctime = facts
    return (entry.stat[9], entry.stat[5]) == (size & 0xFFFFFFFF, inode & 0xFFFFFFFF) and (
        entry.stat[2],
        entry.stat[0],
    ) == (mtime // 10**9 & 0xFFFFFFFF, ctime // 10**9 & 0xFFFFFFFF)


def _blob_id(full: bytes, facts: tuple[int, ...], size: int) -> bytes:
    """Return the id that git would give a file; b"" for what is not looked at."""
    if stat.S_ISLNK(facts[0]):
        data: bytes | None = os.readlink(full)  # noqa: PTH115 - bytes
    elif stat.S_ISREG(facts[0]) and facts[1] <= MAX_FILE_BYTES:
        data = read_plain_file(full, MAX_FILE_BYTES)
    else:
        data = None
    if data is None:
        return b""
    algorithm = hashlib.sha1 if size == 20 else hashlib.sha256
    return algorithm(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()
