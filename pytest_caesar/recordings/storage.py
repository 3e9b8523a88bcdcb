"""Recordings as folders of text files: ``<test>.recording/<number>/``."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.task_directory import open_folder, read_bounded
from pytest_caesar.recordings.errors import RecordingBrokenError
from pytest_caesar.recordings.escapes import EscapeError, escape, is_plain, unescape
from pytest_caesar.recordings.recording import FILES, FormatError, Recording, head_text, parse_head

HEAD = "recording.json"

ESCAPED = ".escaped"
"""Ends the name of a file that does not hold plain text."""

MAX_FILE_BYTES = 64 * 2**20
"""Bytes of one file of a recording that are read at most: 64 MiB, as of a log."""


def numbers(folder: Path) -> tuple[int, ...]:
    """Return the numbers of the recordings of a test, in order; () when there are none."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is needed
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return tuple(sorted(int(name) for name in names if _is_number(name)))


def write(folder: Path, number: int, recording: Recording) -> Path:
    """Write one recording, whole or not at all; one of that number is replaced.

    Raises:
        OSError: it cannot be written.
    """
    _make(folder)
    target = folder / str(number)
    made = folder / f".{secrets.token_hex(6)}.tmp"
    made.mkdir()
    try:
        (made / HEAD).write_bytes(head_text(recording))
        for name, data in recording.files.items():
            if is_plain(data):
                (made / name).write_bytes(data)
            else:
                (made / f"{name}{ESCAPED}").write_bytes(escape(data))
        _remove(target)
        made.rename(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return target


def forget(folder: Path) -> None:
    """Remove the recordings of a test, and nothing else that lies there.

    Raises:
        OSError: one cannot be removed.
    """
    for number in numbers(folder):
        _remove(folder / str(number))


def read(folder: Path, number: int) -> Recording:
    """Read one recording.

    Raises:
        RecordingBrokenError: a file is missing, a link, too large, or not what was written.
    """
    place = folder / str(number)
    try:
        with open_folder(place) as descriptor:
            files = {}
            for name in FILES:
                data = _read_file(place, name, descriptor)
                if data is not None:
                    files[name] = data
            head = _bytes(place, HEAD, descriptor)
    except OSError as error:
        problem = f"it cannot be read: {error.strerror or error}"
        raise RecordingBrokenError(folder=place, problem=problem) from error
    if head is None:
        raise RecordingBrokenError(folder=place, problem=f"{HEAD} is missing")
    try:
        return parse_head(head, files)
    except FormatError as error:
        raise RecordingBrokenError(folder=place, problem=f"{HEAD}: {error}") from error


def _read_file(place: Path, name: str, descriptor: int) -> bytes | None:
    plain = _bytes(place, name, descriptor)
    escaped = _bytes(place, f"{name}{ESCAPED}", descriptor)
    if escaped is None:
        return plain
    if plain is not None:
        problem = f"there are both {name} and {name}{ESCAPED}, which are the same thing"
        raise RecordingBrokenError(folder=place, problem=problem)
    try:
        return unescape(escaped)
    except EscapeError as error:
        problem = f"{name}{ESCAPED}, {error}"
        raise RecordingBrokenError(folder=place, problem=problem) from error


def _bytes(place: Path, name: str, descriptor: int) -> bytes | None:
    reading = read_bounded(Path(name), max_bytes=MAX_FILE_BYTES, dir_fd=descriptor)
    if reading.problem is not None:
        raise RecordingBrokenError(folder=place, problem=_told(reading.problem))
    return reading.data


def _told(problem: Diagnostic) -> str:
    return problem.message


def _make(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir()
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise NotADirectoryError(20, "it is a link or no folder", str(folder))


def _remove(path: Path) -> None:
    """Remove a recording; a link is removed itself, not what it leads to."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        shutil.rmtree(path)
    else:
        path.unlink()


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and not name.startswith("0") and len(name) < 7
