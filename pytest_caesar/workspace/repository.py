"""Temporary git repositories for tests: quick to make, the same on every machine."""

from __future__ import annotations

import functools
import os
import posixpath
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_caesar.workspace.first_commit import write_first_commit
from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.state_before import read_plain_file

IDENTITY = ("Caesar", "caesar@example.invalid")
"""Name and address of author and committer."""

FIRST_COMMIT = 946684800
"""Date of the first commit, in seconds: 2000-01-01T00:00:00Z. Each next one is a minute later."""

_REMOTE_COMMANDS = frozenset({"clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule"})


_made: set[str] = set()
"""Top levels of the repositories that this process made."""


def is_made_here(folder: Path) -> bool:
    """Tell whether a folder lies in a repository that this process made, as tests do."""
    full = os.path.realpath(folder)
    return any(full == top or full.startswith(top + os.sep) for top in _made)


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository that a test works with.

    Nothing of the user's configuration, hooks, templates or signing reaches it,
    and its commits have the same ids on every machine.

    Attributes:
        path: its top level.
    """

    path: Path

    @classmethod
    def create(cls, path: Path) -> Repository:
        """Make an empty repository on branch ``main`` in a new or empty folder."""
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        if (path / ".git").exists():
            message = f"{path} holds a git repository already; give a new folder"
            raise FileExistsError(message)
        _copy_template(_template(), path / ".git")
        _made.add(os.path.realpath(path))
        return cls(path)

    @property
    def head(self) -> str | None:
        """SHA of the commit that HEAD stands on; None before the first."""
        # Read from plain files where that is enough: tests ask often, and a process costs.
        name = os.fsdecode(read_plain_file(self.path / ".git" / "HEAD") or b"").strip()
        if name.startswith("ref: refs/heads/"):
            found = read_plain_file(self.path / ".git" / name[5:]) or b""
            if re.fullmatch(rb"[0-9a-f]{40}\n", found):
                return found.decode().strip()
        try:
            return self.git("rev-parse", "--verify", "--quiet", "HEAD").strip() or None
        except GitError as error:
            if error.exit_code == 1:
                return None
            raise

    def write(self, path: str, content: str | bytes, *, executable: bool = False) -> Path:
        """Write one file, with its folders; text as UTF-8, line ends as they are.

        Returns:
            Where it lies.
        """
        _check_inside(path)
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if executable:
            target.chmod(0o755)
        return target

    def read(self, path: str) -> str:
        """Return the text of one file; UTF-8, line ends as they are."""
        return (self.path / path).read_bytes().decode()

    def commit(
        self, files: Mapping[str, str | bytes | None] | None = None, message: str = "Change files"
    ) -> str:
        """Write files and commit them.

        Args:
            files: content by path; None deletes. Without any, everything in the
                folder that git does not ignore is committed.
            message: of the commit.

        Returns:
            SHA of the commit.

        Raises:
            TypeError: ``files`` is no dict.
            ValueError: a path leads out of the repository.
        """
        if files is not None and not isinstance(files, Mapping):
            raise TypeError(
                f"files is {files!r:.80}: expected a dict of contents by path, as in "
                'caesar_repo.commit({"a.txt": "text"})'
            )
        for path in files or {}:
            _check_inside(path)
        files = {posixpath.normpath(path): content for path, content in (files or {}).items()}
        for path, content in files.items():
            if content is None:
                (self.path / path).unlink()
            else:
                self.write(path, content)
        if files and self._is_empty() and all(map(_is_plain, files.values(), files)):
            return write_first_commit(
                self.path, files, identity=IDENTITY, date=FIRST_COMMIT, message=message
            )
        if files:
            names = b"".join(os.fsencode(path) + b"\0" for path in files)
            self._run(
                "update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=names
            )
        else:
            self._run("add", "--all")
        self._run(
            *("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file=-"),
            stdin=f"{message}\n".encode(),
            date=self._date(self.head),
        )
        commit = self.head
        assert commit is not None
        return commit

    def git(self, *arguments: str) -> str:
        """Run git in the repository and return what it printed.

        Raises:
            GitError: it failed.
            ValueError: a whole command line was given as one word.
        """
        if len(arguments) == 1 and " " in arguments[0].strip():
            words = ", ".join(map(repr, arguments[0].split()))
            raise ValueError(f"git takes one argument a word: caesar_repo.git({words})")
        variables = _variables(FIRST_COMMIT)
        if _REMOTE_COMMANDS.intersection(arguments):
            # Asked for by name; by itself no git of ours reaches for a remote.
            variables = {**variables, "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
        return os.fsdecode(Git(self.path, variables, isolated=True).run(*arguments).stdout)

    def status(self) -> str:
        """Return ``git status --porcelain``: "" when nothing differs from HEAD."""
        return self.git("status", "--porcelain")

    def _is_empty(self) -> bool:
        git_dir = self.path / ".git"
        return (
            not (git_dir / "index").exists()
            and read_plain_file(git_dir / "HEAD") == b"ref: refs/heads/main\n"
            and not (git_dir / "refs" / "heads" / "main").exists()
            and not (git_dir / "packed-refs").exists()
        )

    def _date(self, parent: str | None) -> int:
        if parent is None:
            return FIRST_COMMIT
        return int(self._run("show", "--no-patch", "--format=%ct", parent)) + 60

    def _run(self, *arguments: str, stdin: bytes = b"", date: int = FIRST_COMMIT) -> str:
        git = Git(self.path, _variables(date), isolated=True)
        return os.fsdecode(git.run(*arguments, stdin=stdin).stdout)


def _check_inside(path: str) -> None:
    """Refuse a path that leads out of the repository.

    Raises:
        ValueError: it does.
    """
    if posixpath.isabs(path) or posixpath.normpath(path).split("/")[0] == "..":
        raise ValueError(
            f"the path {path!r} leads out of the repository: expected one relative to its folder"
        )


def _is_plain(content: str | bytes | None, path: str) -> bool:
    """Tell whether git would store the file as it is, under this name."""
    parts = path.split("/")
    return (
        content is not None
        and parts[-1] not in (".gitattributes", ".gitmodules")
        and not any(part.lower() in (".git", "..", "") for part in parts)
    )


def _variables(date: int) -> dict[str, str]:
    name, address = IDENTITY
    variables = {"GIT_LITERAL_PATHSPECS": "0"}
    for role in ("AUTHOR", "COMMITTER"):
        variables[f"GIT_{role}_NAME"] = name
        variables[f"GIT_{role}_EMAIL"] = address
        variables[f"GIT_{role}_DATE"] = f"@{date} +0000"
    return variables


@functools.cache
def _template() -> dict[str, bytes | None]:
    """Return the files of an empty git directory by relative path; None for a folder."""
    room = Path(tempfile.mkdtemp(prefix="caesar-template-"))
    try:
        Git(room, isolated=True).run(
            "init", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1", "."
        )
        top = room / ".git"
        found: dict[str, bytes | None] = {}
        for entry in sorted(top.rglob("*")):
            name = str(entry.relative_to(top))
            found[name] = None if entry.is_dir() else entry.read_bytes()
        return found
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _copy_template(files: Mapping[str, bytes | None], target: Path) -> None:
    target.mkdir()
    for name, content in files.items():
        if content is None:
            (target / name).mkdir()
        else:
            (target / name).write_bytes(content)
    (target / "info").mkdir(exist_ok=True)
