"""What processes of one session tell each other about trials: which tests have their verdict."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Protocol

import pytest

MAX_ANNOUNCED = 64 * 1024 * 1024
"""Bytes of what a worker says of its tests; ten thousand of them take a tenth."""


class Board(Protocol):
    """Where it is written down that the verdict on a test is known."""

    def known(self, test: str) -> bool:
        """Tell whether more trials of a test are not needed."""

    def settle(self, test: str) -> None:
        """Say so."""


class LocalBoard:
    """The board of a session without workers."""

    def __init__(self) -> None:
        self._settled: set[str] = set()

    def known(self, test: str) -> bool:
        """Tell whether more trials of a test are not needed."""
        return test in self._settled

    def settle(self, test: str) -> None:
        """Say so."""
        self._settled.add(test)


class SharedBoard:
    """The board of a session with workers: a folder that only this user can enter.

    Args:
        session: the id that pytest-xdist gives to the session, which nobody can guess.
    """

    def __init__(self, session: str) -> None:
        name = hashlib.sha256(session.encode()).hexdigest()[:24]
        self._folder = Path(tempfile.gettempdir()) / f"caesar-trials-{name}"

    def known(self, test: str) -> bool:
        """Tell whether more trials of a test are not needed."""
        return self._mark(test).exists()

    def settle(self, test: str) -> None:
        """Say so."""
        if self._open():
            self._mark(test).touch()

    def announce(self, worker: str, tests: dict[str, dict[str, Any]]) -> None:
        """Say, as a worker, which tests have trials, before the first of them runs."""
        if tests and self._open():
            target = self._folder / f"tests-{worker}.json"
            temporary = target.with_suffix(".tmp")
            temporary.write_text(json.dumps(tests), encoding="utf-8")
            temporary.replace(target)

    def announced(self) -> dict[str, dict[str, Any]]:
        """Return what the workers said; nothing where they are on another machine."""
        found: dict[str, dict[str, Any]] = {}
        if not self._ours():
            return found
        for path in sorted(self._folder.glob("tests-*.json")):
            with contextlib.suppress(OSError, ValueError):
                if path.stat().st_size <= MAX_ANNOUNCED:
                    found.update(json.loads(path.read_text(encoding="utf-8")))
        return found

    def remove(self) -> None:
        """Remove the folder, when the session is over."""
        if self._ours():
            shutil.rmtree(self._folder, ignore_errors=True)

    def _mark(self, test: str) -> Path:
        return self._folder / hashlib.sha256(test.encode("utf-8", "surrogatepass")).hexdigest()

    def _open(self) -> bool:
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
        return self._ours()

    def _ours(self) -> bool:
        try:
            found = self._folder.lstat()
        except OSError:
            return False
        return found.st_uid == os.getuid() and not self._folder.is_symlink()


def worker_board(config: pytest.Config) -> SharedBoard:
    """Return the board of the session that this worker belongs to."""
    return SharedBoard(str(config.workerinput["testrunuid"]))  # type: ignore[attr-defined]
