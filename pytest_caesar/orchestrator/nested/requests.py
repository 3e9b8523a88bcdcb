"""What an agent asks other agents to do, as files of its task directory; everything is hostile."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path

from caesar_agent.clock import monotonic
from caesar_agent.console import printable
from caesar_agent.delegating import MAX_RESULT_BYTES, REQUESTS, RESULTS
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.delegation import DelegationFile
from caesar_agent.errors import DocumentError
from caesar_agent.mailbox import files
from caesar_agent.mailbox.errors import UnsafeMailboxError
from caesar_agent.mailbox.reader import Attempts, Broken
from caesar_agent.mailbox.values import is_valid_id
from caesar_agent.task_directory import TaskDirectory

COARSE = 1.0
"""Seconds that a folder must have stood still before its time is believed."""

MAX_DIAGNOSTICS = 20
"""Most findings about the requests of one task."""


class NestedRequests:
    """The requests of one task, read again and again; one that was read once is not read again.

    Args:
        directory: the task directory.
        limit: most requests that are read; the rest is left aside.
    """

    def __init__(self, directory: Path | TaskDirectory, *, limit: int) -> None:
        self._directory = directory
        self._path = directory.path if isinstance(directory, TaskDirectory) else directory
        self._limit = limit
        self._seen: set[str] = set()
        self._attempts = Attempts()
        self._found: dict[tuple[str, str], Diagnostic] = {}
        self._folder = os.fspath(self._path / REQUESTS)
        self._signature: tuple[int, ...] = ()
        self._since = 0.0
        self._settled = False

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What lies there and is no request, and what could not be answered."""
        return tuple(self._found.values())

    def open(self) -> None:
        """Make the folder whose being there says that requests are taken."""
        (self._path / REQUESTS).mkdir(mode=0o700)

    def new(self, *, final: bool = False) -> tuple[DelegationFile, ...]:
        """Return the requests that came since the last call, in the order in which they came.

        Args:
            final: nobody writes any more, so that what cannot be read now is broken.
        """
        if not final and self._nothing_new():
            return ()
        try:
            return self._new(final=final)
        except UnsafeMailboxError as error:
            self._note("delegation-unsafe", error.path, str(error))
        except OSError as error:
            path = str(self._path / REQUESTS)
            self._note("delegation-unsafe", path, f"requests cannot be read: {error.strerror}")
        return ()

    def is_closed(self, request_id: str) -> bool:
        """Tell whether there is an answer already: the one who asked no longer waits."""
        try:
            with files.folder(self._directory, RESULTS) as folder:
                return folder is not None and files.exists(folder, f"{request_id}.json")
        except (OSError, UnsafeMailboxError):
            return False

    def answer(self, request_id: str, value: Mapping[str, object]) -> bool:
        """Say what came of a request; False when it was closed before, or cannot be said."""
        text = json.dumps({"id": request_id, **value}, indent=2) + "\n"
        data = text.encode("utf-8", "backslashreplace")
        if len(data) > MAX_RESULT_BYTES:
            reason = f"The report of the other agent takes {len(data)} bytes, which is too much."
            return self.answer(request_id, {"state": "refused", "reason": reason})
        try:
            with files.folder(self._directory, RESULTS, create=True) as folder:
                return folder is not None and files.create(folder, f"{request_id}.json", data)
        except (OSError, UnsafeMailboxError) as error:
            self._note("delegation-unsafe", RESULTS, f"an answer cannot be written: {error}")
            return False

    def _nothing_new(self) -> bool:
        """Tell, by one look at the folder, that it is as it was when all in it had been read."""
        now = monotonic()
        try:
            found = os.stat(self._folder, follow_symlinks=False)  # noqa: PTH116 - some fifty times a second
        except OSError:
            return False
        signature = (found.st_ino, found.st_mode, found.st_mtime_ns, found.st_ctime_ns)
        if signature != self._signature:
            self._signature, self._since, self._settled = signature, now, False
        # Two changes within one tick of the file system's clock look like one.
        return self._settled and now - self._since > COARSE

    def _new(self, *, final: bool) -> tuple[DelegationFile, ...]:
        with files.folder(self._directory, REQUESTS) as folder:
            if folder is None:
                return ()
            found, more = files.names(folder)
            new: list[tuple[int, DelegationFile]] = []
            for name in found:
                if len(self._seen) >= self._limit:
                    more = more or name.removesuffix(".json") not in self._seen
                    continue
                request = self._read(folder, name, final=final)
                if request is not None:
                    self._seen.add(request.id)
                    written = files.signature(folder, name) or (0, 0, 0, 0)
                    new.append((written[2], request))
            self._settled = not more and all(
                name.startswith(".") or name.removesuffix(".json") in self._seen for name in found
            )
            if more:
                problem = "it holds more files than are looked at; the rest is left aside"
                self._note("delegation-invalid", REQUESTS, f"{REQUESTS}/: {problem}")
        return tuple(request for _, request in sorted(new, key=lambda item: (item[0], item[1].id)))

    def _read(self, folder: int, name: str, *, final: bool) -> DelegationFile | None:
        # Temporary files of writers are no requests yet.
        request_id = name.removesuffix(".json")
        if name.startswith(".") or request_id == name or request_id in self._seen:
            return None
        path = f"{REQUESTS}/{name}"
        if not is_valid_id(request_id):
            self._note("delegation-invalid", path, f"{path} is not named like a request")
            return None
        parse = functools.partial(_parse, request_id)
        request = self._attempts.read(folder, name, parse, final=final)
        if isinstance(request, Broken):
            self._seen.add(request_id)
            problem = f"{path} is no request: {request.problem}"
            self._note("delegation-invalid", path, problem)
            self.answer(
                request_id,
                {"state": "refused", "reason": printable(f"It cannot be read: {request.problem}.")},
            )
            return None
        return request

    def _note(self, code: str, path: str, message: str) -> None:
        if len(self._found) < MAX_DIAGNOSTICS:
            self._found[code, path] = Diagnostic(
                code=code, message=printable(message, limit=500), path=printable(path, limit=300)
            )


def _parse(request_id: str, data: bytes) -> DelegationFile:
    request = DelegationFile.parse(data)
    if request.id != request_id:
        problem = f"found {request.id!r:.140}, but its file is named {request_id!r}"
        raise DocumentError(kind="delegation", code="id-mismatch", where="id", problem=problem)
    return request
