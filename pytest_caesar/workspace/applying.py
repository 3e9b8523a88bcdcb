"""Taking over what an agent changed: all of it, or nothing."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from caesar_agent.errors import CaesarError
from pytest_caesar.workspace import baseline_tree
from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.naming import is_holdable, named
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.patch import applicable
from pytest_caesar.workspace.quiet_git import quiet_git
from pytest_caesar.workspace.repository_state import Checkout, survey

MAX_NAMED = 10
"""Paths named in a refusal."""

_COMPLAINT = re.compile(r"^error: (?:patch failed: )?(.+?)(?::\d+)?(?:: [^:]+)?$")

_OBSTRUCTED = re.compile(
    r"unable to write file '(.+)' mode [0-7]+: (?:Directory not empty|Is a directory|File exists)"
)
"""What git does not look for before it writes: a folder that it ignores, say."""


class ApplyError(CaesarError):
    """A patch was not applied, and nothing was changed.

    Attributes:
        repository: where it should have been applied.
        problem: why it was not.
        paths: those that stand against it, relative to the repository.
    """

    __module__ = "pytest_caesar"

    repository: str
    problem: str
    paths: tuple[str, ...]

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        where = f": {named(self.paths, MAX_NAMED)}" if self.paths else ""
        return (
            f"nothing was applied to {self.repository}: {self.problem}{where}. "
            "Commit or move your own edits there, then apply again."
        )


def apply_patch(repository: Path, patch: bytes) -> bool:
    """Apply a patch to the files of a repository, or leave everything as it is.

    Edits of the user's that do not touch the same lines are kept. The index,
    branches and objects of the repository are not written. No filter runs.

    Args:
        repository: any folder of the checkout; a worktree of the task is not needed.
        patch: as observed, relative to the top level.

    Returns:
        Whether anything was written; False where all of the patch was there already.

    Raises:
        ApplyError: a file stands against it, or git cannot work there.
    """
    patch = applicable(patch)
    if not patch:
        return False
    try:
        checkout, settings = survey(repository.resolve())
        if checkout is None:
            raise ApplyError(
                repository=str(repository), problem="it is not a git repository", paths=()
            )
        return _apply(checkout, settings, patch)
    except GitError as error:
        raise ApplyError(repository=str(repository), problem=str(error), paths=()) from error


def _apply(checkout: Checkout, settings: dict[str, str], patch: bytes) -> bool:
    room = new_folder(checkout.top / ".no-such-folder")
    try:
        merged, paths = _merge(checkout, settings, patch, room)
    finally:
        discard(room)
    if not merged:
        return False  # all of it is there already
    with quiet_git(checkout, settings) as git:
        _write(git, checkout, merged, paths)
    return True


def _write(git: Git, checkout: Checkout, merged: bytes, paths: list[bytes]) -> None:
    apply = ("apply", "--binary", "--whitespace=nowarn")
    try:
        git.run(*apply, "--check", "-", stdin=merged)
    except GitError as error:
        raise _refusal(checkout, "files are in the way", error.stderr) from error
    try:
        with _restored_on_failure(checkout, paths):
            git.run(*apply, "-", stdin=merged)
    except GitError as error:
        if found := _OBSTRUCTED.findall(error.stderr):
            problem = "files are in the way"
            raise ApplyError(
                repository=str(checkout.top), problem=problem, paths=tuple(found)
            ) from error
        raise


def _merge(
    checkout: Checkout, settings: dict[str, str], patch: bytes, room: Path
) -> tuple[bytes, list[bytes]]:
    """Merge the patch into a copy of the present state; a patch of just that, and its paths."""
    present = room / "present"
    snapshot = baseline_tree.of_work_tree(
        checkout, settings, excluded=(b".caesar",), folder=present, room=room
    )
    (room / "merged").mkdir()
    observer = Observer(snapshot, room / "merged")
    tree = _with_ignored(observer, patch)
    index = observer.index.read_bytes() if observer.index.exists() else b""
    try:
        observer.git.run(
            *("apply", "--cached", "--3way", "--binary", "--whitespace=nowarn", "-"), stdin=patch
        )
    except GitError as error:
        unmerged = observer.git.run("ls-files", "-z", "--unmerged").records
        conflicts = {os.fsdecode(record.split(b"\t", 1)[1]) for record in unmerged}
        if _is_applied(observer, index, patch):
            return b"", []
        if conflicts:
            problem = "the same lines were changed in the meantime"
            raise ApplyError(
                repository=str(checkout.top), problem=problem, paths=tuple(sorted(conflicts))
            ) from error
        raise _refusal(checkout, "the patch does not fit the files there", error.stderr) from error
    entries, merged = observer.diff(tree)
    paths = {path for entry in entries for path in (entry.path, entry.old_path) if path}
    return merged, sorted(paths)


def _with_ignored(observer: Observer, patch: bytes) -> str:
    """Take in what the patch names and git ignores here; return the tree of all that lies there.

    A patch that was applied before may itself have had its files ignored.
    """
    # What is no patch at all, or leads out of the checkout, is refused where it is applied.
    listing = ("apply", "--numstat", "-z", "-")
    said = observer.git.run(*listing, stdin=patch, accept=(0, 1, 128)).records
    paths = {record.split(b"\t", 2)[2] for record in said}
    top = os.fsencode(observer.snapshot.top)
    unknown = paths.difference(observer.git.run("ls-files", "-z", "--cached").records)
    there = [
        path
        for path in sorted(unknown)
        if is_holdable(path) and _is_file(os.path.join(top, path))  # noqa: PTH118 - bytes
    ]
    if not there:
        return observer.snapshot.tree
    observer.stage(there)
    return observer.tree()


def _is_file(path: bytes) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _is_applied(observer: Observer, index: bytes, patch: bytes) -> bool:
    """Tell whether the present state is what the patch leads to."""
    observer.index.write_bytes(index)
    try:
        observer.git.run("apply", "--cached", "--check", "--reverse", "--binary", "-", stdin=patch)
    except GitError:
        return False
    return True


def _refusal(checkout: Checkout, problem: str, said: str) -> ApplyError:
    found = [_COMPLAINT.match(line) for line in said.splitlines()]
    paths = tuple(dict.fromkeys(match[1] for match in found if match))
    return ApplyError(repository=str(checkout.top), problem=problem, paths=paths)


@contextlib.contextmanager
def _restored_on_failure(checkout: Checkout, paths: Iterable[bytes]) -> Iterator[None]:
    """Put files back as they were when writing fails half-way, on a full disk say."""
    room = new_folder(checkout.top / ".no-such-folder")
    saved: list[tuple[Path, Path | None]] = []
    try:
        for number, raw in enumerate(paths):
            path = checkout.top / os.fsdecode(raw)
            copy = None
            if path.is_symlink() or path.is_file():
                copy = room / str(number)
                shutil.copy2(path, copy, follow_symlinks=False)
            saved.append((path, copy))
        yield
    except BaseException:
        for path, copy in saved:
            with contextlib.suppress(OSError):
                if path.is_symlink() or path.is_file():
                    path.unlink()
                if copy is not None:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(copy, path, follow_symlinks=False)
        raise
    finally:
        discard(room)
