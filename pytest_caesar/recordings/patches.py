"""Patches in recordings: what is hidden in them, and how they get into a workspace."""

from __future__ import annotations

from collections.abc import Callable

from caesar_agent.task_directory import read_bounded
from pytest_caesar.recordings.placeholders import Places
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.patch import applicable
from pytest_caesar.workspace.state_before import Snapshot

MAX_LOOK_BYTES = 64 * 2**20
"""Bytes of a binary file that are searched for a secret at most."""


MAX_TREES = 1000
"""Commits whose trees are remembered: an id stands for the same tree wherever it is seen."""

_TREES: dict[str, str] = {}


class PatchError(ValueError):
    """A patch cannot be recorded, or does not apply; the text says why."""


def hide_patch(patch: bytes, places: Places) -> bytes:
    """Put placeholders into the lines that the agent added; all others are the repository's.

    Raises:
        PatchError: a line that must stay as it is holds a secret.
    """

    def other(line: bytes) -> bytes:
        name = places.secret_in(line)
        if name is not None:
            message = (
                f"the patch shows the value of the variable {name} in a line that is in the "
                "repository already, or in a file's name"
            )
            raise PatchError(message)
        return line

    return _each_line(patch, places.hide, other)


def show_patch(patch: bytes, places: Places) -> bytes:
    """Put back what ``hide_patch`` hid."""
    return _each_line(patch, places.show, bytes)


def check_binaries(run: Run, places: Places) -> None:
    """Refuse a patch that carries a secret in a form that cannot be read.

    Raises:
        PatchError: a changed binary file holds a secret.
    """
    if b"\nGIT binary patch\n" not in bytes(run.patch):
        return
    for change in run.changes:
        data = read_bounded(run.workspace / change.path, max_bytes=MAX_LOOK_BYTES).data
        name = places.secret_in(data) if data else None
        if name is not None:
            message = f"{change.path} holds the value of the variable {name}"
            raise PatchError(message)


def base_tree(snapshot: Snapshot | None) -> str | None:
    """Return the id of the tree that the agent starts from; the same wherever its files are."""
    if snapshot is None:
        return None
    if snapshot.tree not in _TREES:
        room = new_folder(snapshot.room)
        try:
            git = Observer(snapshot, room).git
            tree = git.run("rev-parse", "--verify", f"{snapshot.tree}^{{tree}}").lines[0]
        finally:
            discard(room)
        if len(_TREES) >= MAX_TREES:
            _TREES.clear()
        _TREES[snapshot.tree] = tree
    return _TREES[snapshot.tree]


def put_patch(snapshot: Snapshot, patch: bytes) -> None:
    """Apply a patch to a workspace, with the configuration that it is observed with.

    Git itself refuses paths that lead out of the workspace, into ``.git`` or through links.

    Raises:
        PatchError: it does not apply.
    """
    patch = applicable(patch)
    if not patch:
        return
    room = new_folder(snapshot.room)
    try:
        Observer(snapshot, room).git.run(
            "apply", "--binary", "--whitespace=nowarn", "-", stdin=patch
        )
    except GitError as error:
        raise PatchError(error.stderr.strip() or str(error)) from error
    finally:
        discard(room)


def changed_files(patch: bytes) -> list[bytes]:
    """Return the headers of the files in a patch, in order."""
    return [line for line in patch.split(b"\n") if line.startswith(b"diff --git ")]


def _each_line(
    patch: bytes, added: Callable[[bytes], bytes], other: Callable[[bytes], bytes]
) -> bytes:
    return b"\n".join(
        b"+" + added(line[1:]) if line[:1] == b"+" and line[:4] != b"+++ " else other(line)
        for line in patch.split(b"\n")
    )
