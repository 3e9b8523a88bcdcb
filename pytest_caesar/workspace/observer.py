"""A git directory of the orchestrator's own, through which it looks at a workspace."""

from __future__ import annotations

import mmap
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_caesar.workspace.fifos import Fifos
from pytest_caesar.workspace.git import Result, Running
from pytest_caesar.workspace.git_directory import GitFiles, git_in
from pytest_caesar.workspace.index_file import index_bytes
from pytest_caesar.workspace.patch import Patch
from pytest_caesar.workspace.state_before import Snapshot, is_within
from pytest_caesar.workspace.tree_pack import write_trees

RENAME_LIMIT = 400
"""Candidates for inexact rename detection; its cost grows with the square."""

MAX_FILE_BYTES = 32 << 20
"""Bytes of a file that is put into an index and a patch; a larger one is told by size and id."""

_REFUSED = b"Ignoring path "
"""How git says that it cannot hold a name."""

_REMARKS = ("error: ", "warning: ", "hint: ", "fatal: ")
"""How git begins what it says; that it passed a file over it says with the bare name."""


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
        tracked: mode and object id that the index has, by path, where the file is another.
        untracked: paths that it does not know.
        nested: untracked repositories, without the slash at the end.
        unreadable: what git could not look into, in its own words.
    """

    tracked: dict[bytes, tuple[str, str]]
    untracked: tuple[bytes, ...]
    nested: tuple[bytes, ...]
    unreadable: tuple[str, ...]

    def without(self, paths: Collection[bytes]) -> Scan:
        """Return the same without some tracked files."""
        if not paths:
            return self
        return replace(
            self, tracked={path: entry for path, entry in self.tracked.items() if path not in paths}
        )

    @property
    def differing(self) -> set[bytes]:
        """Everything that the index does not say; repositories with a slash at their end."""
        return {*self.tracked, *self.untracked, *(path + b"/" for path in self.nested)}

    @property
    def paths(self) -> tuple[bytes, ...]:
        """Every path that may be a change of content."""
        return (*self.tracked, *self.untracked)


class Scanning:
    """Two git processes that look for what differs."""

    def __init__(self, others: Running, modified: Running, excluded: tuple[bytes, ...]) -> None:
        self._others, self._modified, self._excluded = others, modified, excluded

    def finish(self) -> Scan:
        """Wait for both; errors as for ``Git.run``."""
        modified = self._modified.finish()
        listed = self._others.finish()
        tracked = {
            entry.path: (entry.old_mode, entry.old_id)
            for entry in parse_diff(modified.stdout)[0]
            if not is_within(entry.path, self._excluded)
        }
        untracked: list[bytes] = []
        nested: list[bytes] = []
        for record in listed.records:
            path = record.rstrip(b"/")
            if not is_within(path, self._excluded):
                (nested if path != record else untracked).append(path)
        passed_over = [line for line in _lines(modified) if not line.startswith(_REMARKS)]
        passed_over += [line for line in _lines(listed) if "could not open directory" in line]
        return Scan(tracked, tuple(untracked), tuple(nested), tuple(passed_over))

    def stop(self) -> None:
        """End both at once, if they still run."""
        self._others.stop()
        self._modified.stop()


class Observer:
    """Git over a work tree, with an index, configuration and rules of its own."""

    def __init__(self, snapshot: Snapshot, folder: Path) -> None:
        """Write the git directory ``folder``, which must exist and be empty."""
        self.snapshot = snapshot
        self.folder = folder
        self.index = folder / "index"
        files = GitFiles(
            config=snapshot.config, attributes=snapshot.attributes, sparse=snapshot.sparse
        )
        files.write(folder)
        (folder / "excludes").write_bytes(snapshot.excludes)
        if snapshot.index:
            self.index.write_bytes(snapshot.index)
            # Git compares by content what is as young as the index file itself.
            os.utime(self.index, ns=(snapshot.index_time, snapshot.index_time))
        self.git = git_in(
            folder,
            top=snapshot.top,
            index=self.index,
            objects=snapshot.objects,
            fifos=Fifos(snapshot.top, snapshot.objects),
        )

    def scan(self) -> Scan:
        """List what is not as the index says, without hashing what is surely clean."""
        scanning = self.start_scan()
        try:
            return scanning.finish()
        finally:
            scanning.stop()

    def start_scan(self) -> Scanning:
        """Start to list it, to be finished or stopped later."""
        # Side by side: one walks the index, the other the folders.
        others = self.git.start(
            "ls-files", "-z", "--others", f"--exclude-from={self.folder / 'excludes'}"
        )
        try:
            modified = self.git.start(
                *("diff-files", "-z", "--raw", "--no-abbrev", "--no-renames"),
                "--ignore-submodules=all",
            )
        except BaseException:
            others.stop()
            raise
        return Scanning(others, modified, self.snapshot.excluded)

    def confirmed(self, scan: Scan) -> Scan:
        """Take out of a scan whatever is as the index says after all, but for its times."""
        if not scan.tracked:
            return scan
        self.git.run("update-index", "-q", "--refresh", accept=(0, 1))
        output = self.git.run("diff-files", "-z", "--name-only", "--ignore-submodules=all")
        there = set(output.records)
        return replace(
            scan, tracked={path: entry for path, entry in scan.tracked.items() if path in there}
        )

    def stage(self, paths: Iterable[bytes]) -> dict[bytes, str]:
        """Put the present state of ``paths`` into the observer's own index.

        Returns:
            Paths that git cannot hold, with the reason; they are not in the index.
        """
        present: list[bytes] = []
        gone: list[bytes] = []
        left_out: dict[bytes, str] = {}
        linked: dict[bytes, bool] = {}
        for path in paths:
            if self._beyond_link(path, linked):
                gone.append(path)
                continue
            reason, is_gone = self._obstacle(path)
            if is_gone:
                gone.append(path)
            elif not reason:
                present.append(path)
            if reason:
                left_out[path] = reason
        if gone:
            self.git.run("update-index", "-z", "--force-remove", "--stdin", stdin=_list(gone))
        if present:
            # As if all were big: they go into one pack, not into a folder each.
            bulk = replace(self.git, config=("core.bigFileThreshold=1",))
            result = bulk.run(
                *("update-index", "-z", "--add", "--remove", "--replace", "--stdin"),
                stdin=_list(present),
            )
            for line in result.stderr.split(b"\n"):
                if line.startswith(_REFUSED):
                    left_out[line.removeprefix(_REFUSED)] = "git cannot hold this name"
        return left_out

    def holds(self, folder: bytes) -> bool:
        """Tell whether the index has something in a folder."""
        return bool(self.git.run("ls-files", "-z", "--cached", "--", os.fsdecode(folder)).stdout)

    def tree(self) -> str:
        """Write the observer's index as a tree and return its id."""
        return self.git.run("write-tree").lines[0]

    def compare(self, tree: str) -> list[Entry]:
        """Return how the observer's index differs from a tree; paths only in it have mode 000000."""
        result = self.git.run(
            *("diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev"),
            *("--ignore-submodules=dirty", tree),
        )
        return parse_diff(result.stdout)[0]

    def restrict(self, entries: Mapping[bytes, tuple[str, str]]) -> str:
        """Reduce the index to the given entries, mode and id by path, and return their tree.

        What did not change need not be read and written again; and what it is
        compared with comes from what the orchestrator remembers, not from a
        tree in the agent's reach.
        """
        sha256 = any(len(oid) == 64 for _, oid in entries.values()) or len(self.snapshot.tree) == 64
        plain = {
            path: (int(mode, 8), bytes.fromhex(oid))
            for path, (mode, oid) in entries.items()
            if int(mode, 8)
        }
        bare = {path: (*entry, None) for path, entry in plain.items()}
        self.index.write_bytes(index_bytes(bare, sha256=sha256))
        return write_trees(plain, self.folder / "objects", sha256=sha256)

    def diff(self, tree: str, *, heading: bytes = b"") -> tuple[list[Entry], Patch]:
        """Return what the observer's index changes in ``tree``, as entries and as a patch.

        Args:
            tree: what the index is compared with.
            heading: lines in front of the patch.
        """
        with tempfile.TemporaryFile() as output:
            self.git.run(
                *("diff-index", "--cached", "-z", "--raw", "--patch", "--binary", "--full-index"),
                *("--find-renames=50%", f"-l{RENAME_LIMIT}", "--no-ext-diff", "--no-textconv"),
                *("--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--diff-algorithm=myers"),
                *("--unified=3", "--ignore-submodules=dirty", tree),
                output=output,
            )
            # A patch may be large: it is held once.
            if not output.seek(0, os.SEEK_END):
                return [], Patch(heading)
            with mmap.mmap(output.fileno(), 0, access=mmap.ACCESS_READ) as read:
                entries, position = _parse_entries(read)
                if heading:
                    return entries, Patch(heading + read[position + 1 :])
                with memoryview(read) as view, view[position + 1 :] as rest:
                    return entries, Patch(rest)

    def _obstacle(self, path: bytes) -> tuple[str, bool]:
        """Tell why a path cannot be hashed, and whether that means that it is gone."""
        full = os.path.join(os.fsencode(self.snapshot.top), path)  # noqa: PTH118 - bytes
        try:
            found = os.lstat(full)
        except (FileNotFoundError, NotADirectoryError):
            return "", False  # git removes what is missing
        except OSError as error:
            return f"it cannot be looked at ({error.strerror})", False
        if stat.S_ISREG(found.st_mode):
            if found.st_size > MAX_FILE_BYTES:
                return f"{found.st_size} bytes are more than is hashed", False
            return ("" if os.access(full, os.R_OK) else "it cannot be read"), False
        if stat.S_ISLNK(found.st_mode) or stat.S_ISDIR(found.st_mode):
            return "", False
        return "a FIFO, socket or device is there now", True

    def _beyond_link(self, path: bytes, known: dict[bytes, bool]) -> bool:
        """Tell whether a folder on the way to ``path`` is a symbolic link."""
        parent = path.rpartition(b"/")[0]
        if not parent:
            return False
        if parent not in known:
            full = os.path.join(os.fsencode(self.snapshot.top), parent)  # noqa: PTH118 - bytes
            try:
                link = stat.S_ISLNK(os.lstat(full).st_mode)
            except OSError:
                link = False
            known[parent] = link or self._beyond_link(parent, known)
        return known[parent]


def parse_diff(output: bytes) -> tuple[list[Entry], bytes]:
    """Split the output of ``diff-index -z --raw --patch``."""
    entries, position = _parse_entries(output)
    return entries, output[position + 1 :]


def _parse_entries(output: bytes | mmap.mmap) -> tuple[list[Entry], int]:
    """Return the entries, and where they end."""
    entries: list[Entry] = []
    position = 0
    while output[position : position + 1] == b":":
        header, position = _field(output, position)
        path, position = _field(output, position)
        old_mode, new_mode, old_id, new_id, status = header[1:].decode("ascii").split(" ")
        old_path = None
        if status[0] in "RC":
            old_path = path
            path, position = _field(output, position)
        entries.append(Entry(status[0], old_mode, new_mode, old_id, new_id, path, old_path))
    return entries, position


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


def _field(output: bytes | mmap.mmap, position: int) -> tuple[bytes, int]:
    end = output.find(b"\0", position)
    if end < 0:
        message = "git's list of differences is not complete"
        raise ValueError(message)
    return output[position:end], end + 1


def _lines(result: Result) -> list[str]:
    return result.stderr.decode("utf-8", "backslashreplace").splitlines()


def _list(paths: Sequence[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)
