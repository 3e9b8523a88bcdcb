"""The state of submodules, told without running anything they configure."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.index_file import has_gitlinks
from pytest_caesar.workspace.integrity import find_forged_trees
from pytest_caesar.workspace.naming import named
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.repositories_inside import git_dir_of, is_repository
from pytest_caesar.workspace.repository_state import Checkout
from pytest_caesar.workspace.rules import merge_attribute_rules, merge_ignore_rules
from pytest_caesar.workspace.state_before import Snapshot, read_plain_file


def states(checkout: Checkout, index: bytes, config: bytes) -> dict[bytes, tuple[str, str]]:
    """Return commit and state of each submodule of the checkout, by path.

    A state is "" for an empty folder, "checked out", or a description of what lies there
    instead of the commit that the superproject names.
    """
    if not has_gitlinks(index, sha256=checkout.object_format == "sha256"):
        return {}
    records = Git(checkout.top).run("ls-files", "-z", "--stage").records
    links = {
        path: head.split(b" ")[1].decode()
        for head, path in (record.split(b"\t", 1) for record in records)
        if head.startswith(b"160000")
    }
    states = {}
    for path, oid in links.items():
        there = is_repository(checkout.top / os.fsdecode(path))
        told = "checked out" if there else state(checkout.top, path, oid, config)
        states[path] = (oid, told)
    return states


def state(top: Path, path: bytes, commit: str, config: bytes) -> str:
    """Compare one submodule with a commit: "" for an empty folder, "clean", or what differs."""
    folder = Path(os.fsdecode(os.path.join(os.fsencode(top), path)))  # noqa: PTH118 - bytes
    if folder.is_symlink() or not folder.is_dir():
        return "missing"
    git_dir = git_dir_of(folder)
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
        forgery = find_forged_trees(observer, commit)
        if forgery:
            return [f"the object store was tampered with: {forgery}"], forgery
        rules = []
        links = []
        for record in observer.git.run("ls-files", "-z", "--stage").records:
            head, path = record.split(b"\t", 1)
            if head.startswith(b"160000"):
                links.append((path, head.split(b" ")[1].decode()))
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
        changes += [f"{os.fsdecode(path)}/ created" for path in scan.nested]
        for path, oid in links:
            told = state(folder, path, oid, config)
            if told not in ("", "clean"):
                changes.append(f"{os.fsdecode(path)}/ {told}")
        return changes, hashlib.sha256(patch).hexdigest()
    finally:
        discard(room)


def _head(git_dir: Path) -> str | None:
    text = os.fsdecode(read_plain_file(git_dir / "HEAD", 4096) or b"").strip()
    if text.startswith("ref: "):
        name = text[5:].strip()
        if ".." in name or name.startswith("/"):
            return None
        text = os.fsdecode(read_plain_file(git_dir / name, 4096) or b"").strip()
    return text or None
