"""The first commit of a temporary repository, written without starting git.

A test pays for its repository before it does anything, and five git processes
cost more than the rest of it. The files are those that git itself would write;
a test compares them.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_caesar.workspace.index_file import index_bytes

_FILE, _EXECUTABLE = 0o100644, 0o100755


def write_first_commit(
    top: Path, paths: Iterable[str], *, identity: tuple[str, str], date: int, message: str
) -> str:
    """Commit files that lie below ``top`` on the unborn branch ``main``.

    Args:
        top: a repository with SHA-1 ids, without commit and index.
        paths: normalised POSIX paths of plain files.
        identity: name and address of author and committer.
        date: seconds since 1970, UTC.
        message: without a line break at its end.

    Returns:
        SHA of the commit.
    """
    git_dir = top / ".git"
    entries: dict[bytes, tuple[int, bytes, os.stat_result | None]] = {}
    for path in paths:
        file = top / path
        content = file.read_bytes()
        found = file.lstat()
        mode = _EXECUTABLE if found.st_mode & 0o100 else _FILE
        entries[os.fsencode(path)] = (mode, _write_object(git_dir, b"blob", content), found)
    tree = _write_tree(git_dir, {path: (mode, oid) for path, (mode, oid, _) in entries.items()})
    name, address = identity
    who = f"{name} <{address}> {date} +0000"
    text = f"tree {tree.hex()}\nauthor {who}\ncommitter {who}\n\n{message}\n"
    commit = _write_object(git_dir, b"commit", text.encode()).hex()
    (git_dir / "index").write_bytes(index_bytes(entries))
    (git_dir / "refs" / "heads" / "main").write_text(f"{commit}\n")
    return commit


def _write_object(git_dir: Path, kind: bytes, content: bytes) -> bytes:
    data = kind + b" " + str(len(content)).encode() + b"\0" + content
    oid = hashlib.sha1(data, usedforsecurity=False)
    name = oid.hexdigest()
    folder = git_dir / "objects" / name[:2]
    folder.mkdir(exist_ok=True)
    file = folder / name[2:]
    if not file.exists():
        file.write_bytes(zlib.compress(data, 1))
        file.chmod(0o444)
    return oid.digest()


def _write_tree(git_dir: Path, entries: Mapping[bytes, tuple[int, bytes]]) -> bytes:
    here: dict[bytes, tuple[int, bytes]] = {}
    below: dict[bytes, dict[bytes, tuple[int, bytes]]] = {}
    for path, entry in entries.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        else:
            here[name] = entry
    for name, inner in below.items():
        here[name] = (0o40000, _write_tree(git_dir, inner))
    # Git sorts a folder as if its name ended with a slash.
    ordered = sorted(here.items(), key=lambda item: item[0] + b"/" * (item[1][0] == 0o40000))
    content = b"".join(b"%o %s\0%s" % (mode, name, oid) for name, (mode, oid) in ordered)
    return _write_object(git_dir, b"tree", content)
