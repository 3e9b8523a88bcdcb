"""Worktrees made for a task, and their end."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.files.removal import remove_tree
from pytest_caesar.workspace import locks, observation
from pytest_caesar.workspace.errors import (
    OccupiedError,
    UnrecordedWorkError,
    WorktreeImpossibleError,
)
from pytest_caesar.workspace.git import Git, GitError, Running
from pytest_caesar.workspace.git_directory import elsewhere
from pytest_caesar.workspace.naming import branch_name, named
from pytest_caesar.workspace.quiet_git import quiet_git
from pytest_caesar.workspace.repository_state import Checkout
from pytest_caesar.workspace.state_before import is_sparse, read_plain_file
from pytest_caesar.workspace.values import Observation, Workspace, WorkspaceRequest

MAX_BRANCHES = 100
"""Names that are tried when a branch of that name exists."""

_BEGINNING = re.compile(r"cannot lock ref '[^']+': '(refs/[^']+)' exists; cannot create")
"""A ref in whose place git needs a folder."""


@dataclass(frozen=True, slots=True)
class Made:
    """A fresh worktree.

    Attributes:
        checkout: of it.
        branch: made for it.
        diagnostics: what the user should know.
        status: what ``git status`` said of the checkout that it was made from, or None.
    """

    checkout: Checkout
    branch: str
    diagnostics: tuple[Diagnostic, ...]
    status: Sequence[bytes] | None


def create(
    request: WorkspaceRequest,
    checkout: Checkout,
    settings: dict[str, str],
    undo: contextlib.ExitStack,
) -> Made:
    """Make the worktree, its branch and the ref that keeps its start reachable.

    Args:
        request: for whom.
        checkout: where the user stands.
        settings: effective configuration of ``checkout``.
        undo: gets what takes everything back.
    """
    assert checkout.head is not None
    top = checkout.top / ".caesar" / "wt" / request.task_id
    if os.path.lexists(top):
        raise OccupiedError(what=str(top), remedy="Remove it, or choose another task id.")
    git = checkout.git
    with quiet_git(checkout, settings) as quiet:
        status = quiet.start(
            *("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"),
            "--ignore-submodules=all",
        )
        try:
            _make_room(checkout, undo)
            undo.callback(_remove_empty_folders, checkout.common_dir / "refs" / "heads" / "caesar")
            branch = _make_refs(git, request, checkout.head, undo)
            undo.callback(_destroy, top, checkout.common_dir)
            notes = _note_down(git, settings, checkout.common_dir, top, branch)
            fresh = replace(checkout, top=top, git_dir=notes)
            if is_sparse(settings):  # with patterns of its own
                with quiet_git(fresh, settings) as sparse:
                    _check_out(sparse, fresh)
            else:
                _check_out(elsewhere(quiet, top=top, index=notes / "index"), fresh)
            made = _checked(top, notes, checkout)
            filters = any(name.startswith("filter.") for name in settings)
            said = _finished(status)
            diagnostics = _uncommitted(quiet, said or [], checkout, filters=filters)
        except BaseException:
            status.stop()
            raise
    return Made(made, branch, diagnostics, said)


def _note_down(
    git: Git, settings: dict[str, str], common_dir: Path, top: Path, branch: str
) -> Path:
    """Make a worktree without files; return the folder in which git keeps notes about it."""
    if is_plain(settings):
        return add_plainly(common_dir, top, branch)
    git.run("worktree", "add", "--quiet", "--no-checkout", str(top), branch)
    text = os.fsdecode(read_plain_file(top / ".git", 8192) or b"").rstrip("\n")
    if not text.startswith("gitdir: "):
        raise OccupiedError(what=str(top), remedy="Git made no worktree there; check the disk.")
    return Path(os.path.normpath(top / text[8:]))


def _check_out(quiet: Git, checkout: Checkout) -> None:
    """Write the files of a fresh worktree, and its index."""
    assert checkout.head is not None
    locked = checkout.git_dir / "locked"
    if not os.path.lexists(locked):
        # Until all is there, a prune beside us must not take it for a leftover.
        locked.write_bytes(b"initializing\n")
    quiet.run("read-tree", "--reset", "-u", checkout.head)
    (checkout.git_dir / "ORIG_HEAD").write_bytes(f"{checkout.head}\n".encode())
    locked.unlink()


def is_plain(settings: dict[str, str]) -> bool:
    """Tell whether a repository uses nothing that changes how a worktree is noted down."""
    special = ("core.worktree", "core.sparsecheckout", "worktree.userelativepaths")
    return not any(
        name in special or (name.startswith("extensions.") and name != "extensions.objectformat")
        for name in settings
    )


def add_plainly(common_dir: Path, top: Path, branch: str) -> Path:
    """Do what ``git worktree add --no-checkout`` does, without a process.

    A test suite pays for a worktree with every delegation. The files are those of
    gitrepository-layout(5), and a test compares them with git's own.

    Returns:
        The folder in which git keeps notes about the worktree; it says that it is locked.

    Raises:
        OccupiedError: git knows a worktree of that name.
    """
    notes = common_dir / "worktrees" / top.name
    notes.parent.mkdir(exist_ok=True)
    try:
        notes.mkdir()
    except FileExistsError:
        raise OccupiedError(
            what=str(notes), remedy="Run git worktree prune, or choose another task id."
        ) from None
    (notes / "locked").write_bytes(b"initializing\n")
    (notes / "gitdir").write_bytes(os.fsencode(top / ".git") + b"\n")
    top.mkdir(parents=True)
    (top / ".git").write_bytes(b"gitdir: " + os.fsencode(notes) + b"\n")
    (notes / "commondir").write_bytes(b"../..\n")
    (notes / "HEAD").write_bytes(f"ref: refs/heads/{branch}\n".encode())
    return notes


def hide(folder: Path) -> None:
    """Keep a folder of ours out of the user's ``git status``."""
    if folder.parent.name == ".caesar" and not os.path.lexists(folder / ".gitignore"):
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(folder / ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            with os.fdopen(descriptor, "w") as file:
                file.write("*\n")


def remove(workspace: Workspace, *, task_id: str, recorded: Observation | None = None) -> None:
    """Remove what was made for a task: worktree, branch, ref, the orchestrator's copies.

    Work that is in no ``recorded`` observation is never deleted. Links are
    removed, not followed; read-only folders are made writable first.

    Args:
        workspace: as ``prepare`` made it; one in place loses nothing but our own files.
        task_id: whose.
        recorded: what was observed and saved elsewhere.

    Raises:
        UnrecordedWorkError: the worktree holds more than ``recorded``; it was kept.
    """
    locks.release(workspace.lock)
    if workspace.kept is not None:
        workspace.kept.close()
    snapshot = workspace.snapshot
    if snapshot is None:
        return
    if workspace.branch is not None and os.path.lexists(snapshot.top):
        _refuse_to_lose(workspace, recorded)
        _destroy(snapshot.top, snapshot.common_dir)
    if workspace.branch is not None:
        refs = (f"refs/heads/{workspace.branch}", f"refs/caesar/{task_id}")
        _delete_refs(Git(snapshot.common_dir), *refs)
    shutil.rmtree(snapshot.room / "observer", ignore_errors=True)


def take_away(top: Path | None, common_dir: Path, refs: Mapping[str, str]) -> None:
    """Remove a worktree and refs of a task that is over; what is in them must be saved.

    Args:
        top: the worktree, or None where there is none any more.
        common_dir: git directory of the repository.
        refs: full names, each with the commit that it must still name.

    Raises:
        GitError: a ref has moved meanwhile; none was deleted.
    """
    if refs:
        commands = "".join(f"delete {ref} {commit}\n" for ref, commit in refs.items())
        Git(common_dir).run("update-ref", "--stdin", stdin=commands.encode())
    if top is not None:
        _destroy(top, common_dir)
        with contextlib.suppress(OSError):
            if [entry.name for entry in top.parent.iterdir()] == [".gitignore"]:
                _remove_if_empty(top.parent)


def _make_room(checkout: Checkout, undo: contextlib.ExitStack) -> None:
    for folder in (checkout.top / ".caesar", checkout.top / ".caesar" / "wt"):
        if not os.path.lexists(folder):
            folder.mkdir(mode=0o755, exist_ok=True)
            undo.callback(_remove_if_empty, folder)
        if folder.is_symlink() or not folder.is_dir():
            raise OccupiedError(
                what=str(folder), remedy="It must be a folder, not a link or a file."
            )
    hide(checkout.top / ".caesar" / "wt")


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        if folder.name == "wt":
            (folder / ".gitignore").unlink(missing_ok=True)
        folder.rmdir()


def _remove_empty_folders(folder: Path) -> None:
    """Take away what git made for a ref that it then could not write; nothing behind a link."""
    if folder.is_symlink():
        return
    with contextlib.suppress(OSError):
        for below in sorted(folder.iterdir()):
            with contextlib.suppress(OSError):
                below.rmdir()
        folder.rmdir()


def _make_refs(git: Git, request: WorkspaceRequest, commit: str, undo: contextlib.ExitStack) -> str:
    """Create branch and keeping ref in one transaction; a taken branch name gets a number."""
    wanted = branch_name(request.task_id, request.objective, request.label)
    keep = f"refs/caesar/{request.task_id}"
    for number in range(1, MAX_BRANCHES + 1):
        branch = wanted if number == 1 else f"{wanted}-{number}"
        ref = f"refs/heads/{branch}"
        # "update" with no old value replaces a ref that an earlier run of this id left.
        commands = f"create {ref} {commit}\nupdate {keep} {commit}\n"
        try:
            git.run("update-ref", "--stdin", stdin=commands.encode())
        except GitError as error:
            if "reference already exists" in error.stderr:
                continue
            if beginning := _BEGINNING.search(error.stderr):
                name = beginning[1]
                kind = "branch" if name.startswith("refs/heads/") else "ref"
                raise OccupiedError(
                    what=f"the {kind} '{name.removeprefix('refs/heads/')}'",
                    remedy="Rename it: git cannot hold it and names that begin with it.",
                ) from error
            raise
        undo.callback(_delete_refs, git, ref, keep)
        return branch
    raise OccupiedError(what=f"branch '{wanted}'", remedy="Delete the branches of earlier tasks.")


def _delete_refs(git: Git, *refs: str) -> None:
    commands = "".join(f"delete {ref}\n" for ref in refs)
    with contextlib.suppress(GitError):
        git.run("update-ref", "--stdin", stdin=commands.encode())


def _destroy(top: Path, common_dir: Path) -> None:
    """Remove a worktree and what git notes about it, without asking git about either."""
    notes = notes_of(top, common_dir)
    if os.path.lexists(top):
        remove_tree(top)
    with contextlib.suppress(OSError):
        if notes is not None:
            remove_tree(notes)
        (common_dir / "worktrees").rmdir()  # only when it is empty, as git does


def notes_of(top: Path, common_dir: Path) -> Path | None:
    """Return the folder in which git keeps notes about a worktree of ours, or None.

    It carries the name of the worktree, to which git appends a number where that was taken,
    and the worktree and the notes name each other. What else an agent wrote into the notes
    of other worktrees makes none of them ours.
    """
    own = os.fsdecode(read_plain_file(top / ".git", 8192) or b"").strip()
    named = os.path.realpath(top / own[8:]) if own.startswith("gitdir: ") else ""
    try:
        entries = sorted((common_dir / "worktrees").iterdir())
    except OSError:
        return None
    found = []
    for entry in entries:
        number = entry.name[len(top.name) :]
        if not entry.name.startswith(top.name) or entry.is_symlink():
            continue
        text = os.fsdecode(read_plain_file(entry / "gitdir", 8192) or b"").strip()
        names_us, named_by_us = text == str(top / ".git"), named == os.path.realpath(entry)
        if number == "" and (names_us or named_by_us):
            return entry
        if number.isdecimal() and names_us and named_by_us:
            found.append(entry)
    return found[0] if found else None


def _checked(top: Path, notes: Path, checkout: Checkout) -> Checkout:
    """Return the checkout that was made at ``top``."""
    if not (top / checkout.prefix).is_dir():
        assert checkout.head is not None
        raise WorktreeImpossibleError(
            folder=str(checkout.top / checkout.prefix),
            problem=f"commit {checkout.head[:12]} does not hold this folder",
            remedy="Commit something in it, or ask for isolation 'inplace'.",
        )
    return replace(checkout, top=top, git_dir=notes)


def _finished(status: Running) -> list[bytes] | None:
    try:
        return status.finish().records
    except GitError:
        return None  # a hint is not worth a refusal


def _uncommitted(
    git: Git, status: Sequence[bytes], checkout: Checkout, *, filters: bool
) -> tuple[Diagnostic, ...]:
    assert checkout.head is not None
    paths = [os.fsdecode(line[3:]) for line in status if not line[3:].startswith(b".caesar/")]
    if paths and filters:
        # Without its filter such a file looks changed to git.
        stdin = b"".join(os.fsencode(path) + b"\0" for path in paths)
        said = git.run("check-attr", "-z", "--stdin", "filter", stdin=stdin).records
        filtered = {
            os.fsdecode(path)
            for path, value in zip(said[::3], said[2::3], strict=True)
            if value not in (b"unspecified", b"unset")
        }
        paths = [path for path in paths if path not in filtered]
    if not paths:
        return ()
    return (
        Diagnostic(
            code="uncommitted-work",
            message=f"The agent sees commit {checkout.head[:12]}; what is not committed is not in "
            f"its worktree: {named(paths)}.",
            path=paths[0],
        ),
    )


def _refuse_to_lose(workspace: Workspace, recorded: Observation | None) -> None:
    found = observation.observe(workspace)
    lost = ""
    if not found.verified:
        lost = "git cannot tell what the agent did in it"
    elif recorded is None:
        if found.changes:
            lost = f"{len(found.changes)} changed paths are recorded nowhere"
        elif found.head not in (None, workspace.base_ref):
            lost = f"its HEAD {found.head} is recorded nowhere"
    elif (found.changes, found.patch) != (recorded.changes, recorded.patch):
        lost = "it was changed after it was observed"
    if not lost and found.unpatched:
        lost = "no patch can carry " + named(found.unpatched)
    if lost:
        raise UnrecordedWorkError(folder=str(workspace.path), problem=lost)
