"""Trees written by hand beside those that git writes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_caesar.workspace.tree_pack import write_trees
from tests.pytest_caesar.workspace.support import sh

names = st.binary(min_size=1, max_size=8).filter(
    lambda name: not set(name) & set(b"/\0\n") and name.lower() not in (b".", b"..", b".git")
)
paths = st.lists(names, min_size=1, max_size=4).map(b"/".join)
modes = st.sampled_from([0o100644, 0o100755, 0o120000, 0o160000])


def without_clashes(entries: dict[bytes, int]) -> dict[bytes, int]:
    """Leave out what lies below another entry."""
    parents = {path: path.split(b"/")[:-1] for path in entries}
    return {
        path: mode
        for path, mode in entries.items()
        if not any(b"/".join(parents[path][: n + 1]) in entries for n in range(len(parents[path])))
    }


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@given(entries=st.dictionaries(paths, modes, max_size=30).map(without_clashes))
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_git_writes_the_same_trees(
    tmp_path: Path, object_format: str, entries: dict[bytes, int]
) -> None:
    repository = tmp_path / object_format
    if not repository.exists():
        sh(f"git init -q --object-format={object_format} {object_format}", tmp_path)
    size = 20 if object_format == "sha1" else 32
    leaves = {path: (mode, bytes([n + 1]) * size) for n, (path, mode) in enumerate(entries.items())}

    root = write_trees(leaves, repository / ".git" / "objects", sha256=size == 32)

    listed = sh(f"git ls-tree -r -z --full-tree {root} | od -An -v -tx1", repository)
    found = {}
    for record in bytes.fromhex(listed).split(b"\0")[:-1]:
        head, path = record.split(b"\t", 1)
        mode, _, oid = head.split(b" ")
        found[path] = (int(mode, 8), bytes.fromhex(oid.decode()))
    assert found == leaves
    (repository / ".git" / "index").unlink(missing_ok=True)
    lines = b"".join(b"%o %s\t%b\0" % (m, o.hex().encode(), p) for p, (m, o) in leaves.items())
    subprocess.run(
        ["git", "update-index", "-z", "--index-info"], cwd=repository, input=lines, check=True
    )
    assert sh("git write-tree --missing-ok", repository).strip() == root
    sh("git verify-pack .git/objects/pack/*.idx", repository)


def test_a_large_tree_is_read_back(tmp_path: Path) -> None:
    sh("git init -q .", tmp_path)
    leaves = {b"a-rather-long-name-%05d" % n: (0o100644, b"\1" * 20) for n in range(20_000)}

    root = write_trees(leaves, tmp_path / ".git" / "objects", sha256=False)

    assert sh(f"git ls-tree -r --name-only {root} | wc -l", tmp_path).strip() == "20000"


def test_a_file_that_is_a_folder_too_is_refused(tmp_path: Path) -> None:
    leaf = (0o100644, b"\1" * 20)
    for paths in ((b"a", b"a/b"), (b"a/b", b"a")):
        with pytest.raises(ValueError, match=r"below a file|a file and a folder"):
            write_trees(dict.fromkeys(paths, leaf), tmp_path, sha256=False)
