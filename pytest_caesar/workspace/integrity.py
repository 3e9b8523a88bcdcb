"""Whether the objects behind a patch are what their names say.

Git trusts its object store, and the agent can write there: a forged object
changes what a patch shows, not what is in the work tree.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping, Sequence

from pytest_caesar.workspace.observer import Entry, Observer

_KINDS = {"blob": "file content", "tree": "tree", "commit": "commit"}

_NULL = frozenset("0")


def find_forgery(observer: Observer, entries: Sequence[Entry]) -> str:
    """Hash the content of every blob of a diff anew; say what is wrong, or ""."""
    wanted: dict[str, None] = {}
    for entry in entries:
        for mode, oid in ((entry.old_mode, entry.old_id), (entry.new_mode, entry.new_id)):
            if mode != "160000" and not set(oid) <= _NULL:
                wanted[oid] = None
    if not wanted:
        return ""
    return _forged(observer, dict.fromkeys(wanted, "blob"))


def find_forged_trees(observer: Observer, commit: str) -> str:
    """Hash a commit and all of its trees anew; say what is wrong, or ""."""
    root = observer.git.run("rev-parse", "--verify", f"{commit}^{{tree}}").lines[0]
    wanted = {commit: "commit", root: "tree"}
    for record in observer.git.run("ls-tree", "-r", "-t", "-z", root).records:
        _, kind, oid = record.split(b"\t", 1)[0].split(b" ")
        if kind == b"tree":
            wanted[oid.decode()] = "tree"
    forged = _forged(observer, wanted)
    text = observer.git.run("cat-file", "commit", commit).lines
    return forged or ("" if text[:1] == [f"tree {root}"] else f"commit {commit} has another tree")


def find_forged_commits(observer: Observer, commits: Sequence[str]) -> str:
    """Hash commits anew; say what is wrong, or ""."""
    return _forged(observer, dict.fromkeys(commits, "commit"))


def _forged(observer: Observer, wanted: Mapping[str, str]) -> str:
    """Hash objects anew, by id and kind."""
    stdin = "".join(f"{oid}\n" for oid in wanted).encode()
    with tempfile.TemporaryFile() as output:
        observer.git.run("cat-file", "--batch", stdin=stdin, output=output)
        output.seek(0)
        for oid, kind in wanted.items():
            found = output.readline().split()
            if len(found) != 3 or found[1] != kind.encode():
                return f"object {oid} is missing or no {_KINDS[kind]}"
            left = int(found[2])
            algorithm = hashlib.sha1 if len(oid) == 40 else hashlib.sha256
            digest = algorithm(found[1] + b" %d\0" % left, usedforsecurity=False)
            while left and (chunk := output.read(min(left, 1 << 20))):
                digest.update(chunk)
                left -= len(chunk)
            output.read(1)
            if digest.hexdigest() != oid:
                return f"object {oid} does not hold what its name says"
    return ""
