"""Repositories inside a work tree, submodules among them, that were there before the agent.

Neither their git directories nor their objects are trusted: what lies in them is compared
with what lay in them, at every depth.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from pytest_caesar.workspace.index_file import read_index
from pytest_caesar.workspace.naming import is_holdable
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.path_states import look_at, same
from pytest_caesar.workspace.remembered_files import InsideState, PathState
from pytest_caesar.workspace.repository_state import folder_mark
from pytest_caesar.workspace.rules import merge_ignore_rules
from pytest_caesar.workspace.state_before import MAX_INDEX_BYTES, Snapshot, read_plain_file

MAX_REPOSITORIES = 200
"""Repositories inside repositories that are looked into."""

MAX_FILES = 200_000
"""Files of one of them."""


class Inside:
    """Looks at repositories inside a work tree."""

    def __init__(self, frame: Snapshot) -> None:
        """Take settings and room from the snapshot of the work tree."""
        self._frame = frame
        self._left = MAX_REPOSITORIES

    def state(self, folder: Path, before: InsideState | None = None) -> InsideState:
        """Return the state of a repository.

        Args:
            folder: its top level.
            before: its earlier state; the rules of that time decide what is ignored.
        """
        self._left -= 1
        git_dir = git_dir_of(folder)
        excludes = None if before is None else before.rules
        names, repositories = self._listed(folder, excludes)
        index = read_plain_file(git_dir / "index", MAX_INDEX_BYTES) if git_dir else None
        entries = read_index(index or b"") or []
        repositories |= {entry.path for entry in entries if entry.mode == 0o160000}
        if before is None:
            # What it tracks counts, whatever it ignores.
            names |= {entry.path for entry in entries if is_holdable(entry.path)} - repositories
            rules = self._rules(folder, git_dir, names)
        else:
            names |= before.files.keys()
            repositories |= before.inside.keys()
            rules = before.rules
        names = set(sorted(names)[:MAX_FILES])
        earlier = before.inside if before is not None else {}
        return InsideState(
            head_of(git_dir),
            _own(git_dir),
            rules,
            look_at(folder, names, beside=before.files if before is not None else None),
            {
                path: self.state(folder / os.fsdecode(path), earlier.get(path))
                for path in sorted(repositories)
                if self._left > 0 and is_repository(folder / os.fsdecode(path))
            },
        )

    def _listed(self, folder: Path, excludes: bytes | None) -> tuple[set[bytes], set[bytes]]:
        """Return files and repositories in a folder but for what is ignored."""
        room = new_folder(self._frame.room)
        try:
            empty = replace(
                self._frame,
                top=folder,
                index=b"",
                objects=(),
                attributes=b"",
                excludes=excludes or b"",
                sparse=None,
            )
            observer = Observer(empty, room)
            how = ["--exclude-per-directory=.gitignore"] if excludes is None else []
            if excludes is None:
                git_dir = git_dir_of(folder)
                text = read_plain_file(git_dir / "info" / "exclude") if git_dir else None
                (room / "excludes").write_bytes(text or b"")
            records = observer.git.run(
                "ls-files", "-z", "--others", f"--exclude-from={room / 'excludes'}", *how
            ).records
        finally:
            discard(room)
        repositories = {path[:-1] for path in records if path.endswith(b"/")}
        return {path for path in records if not path.endswith(b"/")}, repositories

    def _rules(self, folder: Path, git_dir: Path | None, names: set[bytes]) -> bytes:
        root = os.fsencode(folder)
        texts = [
            (path.rpartition(b"/")[0], read_plain_file(os.path.join(root, path)) or b"")  # noqa: PTH118 - bytes
            for path in names
            if path.rpartition(b"/")[2] == b".gitignore"
        ]
        general = read_plain_file(git_dir / "info" / "exclude") if git_dir else None
        return merge_ignore_rules(texts, general=[general])


def differences(before: InsideState, after: InsideState) -> list[str]:
    """Say what is different in a repository, in phrases; [] when nothing is."""
    told = []
    for path in sorted(before.files.keys() | after.files.keys()):
        old, new = before.files.get(path, PathState()), after.files.get(path, PathState())
        if same(old, new):
            continue
        how = "deleted" if not new.exists else "modified" if old.exists else "created"
        told.append(f"{os.fsdecode(path)} {how}")
    for path in sorted(before.inside.keys() | after.inside.keys()):
        name = os.fsdecode(path)
        if path not in after.inside:
            told.append(f"{name}/ deleted")
        elif path not in before.inside:
            told.append(f"{name}/ created")
        else:
            below = differences(before.inside[path], after.inside[path])
            told += [f"{name}/{phrase}" for phrase in below]
    if before.head != after.head:
        told.append("HEAD moved")
    if before.own != after.own:
        told.append(".git/config or hooks changed")
    return told


def git_dir_of(folder: Path) -> Path | None:
    """Return the git directory that a ``.git`` is or names, or None."""
    entry = folder / ".git"
    if entry.is_dir():
        return entry
    text = os.fsdecode(read_plain_file(entry, 8192) or b"")
    if not text.startswith("gitdir: "):
        return None
    git_dir = folder / text[8:].strip()
    return git_dir if git_dir.is_dir() else None


def is_repository(folder: Path) -> bool:
    """Tell whether a folder, and not a link to one, has a git directory."""
    return not folder.is_symlink() and git_dir_of(folder) is not None


def head_of(git_dir: Path | None, common: Path | None = None) -> tuple[bytes | None, ...]:
    """Return what HEAD says, and what the branch says that it names.

    Args:
        git_dir: git directory of a checkout, or None.
        common: the one that it shares with others, where branches are.
    """
    if git_dir is None:
        return ()
    text = read_plain_file(git_dir / "HEAD", 4096)
    name = os.fsdecode((text or b"").strip()).removeprefix("ref: ")
    if not text or not text.startswith(b"ref: ") or ".." in name or name.startswith("/"):
        return (text,)
    shared = common or git_dir
    value = read_plain_file(shared / name, 4096)
    return (text, _packed(shared, name) if value is None else value.strip())


def _packed(common: Path, name: str) -> bytes | None:
    """Return the id of a ref that has no file of its own, as ``git gc`` leaves it."""
    before, found, _ = (read_plain_file(common / "packed-refs") or b"").partition(
        b" " + os.fsencode(name) + b"\n"
    )
    return before.rpartition(b"\n")[2] if found else None


def _own(git_dir: Path | None) -> tuple[object, ...]:
    if git_dir is None:
        return ()
    return (read_plain_file(git_dir / "config"), folder_mark(git_dir / "hooks"))
