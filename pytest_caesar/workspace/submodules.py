"""The state of submodules, told without running anything they configure."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.naming import named
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.repository_state import Checkout
from pytest_caesar.workspace.rules import merge_attribute_rules, merge_ignore_rules
from pytest_caesar.workspace.state_before import Snapshot, read_plain_file

_GITLINK_MODE = b"\0\0\xe0\0"
"""Mode of a submodule as the index holds it."""


def states(checkout: Checkout, index: bytes, config: bytes) -> dict[bytes, tuple[str, str]]:
    """Return commit and state of each submodule of the checkout, by path.

    A state is "" for an empty folder, "clean", or a description of what differs
    from the commit that the superproject names.
    """
    if _GITLINK_MODE not in index:
        return {}
    records = Git(checkout.top).run("ls-files", "-z", "--stage").records
    links = {
        path: head.split(b" ")[1].decode()
        for head, path in (record.split(b"\t", 1) for record in records)
        if head.startswith(b"160000")
    }
    return {path: (oid, state(checkout.top, path, oid, config)) for path, oid in links.items()}


def state(top: Path, path: bytes, commit: str, config: bytes) -> str:
    """Return the state of one submodule; see ``states``."""
    folder = Path(os.fsdecode(os.path.join(os.fsencode(top), path)))  # noqa: PTH118 - bytes
    if folder.is_symlink() or not folder.is_dir():
        return "missing"
    git_dir = _git_dir(folder)
    if git_dir is None:
        present = sorted(entry.name for entry in folder.iterdir() if entry.name != ".git")
        return f"not checked out, but holds {named(present)}" if present else ""
    head = _head(git_dir)
    moved = f"moved to {head[:12]}; " if head and head != commit else ""
    try:
        changes, digest = _compare(folder, git_dir, commit, config)
    except GitError as error:
        if error.timed_out:
            raise  # many submodules, and each would take its time
        return f"{moved}cannot be verified: {error}"
    if not changes and not moved:
        return "clean"
    return f"{moved}{named(changes)}".rstrip("; ") + (f" [{digest[:12]}]" if changes else "")


def _compare(folder: Path, git_dir: Path, commit: str, config: bytes) -> tuple[list[str], str]:
    """Compare files with the tree of ``commit``, all by content."""
    room = new_folder(folder.parent / ".no-such-folder")
    try:
        snapshot = Snapshot(
            top=folder,
            prefix="",
            git_dir=git_dir,
            common_dir=git_dir,
            objects=(git_dir / "objects",),
            index=b"",
            index_time=0,
            tree=commit,
            room=room,
            config=config,
            excludes=b"",
            attributes=merge_attribute_rules(()),
        )
        observer = Observer(snapshot, room)
        observer.git.run("read-tree", commit)
        rules = []
        for record in observer.git.run("ls-files", "-z", "--stage").records:
            head, path = record.split(b"\t", 1)
            if path.rpartition(b"/")[2] == b".gitignore":
                text = observer.git.run("cat-file", "blob", head.split(b" ")[1].decode()).stdout
                rules.append((path.rpartition(b"/")[0], text))
        (room / "excludes").write_bytes(merge_ignore_rules(rules))
        scan = observer.scan()
        observer.stage(scan.paths)
        entries, patch = observer.diff(commit)
        words = {"A": "created", "D": "deleted", "R": "renamed"}
        changes = [
            f"{os.fsdecode(entry.path)} {words.get(entry.status, 'modified')}" for entry in entries
        ]
        return changes, hashlib.sha256(patch).hexdigest()
    finally:
        discard(room)


def _git_dir(folder: Path) -> Path | None:
    entry = folder / ".git"
    if entry.is_dir():
        return entry
    text = os.fsdecode(read_plain_file(entry, 8192) or b"")
    if not text.startswith("gitdir: "):
        return None
    git_dir = folder / text[8:].strip()
    return git_dir if git_dir.is_dir() else None


def _head(git_dir: Path) -> str | None:
    text = os.fsdecode(read_plain_file(git_dir / "HEAD", 4096) or b"").strip()
    if text.startswith("ref: "):
        name = text[5:].strip()
        if ".." in name or name.startswith("/"):
            return None
        text = os.fsdecode(read_plain_file(git_dir / name, 4096) or b"").strip()
    return text or None
