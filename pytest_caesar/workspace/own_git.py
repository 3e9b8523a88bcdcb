"""Object and ref folders of a task's own, laid over those of the repository by a sandbox.

An agent that may write the repository's objects can destroy them. So it gets a folder of its
own for objects, with the real ones beside it to read, and one for the refs of its branch; once
its whole tree is gone, what the branch reaches is brought into the repository.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.workspace.errors import SandboxedGitError
from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.git_directory import GitFiles, git_in
from pytest_caesar.workspace.naming import shown
from pytest_caesar.workspace.state_before import MAX_INDEX_BYTES, Snapshot, read_plain_file
from pytest_caesar.workspace.values import Workspace

REAL_OBJECTS: Final = Path("/run/caesar/objects")
"""Where the sandbox shows the repository's own objects, read-only."""

MAX_REFS: Final = 1000
"""Loose refs of a folder that are shown beside the task's own, and taken over of it."""

MAX_PREFIX: Final = 200
"""Characters of the folders that a ref may lie in."""

MAX_FILES: Final = 2_000_000
"""Files of objects that are taken; a repository of that many is packed."""

_ID = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)\n?")
_LOOSE_FOLDER = re.compile(r"[0-9a-f]{2}")
_LOOSE_FILE = re.compile(r"[0-9a-f]{38}(?:[0-9a-f]{24})?")
_PACK_FILE = re.compile(r"pack-[0-9a-f]{40}(?:[0-9a-f]{24})?\.(?:pack|idx)")
_REF_PART = re.compile(r"[A-Za-z0-9_+=%#@-](?:\.?[A-Za-z0-9_+=%#@-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnGit:
    """What a sandbox shows of a repository, and what is brought back.

    Attributes:
        writable: folders of git that belong to the task alone.
        read_only: folders of git inside the workspace that are not to be written.
        overlays: folders of the task's own, and the ones that they are laid over.
        readable: folders that hold objects, besides the repository's.
        objects: the repository's own objects, shown at ``REAL_OBJECTS``; None where nothing
            is laid over.
    """

    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    overlays: tuple[tuple[Path, Path], ...] = ()
    readable: tuple[Path, ...] = ()
    objects: Path | None = None
    _taking: _Taking | None = None

    def take_over(self) -> list[Diagnostic]:
        """Bring what the task's branch reaches into the repository; the tree must be gone.

        Nothing that the agent wrote is trusted: objects get their names from their content,
        and a ref moves only to a commit that is there with all that it reaches.

        Returns:
            Why something was left out; nothing else is changed by it.
        """
        if self._taking is None:
            return []
        try:
            return self._taking.take()
        except (GitError, OSError) as error:
            self._taking.forget()
            return [_left_out(f"what it committed could not be taken over: {error}")]


def own_git(workspace: Workspace, folder: Path) -> OwnGit:
    """Prepare the folders of a task's own.

    Args:
        workspace: as ``prepare`` made it.
        folder: empty, out of the agent's reach but for what is made for it here.

    Raises:
        SandboxedGitError: the repository keeps its refs in another way than in files.
    """
    before = workspace.snapshot
    if before is None:
        return OwnGit()
    if (before.common_dir / "reftable").exists():
        raise SandboxedGitError(repository=str(before.top))
    if _is_inside(before.git_dir, before.top) and before.git_dir == before.common_dir:
        # In place: git's own folder is the user's, so it is only read.
        return OwnGit(read_only=(before.git_dir,), readable=before.objects)
    objects = Path(os.path.realpath(before.common_dir / "objects"))
    name = before.head_name or ""
    taking = _Taking(before, folder, objects, name)
    taking.prepare()
    logs = before.common_dir / "logs"
    logs.mkdir(exist_ok=True)
    overlays = [(taking.objects, objects), (taking.logs, logs)]
    if name:
        target = before.common_dir / os.path.dirname(name)  # noqa: PTH120 - a name, not a path
        target.mkdir(parents=True, exist_ok=True)
        overlays.append((taking.refs, target))
    return OwnGit(
        writable=(before.git_dir,),
        overlays=tuple(overlays),
        readable=tuple(each for each in before.objects if each != objects),
        objects=objects,
        _taking=taking,
    )


@dataclass(frozen=True, slots=True)
class _Taking:
    """From folders that an agent could write to into the repository.

    Attributes:
        before: the repository as it stood.
        folder: of the task's own.
        real: objects of the repository.
        name: of the ref that HEAD names, or "".
    """

    before: Snapshot
    folder: Path
    real: Path
    name: str

    @property
    def objects(self) -> Path:
        return self.folder / "objects"

    @property
    def refs(self) -> Path:
        return self.folder / "refs"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def prepare(self) -> None:
        """Make the folders, with the task's ref in its place and the real objects beside."""
        for path in (self.objects / "info", self.objects / "pack", self.refs, self.logs):
            path.mkdir(parents=True)
        (self.objects / "info" / "alternates").write_text(f"{REAL_OBJECTS}\n")
        if not self.name:
            return
        beside = self.before.common_dir / os.path.dirname(self.name)  # noqa: PTH120 - as above
        for name, value in _loose_refs(beside):
            path = self.refs / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(value + b"\n")
        if self.before.head:
            path = self.refs / os.path.basename(self.name)  # noqa: PTH119 - as above
            path.write_bytes(f"{self.before.head}\n".encode())

    def take(self) -> list[Diagnostic]:
        """Bring over what is new; see ``OwnGit.take_over``."""
        tips = self._tips()
        moved = self._moved_objects()
        if not moved and not tips:
            return []
        with self._git() as git:
            tree = self._staged(git) if moved else ""
            wanted = {tip for tip in (*tips.values(), tree) if tip}
            if moved and wanted:
                self._copy_objects(git, wanted)
        commands = "".join(
            f"update {ref} {tip} {self._known.get(ref, '0' * len(tip))}\n"
            for ref, tip in tips.items()
            if ref
        )
        if commands:
            # Not in the worktree, whose .git the agent may have changed.
            git_dir = self.before.common_dir
            git = Git(git_dir, {"GIT_DIR": str(git_dir)})
            git.run("update-ref", "-m", "taken over", "--stdin", stdin=commands.encode())
        return []

    def forget(self) -> None:
        """Remove what the worktree remembers of commits that are nowhere."""
        with contextlib.suppress(OSError):
            # Behind no link: it may lead to a HEAD of somebody else's.
            fd = os.open(self.before.git_dir / "logs", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                os.unlink("HEAD", dir_fd=fd)
            finally:
                os.close(fd)

    @property
    def _known(self) -> dict[str, str]:
        """What refs of the folder pointed at before."""
        known = {ref: value for ref, value in self.before.refs.items() if ref}
        if self.name and self.before.head:
            known[self.name] = self.before.head
        return known

    def _tips(self) -> dict[str, str]:
        """Return what refs of the task's own point at now where it is new; "" is HEAD itself."""
        tips: dict[str, str] = {}
        known = self._known
        if self.name:
            parent = os.path.dirname(self.name)  # noqa: PTH120 - as above
            for name, value in _loose_refs(self.refs):
                ref, tip = f"{parent}/{name}", value.decode()
                if known.get(ref) != tip:
                    tips[ref] = tip
        found = _ID.fullmatch(read_plain_file(self.before.git_dir / "HEAD", 128) or b"")
        if found and found[1].decode() != self.before.head:
            tips[""] = found[1].decode()
        return tips

    def _moved_objects(self) -> bool:
        """Move the agent's objects, and nothing else of its folder, where git will read them."""
        target = self.folder / "read" / "objects"
        target.mkdir(parents=True)
        (target / "pack").mkdir()
        moved = 0
        for name in _folders(self.objects):
            fits = _PACK_FILE if name == "pack" else _LOOSE_FILE
            if name != "pack" and not _LOOSE_FOLDER.fullmatch(name):
                continue
            (target / name).mkdir(exist_ok=True)
            for entry in _files(self.objects / name):
                if fits.fullmatch(entry) and moved < MAX_FILES:
                    (self.objects / name / entry).rename(target / name / entry)
                    moved += 1
        return moved > 0

    @contextlib.contextmanager
    def _git(self) -> Iterator[Git]:
        """Lend git that reads the agent's objects and the real ones, and trusts nothing else."""
        files = GitFiles(config=self.before.config)
        room = self.folder / "git"
        room.mkdir()
        files.write(room)
        index = room / "index"
        index.write_bytes(read_plain_file(self.before.git_dir / "index", MAX_INDEX_BYTES) or b"")
        objects = (self.folder / "read" / "objects", self.real, *self.before.objects)
        git = git_in(room, top=self.folder, index=index, objects=tuple(dict.fromkeys(objects)))
        yield git

    def _staged(self, git: Git) -> str:
        """Return the tree of what is staged, or "" where an object of it is missing."""
        try:
            return git.run("write-tree").stdout.decode().strip()
        except GitError:
            return ""

    def _copy_objects(self, git: Git, tips: set[str]) -> None:
        """Bring objects into the repository as a pack, named anew by what they hold."""
        revs = "".join(f"{tip}\n" for tip in sorted(tips))
        revs += f"--not\n{self.before.head}\n" if self.before.head else ""
        base = self.folder / "pack"
        said = git.run("pack-objects", "--revs", "-q", str(base), stdin=revs.encode())
        for line in said.lines:
            pack = Path(f"{base}-{line.strip()}.pack")
            pack.with_suffix(".idx").unlink()
            # In the repository's own store alone: what a pack leaves out must be there already.
            alone = git_in(
                self.folder / "git", top=self.folder, index=self.folder, objects=self.before.objects
            )
            own = {"GIT_OBJECT_DIRECTORY": str(self.real)}
            checked = Git(alone.folder, {**alone.variables, **own}, isolated=True)
            checked.run("index-pack", "--strict", str(pack))
            for suffix in (".pack", ".idx"):
                _bring(pack.with_suffix(suffix), self.real / "pack" / pack.with_suffix(suffix).name)


def _bring(source: Path, target: Path) -> None:
    """Move a file, also to another disk; it is there as a whole or not at all."""
    target.parent.mkdir(exist_ok=True)
    beside = target.with_name(f"tmp_{target.name}")
    with source.open("rb") as read, beside.open("xb") as write:
        while data := read.read(1 << 20):
            write.write(data)
    beside.chmod(0o444)
    beside.rename(target)


def _loose_refs(folder: Path) -> list[tuple[str, bytes]]:
    """Return refs in files of a folder, relative to it; names that git itself may doubt are not."""
    found: list[tuple[str, bytes]] = []
    waiting = [""]
    while waiting and len(found) < MAX_REFS:
        prefix = waiting.pop()
        place = folder / prefix
        for name in _files(place):
            if not _REF_PART.fullmatch(name) or name.endswith(".lock"):
                continue
            value = _ID.fullmatch(read_plain_file(place / name, 128) or b"")
            if value and len(found) < MAX_REFS:
                found.append((prefix + name, value[1]))
        if len(prefix) < MAX_PREFIX:
            deeper = [name for name in _folders(place) if _REF_PART.fullmatch(name)]
            waiting += [f"{prefix}{name}/" for name in deeper if not name.endswith(".lock")]
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _files(folder: Path) -> list[str]:
    return [entry.name for entry in _entries(folder) if entry.is_file(follow_symlinks=False)]


def _folders(folder: Path) -> list[str]:
    return [entry.name for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]


def _is_inside(path: Path, top: Path) -> bool:
    return path == top or top in path.parents


def _left_out(problem: str) -> Diagnostic:
    return Diagnostic(code="commits-left-out", message=shown(problem))
