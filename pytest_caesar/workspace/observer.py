"""A git directory of the orchestrator's own, through which it looks at a workspace."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_caesar.workspace.git import Git, Result
from pytest_caesar.workspace.snapshot import Snapshot, is_within

RENAME_LIMIT = 400
"""Candidates for inexact rename detection; its cost grows with the square."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of ``git diff --raw``; paths relative to the top level."""

    status: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str
    path: bytes
    old_path: bytes | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """What differs from an index, before anything is hashed.

    Attributes:
        tracked: paths of the index that are not as it says.
        untracked: paths that it does not know.
        nested: untracked repositories, without the slash at the end.
        warnings: what git could not look at.
    """

    tracked: tuple[bytes, ...]
    untracked: tuple[bytes, ...]
    nested: tuple[bytes, ...]
    warnings: str

    @property
    def paths(self) -> tuple[bytes, ...]:
        """Every path that may be a change of content."""
        return self.tracked + self.untracked


class Observer:
    """Git over a work tree, with an index, configuration and rules of its own."""

    def __init__(self, snapshot: Snapshot, folder: Path) -> None:
        """Write the git directory ``folder``, which must exist and be empty."""
        self.snapshot = snapshot
        self.folder = folder
        self.index = folder / "index"
        (folder / "refs").mkdir()
        (folder / "info").mkdir()
        (folder / "objects" / "info").mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        (folder / "config").write_bytes(snapshot.config)
        (folder / "excludes").write_bytes(snapshot.excludes)
        (folder / "info" / "attributes").write_bytes(snapshot.attributes)
        if snapshot.sparse is not None:
            (folder / "info" / "sparse-checkout").write_bytes(snapshot.sparse)
        alternates = b"".join(_alternate(path) + b"\n" for path in snapshot.objects)
        (folder / "objects" / "info" / "alternates").write_bytes(alternates)
        if snapshot.index:
            self.index.write_bytes(snapshot.index)
            # Git compares by content what is as young as the index file itself.
            os.utime(self.index, ns=(snapshot.index_time, snapshot.index_time))
        self.git = Git(
            snapshot.top,
            {
                "GIT_DIR": str(folder),
                "GIT_WORK_TREE": str(snapshot.top),
                "GIT_INDEX_FILE": str(self.index),
            },
            isolated=True,
        )

    def scan(self) -> Scan:
        """List what is not as the index says, without hashing what is surely clean."""
        result = self.git.run(
            "ls-files",
            "-z",
            "-t",
            "--modified",
            "--deleted",
            "--others",
            f"--exclude-from={self.folder / 'excludes'}",
            on_stall=self._feed_fifos,
        )
        tracked: dict[bytes, None] = {}
        untracked: list[bytes] = []
        nested: list[bytes] = []
        for record in result.records:
            tag, path = record[:1], record[2:]
            if is_within(path.rstrip(b"/"), self.snapshot.excluded):
                continue
            if tag != b"?":
                tracked[path] = None
            elif path.endswith(b"/"):
                nested.append(path.rstrip(b"/"))
            else:
                untracked.append(path)
        return Scan(
            tuple(tracked),
            tuple(untracked),
            tuple(nested),
            result.stderr.decode("utf-8", "replace"),
        )

    def stage(self, paths: Iterable[bytes]) -> Result | None:
        """Put the present state of ``paths`` into the observer's own index."""
        present: list[bytes] = []
        gone: list[bytes] = []
        linked: dict[bytes, bool] = {}
        for path in paths:
            if self._beyond_link(path, linked):
                gone.append(path)
            else:
                present.append(path)
        if gone:
            self.git.run("update-index", "-z", "--force-remove", "--stdin", stdin=_list(gone))
        if not present:
            return None
        return self.git.run(
            "update-index",
            "-z",
            "--add",
            "--remove",
            "--replace",
            "--stdin",
            stdin=_list(present),
            on_stall=self._feed_fifos,
        )

    def tree(self) -> str:
        """Write the observer's index as a tree and return its id."""
        return self.git.run("write-tree").lines[0]

    def diff(self, tree: str) -> tuple[list[Entry], bytes]:
        """Return what the observer's index changes in ``tree``, as entries and as a patch."""
        output = self.git.run(
            "diff-index",
            "--cached",
            "-z",
            "--raw",
            "--patch",
            "--binary",
            "--full-index",
            "--find-renames=50%",
            f"-l{RENAME_LIMIT}",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--diff-algorithm=myers",
            "--unified=3",
            "--ignore-submodules=dirty",
            tree,
        ).stdout
        return parse_diff(output)

    def _beyond_link(self, path: bytes, known: dict[bytes, bool]) -> bool:
        """Tell whether a folder on the way to ``path`` is a symbolic link."""
        parent = path.rpartition(b"/")[0]
        if not parent:
            return False
        if parent not in known:
            try:
                mode = os.lstat(os.path.join(os.fsencode(self.snapshot.top), parent)).st_mode  # noqa: PTH118 - bytes
                link = stat.S_ISLNK(mode)
            except OSError:
                link = False
            known[parent] = link or self._beyond_link(parent, known)
        return known[parent]

    def _feed_fifos(self) -> None:
        """Give an end of file to whoever waits on a FIFO that git takes for a rules file."""
        for folder, folders, files in os.walk(self.snapshot.top):
            folders[:] = [name for name in folders if name != ".git"]
            for name in files:
                if name.startswith(".git"):
                    _feed_fifo(os.path.join(folder, name))  # noqa: PTH118 - walked


def parse_diff(output: bytes) -> tuple[list[Entry], bytes]:
    """Split the output of ``diff-index -z --raw --patch``."""
    entries: list[Entry] = []
    position = 0
    while output.startswith(b":", position):
        header, position = _field(output, position)
        path, position = _field(output, position)
        old_mode, new_mode, old_id, new_id, status = header[1:].decode("ascii").split(" ")
        old_path = None
        if status[0] in "RC":
            old_path = path
            path, position = _field(output, position)
        entries.append(Entry(status[0], old_mode, new_mode, old_id, new_id, path, old_path))
    return entries, output[position + 1 :]


def _field(output: bytes, position: int) -> tuple[bytes, int]:
    end = output.index(b"\0", position)
    return output[position:end], end + 1


def new_folder(preferred: Path) -> Path:
    """Make an empty private folder, inside ``preferred`` where that still is a folder."""
    try:
        if stat.S_ISDIR(preferred.lstat().st_mode):
            return Path(tempfile.mkdtemp(prefix=".observer-", dir=preferred))
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="caesar-observer-"))


def discard(folder: Path) -> None:
    """Remove a folder that ``new_folder`` made."""
    shutil.rmtree(folder, ignore_errors=True)


def _alternate(path: Path) -> bytes:
    raw = os.fsencode(path)
    if raw.startswith(b'"') or b"\n" in raw:
        raw = b'"' + raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
    return raw


def _list(paths: Sequence[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)


def _feed_fifo(path: str) -> None:
    try:
        if stat.S_ISFIFO(os.lstat(path).st_mode):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        pass  # nobody waits on it, or it is gone
