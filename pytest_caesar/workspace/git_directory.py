"""Git directories of the orchestrator's own, with a configuration that is whole.

A git that works in one reads no configuration of the repository, of the user or of the
system, so that no include, no driver and no name of a driver changes what it does.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_caesar.workspace.fifos import Fifos
from pytest_caesar.workspace.git import Git
from pytest_caesar.workspace.state_before import MAX_INDEX_BYTES, read_plain_file

MAX_SHARED = 100
"""Parts of a split index that are looked for; git takes away those of two weeks ago."""

_SHARED_INDEX = re.compile(r"sharedindex\.[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFiles:
    """What stands in a git directory.

    Attributes:
        config: the whole configuration.
        attributes: ``info/attributes``.
        excludes: ``info/exclude``.
        sparse: ``info/sparse-checkout``, or None without.
        head: SHA of a commit, or None for a branch without one.
    """

    config: bytes
    attributes: bytes = b""
    excludes: bytes = b""
    sparse: bytes | None = None
    head: str | None = None

    def write(self, folder: Path) -> None:
        """Make a git directory of an empty folder."""
        for name in ("refs", "info", "objects"):
            (folder / name).mkdir()
        head = f"{self.head}\n" if self.head else "ref: refs/heads/none\n"
        (folder / "HEAD").write_bytes(head.encode())
        (folder / "config").write_bytes(self.config)
        if self.attributes:
            (folder / "info" / "attributes").write_bytes(self.attributes)
        if self.excludes:
            (folder / "info" / "exclude").write_bytes(self.excludes)
        if self.sparse is not None:
            (folder / "info" / "sparse-checkout").write_bytes(self.sparse)


def git_in(
    folder: Path, *, top: Path, index: Path, objects: tuple[Path, ...], fifos: Fifos | None = None
) -> Git:
    """Return git over a work tree, in a git directory that ``GitFiles.write`` made.

    Args:
        folder: the git directory; new objects go there.
        top: the work tree.
        index: read and written.
        objects: object stores that are read beside its own.
        fifos: fed while git waits.
    """
    variables = {
        "GIT_DIR": str(folder),
        "GIT_WORK_TREE": str(top),
        "GIT_INDEX_FILE": str(index),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(map(_alternate, objects)),
    }
    return Git(top, variables, isolated=True, fifos=fifos)


def elsewhere(git: Git, *, top: Path, index: Path) -> Git:
    """Return git with the same git directory over another work tree."""
    places = {"GIT_WORK_TREE": str(top), "GIT_INDEX_FILE": str(index)}
    return replace(git, folder=top, variables={**git.variables, **places})


@contextlib.contextmanager
def private_git(
    files: GitFiles,
    *,
    top: Path,
    index: Path,
    objects: tuple[Path, ...],
    fifos: Fifos | None = None,
) -> Iterator[Git]:
    """Lend git over a work tree for a while; its git directory is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="caesar-git-"))
    try:
        files.write(folder)
        for name in shared_parts(index.parent):
            # A copy: git marks the ones that it reads as still in use.
            (folder / name).write_bytes(
                read_plain_file(index.parent / name, MAX_INDEX_BYTES) or b""
            )
        yield git_in(folder, top=top, index=index, objects=objects, fifos=fifos)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def shared_parts(git_dir: Path) -> list[str]:
    """Return names of the files in which split indexes of a git directory have most entries."""
    try:
        names = os.listdir(git_dir)  # noqa: PTH208 - names alone
    except OSError:
        return []
    return [name for name in names if _SHARED_INDEX.fullmatch(name)][:MAX_SHARED]


def shared_part(git_dir: Path, index: bytes, limit: int) -> tuple[str, bytes] | None:
    """Return name and content of the file that the rest of a split index is in, if there is one."""
    for name in shared_parts(git_dir):
        if bytes.fromhex(name.partition(".")[2]) in index:
            return name, read_plain_file(git_dir / name, limit) or b""
    return None


def _alternate(path: Path) -> str:
    text = os.fspath(path)
    if text.startswith(('"', "#")) or ":" in text:
        text = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text
