"""Files that an agent writes or reads through its client: inside the workspace, behind no link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

MAX_BYTES: Final = 64 * 1024 * 1024
"""Size of a file that is written or read at most."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PLAIN: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class PathRefusedError(Exception):
    """A path leads where the agent has no business; the text says why."""


class WorkspaceFiles:
    """Writes and reads files of one workspace, and the report.

    Args:
        root: the workspace, absolute.
        report: the file that the report is expected in.
        read_only: nothing but the report may be written.
    """

    def __init__(self, root: Path, report: Path, *, read_only: bool) -> None:
        self._root = root
        self._report = report
        self._read_only = read_only

    def write(self, path: object, content: object) -> None:
        """Write a text file; folders are made.

        Raises:
            PathRefusedError: it may not be written, or cannot.
        """
        if not isinstance(content, str):
            raise PathRefusedError("content is no string")
        data = content.encode("utf-8", "surrogatepass")
        if len(data) > MAX_BYTES:
            raise PathRefusedError(f"{len(data)} bytes are more than {MAX_BYTES}")
        with self._parent(path, make=True, writing=True) as (folder, name):
            # Not truncated before it is known to be a file.
            fd = os.open(name, os.O_WRONLY | os.O_CREAT | _PLAIN, 0o666, dir_fd=folder)
            with os.fdopen(fd, "wb") as file:
                _refuse_special(file.fileno())
                file.truncate(0)
                file.write(data)

    def read(self, path: object, *, line: object = None, limit: object = None) -> str:
        """Read a text file, or some lines of it, counted from 1.

        Raises:
            PathRefusedError: it may not be read, or cannot.
        """
        with self._parent(path, make=False, writing=False) as (folder, name):
            fd = os.open(name, os.O_RDONLY | _PLAIN, dir_fd=folder)
            with os.fdopen(fd, "rb") as file:
                _refuse_special(file.fileno())
                text = file.read(MAX_BYTES).decode("utf-8", "replace")
        if not isinstance(line, int) and not isinstance(limit, int):
            return text
        first = max(1, line) - 1 if isinstance(line, int) else 0
        lines = text.splitlines(keepends=True)[first:]
        return "".join(lines[: max(0, limit)] if isinstance(limit, int) else lines)

    @contextmanager
    def _parent(self, path: object, *, make: bool, writing: bool) -> Iterator[tuple[int, str]]:
        """Open the folder of a path, step by step from the workspace, through no link."""
        root, parts = self._place(path, writing=writing)
        try:
            fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for part in parts[:-1]:
                    if make:
                        with suppress(FileExistsError):
                            os.mkdir(part, dir_fd=fd)
                    below = os.open(part, _FOLDER, dir_fd=fd)
                    os.close(fd)
                    fd = below
                yield fd, parts[-1]
            finally:
                os.close(fd)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise PathRefusedError("a link or a file stands in its way") from error
            raise PathRefusedError(error.strerror or str(error)) from error

    def _place(self, path: object, *, writing: bool) -> tuple[Path, tuple[str, ...]]:
        if not isinstance(path, str) or "\0" in path or not path.startswith("/"):
            raise PathRefusedError("expected an absolute path")
        try:
            os.fsencode(path)
        except UnicodeEncodeError as error:
            raise PathRefusedError("no file can have this name") from error
        pure = PurePosixPath(path)
        if ".." in pure.parts:
            raise PathRefusedError("it goes up with ..")
        if path == str(self._report):
            return self._report.parent, (self._report.name,)
        roots = {str(self._root), os.path.realpath(self._root)}
        root = next((one for one in roots if pure.is_relative_to(one)), None)
        if root is None:
            raise PathRefusedError("it lies outside the workspace")
        parts = pure.relative_to(root).parts
        if not parts:
            raise PathRefusedError("it is the workspace itself")
        if ".git" in {part.lower() for part in parts} or parts[0] == ".caesar":
            raise PathRefusedError("it belongs to git or to the orchestrator")
        if writing and self._read_only:
            raise PathRefusedError("the task is read-only")
        return Path(root), parts


def _refuse_special(fd: int) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise PathRefusedError("it is no regular file")
