"""A log that an agent writes and the orchestrator reads through a descriptor of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from caesar_agent.task_directory import open_folder, open_regular

MAX_STDERR_BYTES = 64 * 1024
"""Bytes of ``stderr.log`` that are read, the last ones: it is shown, hardly searched."""


class LogError(CaesarError):
    """A log could not be made.

    Attributes:
        path: where it was to be.
        reason: what the system said.
    """

    path: str
    reason: str

    def message(self) -> str:
        """Say it in a sentence, with what to do."""
        return (
            f"the log {self.path} could not be created: {self.reason}; "
            "it is expected not to exist yet, in a folder that can be written to"
        )


def tail_of(folder: Path, name: str, max_bytes: int) -> tuple[bytes, int]:
    """Return the last bytes of a log by its name, never through a link, and its size.

    Args:
        folder: the task directory.
        name: of the file.
        max_bytes: at most so many are returned.

    Returns:
        Nothing and zero where there is no such regular file.
    """
    try:
        with open_folder(folder) as opened:
            descriptor, _ = open_regular(Path(name), dir_fd=opened)
    except OSError:
        return b"", 0
    if descriptor is None:
        return b"", 0
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        file.seek(max(0, size - max_bytes))
        return file.read(max_bytes), size


@dataclass(slots=True, eq=False)
class Log:
    """An open log file.

    Whatever the agent does to the name (removes it, replaces it by a link or a
    FIFO), the descriptor stays with the file that was made here.

    Attributes:
        path: where it was made.
        fd: for the agent to write to; every write goes to the end.
    """

    path: Path
    fd: int
    _largest: int = field(default=0, repr=False)
    _shrunk: bool = field(default=False, repr=False)

    @classmethod
    def create(cls, path: Path) -> Log:
        """Make the file, readable by its owner alone.

        Raises:
            LogError: something of that name exists (a link counts), or the
                system refuses.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND | os.O_CLOEXEC
        try:
            return cls(path, os.open(path, flags, 0o600))
        except OSError as error:
            raise LogError(path=str(path), reason=error.strerror or str(error)) from error

    @property
    def size(self) -> int:
        """Bytes in the file now; notices when there were more before."""
        size = os.fstat(self.fd).st_size
        if size < self._largest:
            self._shrunk = True
        self._largest = max(self._largest, size)
        return size

    @property
    def shrunk(self) -> bool:
        """Whether the file was ever seen smaller than before, or lies no longer at its path."""
        self.size  # noqa: B018 - looks, and notes what it sees
        return self._shrunk

    def check(self) -> Diagnostic | None:
        """Say what the agent did to the log, or None when it only wrote."""
        size = self.size
        if self._shrunk:
            return Diagnostic(
                code="log-shrank",
                message=(
                    f"{self.path.name} shrank while the agent ran ({self._largest} bytes were seen, {size} are left): "
                    "what was printed before is lost"
                ),
                path=str(self.path),
            )
        if not self._in_place():
            return Diagnostic(
                code="log-replaced",
                message=(
                    f"{self.path.name} was removed or replaced while the agent ran; "
                    "what the agent printed was still read from the original"
                ),
                path=str(self.path),
            )
        return None

    def read_tail(self, max_bytes: int) -> tuple[bytes, int]:
        """Return the last bytes of the log and where they start in it.

        The position of the descriptor, which the agent shares, is not moved.

        Args:
            max_bytes: at most so many are returned.
        """
        size = self.size
        start = max(size - max(max_bytes, 0), 0)
        return self.read_at(start, size - start), start

    def read_at(self, offset: int, max_bytes: int) -> bytes:
        """Return up to ``max_bytes`` from ``offset`` on; fewer when the log ends before."""
        # In one piece where the system allows: a tail of many megabytes is not copied.
        data = os.pread(self.fd, max(max_bytes, 0), offset)
        while 0 < len(data) < max_bytes:
            more = os.pread(self.fd, max_bytes - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data

    def close(self) -> None:
        """Close the descriptor; doing it again is no mistake."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Log:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _in_place(self) -> bool:
        try:
            named = self.path.lstat()
        except OSError:
            return False
        return os.path.samestat(named, os.fstat(self.fd))
