"""Where the documents of a task lie, and how they are read and written safely.

Everything in the folder may have been put there by an agent, so reading never
follows a link, never opens what is not a regular file, never waits and never takes
more than a bound.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from caesar_agent.console import printable
from caesar_agent.diagnostics import Diagnostic

if sys.platform == "win32":
    message = (
        "caesar_agent needs Linux or macOS: Windows cannot open a file without following links"
    )
    raise ImportError(message)

MAX_DOCUMENT_BYTES = 64 * 2**20
"""Size of a task or a report that is read at most, in bytes: 64 MiB."""

MAX_MAILBOX_BYTES = 2**20
"""Size of a question or an answer that is read at most, in bytes: 1 MiB."""

_CHUNK = 2**20

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_REPORT_CODES = {
    "file-not-regular": "report-file-not-regular",
    "file-too-large": "report-file-too-large",
    "file-unreadable": "report-file-unreadable",
}
_SUBMISSION_CODES = {
    "file-not-regular": "submission-not-regular",
    "file-too-large": "submission-too-large",
    "file-unreadable": "submission-unreadable",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a file.

    Attributes:
        data: the whole file, or None.
        problem: why there is no ``data``; None too when the file is simply absent.
    """

    data: bytes | None = None
    problem: Diagnostic | None = None


@dataclass(frozen=True, slots=True)
class TaskDirectory:
    """The folder of one task.

    Attributes:
        path: absolute path of the folder (``$CAESAR_TASK_DIR``).
        parent: descriptor of the folder around it, held by whoever made ``path``, or None.
    """

    path: Path
    parent: int | None = field(default=None, compare=False, repr=False)

    @property
    def task_file(self) -> Path:
        """``task.json``, written by the orchestrator."""
        return self.path / "task.json"

    @property
    def report_file(self) -> Path:
        """``report.json``, written by the agent."""
        return self.path / "report.json"

    @property
    def submission_file(self) -> Path:
        """``submission.json``: what was submitted over the return channel."""
        return self.path / "submission.json"

    @property
    def events_file(self) -> Path:
        """``events.jsonl``, one event a line."""
        return self.path / "events.jsonl"

    @property
    def raw_log(self) -> Path:
        """``raw.log``: what the process printed."""
        return self.path / "raw.log"

    @property
    def stderr_log(self) -> Path:
        """``stderr.log``: what an agent with a native stream printed on stderr."""
        return self.path / "stderr.log"

    @property
    def placed_file(self) -> Path:
        """``placed.json``: what the orchestrator put into the workspace."""
        return self.path / "placed.json"

    @property
    def questions(self) -> Path:
        """Folder of the questions asked over the return channel."""
        return self.path / "questions"

    @property
    def answers(self) -> Path:
        """Folder of the answers."""
        return self.path / "answers"

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Hold the folder open, to read and write in it.

        With a ``parent`` it is the folder that was made there, or one that was put in its
        place: no link leads to another, neither here nor at a folder above.

        Raises:
            OSError: it is gone, or a link or something else took its place.
        """
        if self.parent is None:
            with open_folder(self.path) as folder:
                yield folder
            return
        with open_folder(Path(self.path.name), dir_fd=self.parent) as folder:
            if not os.path.samestat(os.fstat(folder), os.lstat(self.path)):
                raise OSError(errno.ESTALE, "its path leads to another folder", str(self.path))
            yield folder

    def write(self, name: str, data: bytes) -> None:
        """Write a file of the folder as ``write_atomic`` does, after an agent was there.

        It is not flushed to the disk: a note of the harness need not outlast a crash of the machine.

        Raises:
            OSError: the folder was replaced, or the file cannot be written.
        """
        with self.opened() as folder:
            write_atomic(Path(name), data, dir_fd=folder, durable=False)

    def read_task(self) -> Reading:
        """Read ``task.json``, unvalidated; at most ``MAX_DOCUMENT_BYTES``."""
        return self.read("task.json")

    def read_report(self) -> Reading:
        """Read ``report.json``, unvalidated; problems have codes ``report-file-…``."""
        return _recode(self.read("report.json"), _REPORT_CODES)

    def read_submission(self) -> Reading:
        """Read ``submission.json``, unvalidated; problems have codes ``submission-…``."""
        return _recode(self.read("submission.json"), _SUBMISSION_CODES)

    def read(self, name: str) -> Reading:
        """Read a file of the folder, never through a link; at most ``MAX_DOCUMENT_BYTES``."""
        try:
            with self.opened() as folder:
                reading = read_bounded(Path(name), max_bytes=MAX_DOCUMENT_BYTES, dir_fd=folder)
        except FileNotFoundError:
            return Reading()
        except OSError as error:
            problem = f"cannot be entered as a task directory: {_reason(error)}"
            return Reading(problem=_problem("file-unreadable", self.path, problem))
        if reading.problem is None:
            return reading
        return Reading(problem=replace(reading.problem, path=str(self.path / name)))


@contextmanager
def open_folder(path: Path, *, dir_fd: int | None = None) -> Iterator[int]:
    """Hold a folder open, to read what is in it even if its name is given to another.

    Args:
        path: the folder; its last component must not be a link.
        dir_fd: descriptor of the folder that a relative ``path`` starts from.

    Raises:
        FileNotFoundError: there is none.
        OSError: a link (``ELOOP``, or ``ENOTDIR`` on some systems), or no folder.
    """
    descriptor = os.open(path, _FOLDER_FLAGS, dir_fd=dir_fd)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_bounded(path: Path, *, max_bytes: int, dir_fd: int | None = None) -> Reading:
    """Read a whole regular file that somebody else wrote.

    Args:
        path: the file; its last component is not followed if it is a link.
        max_bytes: larger files are refused, not cut.
        dir_fd: descriptor of the folder that a relative ``path`` starts from.

    Returns:
        The bytes, nothing when there is no such file, or a problem:
        ``file-not-regular`` (link, folder, FIFO, socket, device),
        ``file-too-large`` or ``file-unreadable``.
    """
    descriptor, problem = open_regular(path, dir_fd=dir_fd)
    if descriptor is None:
        return Reading(problem=problem)
    try:
        return _read_descriptor(path, descriptor, max_bytes)
    except OSError as error:
        return Reading(problem=_unreadable(path, error))
    finally:
        os.close(descriptor)


def open_regular(
    path: Path, *, dir_fd: int | None = None
) -> tuple[int, None] | tuple[None, Diagnostic | None]:
    """Open a regular file that somebody else wrote, to read it; never waits.

    Args:
        path: the file; its last component is not followed if it is a link.
        dir_fd: descriptor of the folder that a relative ``path`` starts from.

    Returns:
        A descriptor, which the caller closes, or None with the problem
        (``file-not-regular`` or ``file-unreadable``); both None when there is no file.
    """
    try:
        # Looked at before it is opened: to open a FIFO or a device is to act on it.
        problem = _refuse_kind(path, os.stat(path, dir_fd=dir_fd, follow_symlinks=False))
        if problem is not None:
            return None, problem
        descriptor = os.open(path, _FILE_FLAGS, dir_fd=dir_fd)
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError) as error:
        return None, _unreadable(path, error)
    # And again afterwards: its name may have been given to something else meanwhile.
    problem = _refuse_kind(path, os.fstat(descriptor))
    if problem is not None:
        os.close(descriptor)
        return None, problem
    return descriptor, None


def _read_descriptor(path: Path, descriptor: int, max_bytes: int) -> Reading:
    chunks: list[bytes] = []
    # A sparse file need not be read to be too large; others may grow while they are read.
    size = 0 if os.fstat(descriptor).st_size <= max_bytes else max_bytes + 1
    while size <= max_bytes:
        chunk = os.read(descriptor, min(_CHUNK, max_bytes + 1 - size))
        if not chunk:
            return Reading(data=b"".join(chunks))
        chunks.append(chunk)
        size += len(chunk)
    problem = f"is larger than {max_bytes} bytes and was not read"
    return Reading(problem=_problem("file-too-large", path, problem))


def _refuse_kind(path: Path, status: os.stat_result) -> Diagnostic | None:
    if stat.S_ISREG(status.st_mode):
        return None
    problem = f"is {_kind(status.st_mode)}, not a regular file, and was not opened"
    return _problem("file-not-regular", path, problem)


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISLNK, "a link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for test, name in kinds if test(mode)), "a device")


def _reason(error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return printable(str(error))
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return "a link or no folder on the way"
    return error.strerror or type(error).__name__


def _unreadable(path: Path, error: OSError | ValueError) -> Diagnostic:
    return _problem("file-unreadable", path, f"cannot be read: {_reason(error)}")


def _problem(code: str, path: Path, problem: str) -> Diagnostic:
    message = f"{printable(path.name, limit=100)} {problem}"
    return Diagnostic(code=code, message=message, path=os.fspath(path))


def _recode(reading: Reading, codes: dict[str, str]) -> Reading:
    if reading.problem is None:
        return reading
    return Reading(problem=replace(reading.problem, code=codes[reading.problem.code]))


def write_atomic(
    path: Path,
    data: bytes,
    *,
    mode: int = 0o600,
    dir_fd: int | None = None,
    durable: bool = True,
) -> None:
    """Write a file so that a reader sees all of it or none of it.

    A temporary file in the same folder is written, flushed and renamed; a link
    at ``path`` is replaced, not followed.

    Args:
        path: the file; its folder must exist.
        data: what it holds afterwards.
        mode: permissions of the file, whatever the umask.
        dir_fd: descriptor of the folder that a relative ``path`` starts from.
        durable: flush it to the disk, so that it outlasts a crash of the machine too.
    """
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, mode, dir_fd=dir_fd)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            if durable:
                os.fsync(descriptor)
        os.replace(temporary, path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=dir_fd)
        raise
