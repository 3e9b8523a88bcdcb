"""What a function that plays an agent sees of the process it runs in, and giving it all back."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TextIO

from pytest_caesar.supervision.start_errors import explain

_STREAMS: Final = ("stdin", "stdout", "stderr")
_KEPT_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


class _Descriptor(io.RawIOBase):
    """Writes to a standard descriptor until it is retired, whoever still holds it."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self._fd = fd
        self.retired = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def write(self, data: Any) -> int:
        # A logging handler of the agent may outlive it: its words belong nowhere then.
        return len(data) if self.retired else os.write(self._fd, data)


class Streams:
    """Standard descriptors and ``sys.std*``, pointed at the logs of an agent and back.

    Args:
        stdout, stderr: descriptors of the logs.
    """

    def __init__(self, stdout: int, stderr: int) -> None:
        self._logs = (stdout, stderr)
        self._targets: list[int] = []
        self._saved: list[int] = []
        self._objects: dict[str, Any] = {}
        self._ours: dict[str, Any] = {}
        self._raw: list[_Descriptor] = []
        self._yielded = False

    def __enter__(self) -> Streams:  # noqa: PYI034 - Self needs Python 3.11
        _flush()
        with contextlib.ExitStack() as undo:
            nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            undo.callback(os.close, nothing)
            # Copies above the standard three: a log may itself lie where one was closed.
            for fd in (nothing, *self._logs):
                self._targets.append(_duplicate(fd))
                undo.callback(os.close, self._targets[-1])
            for fd in range(3):
                self._saved.append(-1 if fd == nothing else _duplicate(fd))
            self._objects = {name: getattr(sys, name) for name in _STREAMS}
            self._ours = {
                "stdin": io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8"),
                "stdout": self._writer(1),
                "stderr": self._writer(2),
            }
            undo.pop_all()
            os.close(nothing)
        self.claim()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _flush()
        self._give_back(all_of_it=not self._yielded)
        for raw in self._raw:
            raw.retired = True
        for fd in (*self._saved, *self._targets):
            if fd >= 0:
                os.close(fd)

    def claim(self) -> None:
        """Point everything at the logs, whatever it points at now."""
        for fd, target in enumerate(self._targets):
            os.dup2(target, fd, inheritable=True)
        for name, stream in self._ours.items():
            setattr(sys, name, stream)
        self._yielded = False

    def lend(self) -> None:
        """Give the terminal to a debugger; what somebody else pointed elsewhere stays there."""
        _flush()
        self._give_back(all_of_it=False)
        self._yielded = True

    def _give_back(self, *, all_of_it: bool) -> None:
        for fd, saved in enumerate(self._saved):
            if not all_of_it and not _same_file(fd, self._targets[fd]):
                continue
            if saved >= 0:
                os.dup2(saved, fd, inheritable=True)
            else:
                with contextlib.suppress(OSError):
                    os.close(fd)
        for name, stream in self._objects.items():
            if all_of_it or getattr(sys, name) is self._ours[name]:
                setattr(sys, name, stream)

    def _writer(self, fd: int) -> TextIO:
        raw = _Descriptor(fd)
        self._raw.append(raw)
        return io.TextIOWrapper(
            io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
        )


@contextlib.contextmanager
def process_state(*, environ: Mapping[str, str], cwd: Path, target: str) -> Iterator[None]:
    """Swap environment, working folder, arguments and import path; restore them with the rest.

    What an agent may change besides (signal handlers, umask) is put back too.

    Raises:
        WorkspaceMissingError: ``cwd`` cannot be entered.
    """
    with contextlib.ExitStack() as undo:
        undo.callback(_restore_environment, dict(os.environ))
        undo.callback(_restore_list, sys.path, list(sys.path))
        undo.callback(_restore_list, sys.argv, list(sys.argv))
        undo.callback(_restore_signals, {n: signal.getsignal(n) for n in _KEPT_SIGNALS})
        umask = os.umask(0o077)
        os.umask(umask)
        undo.callback(os.umask, umask)
        # The folder itself, not its name: the agent may rename it.
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        undo.callback(os.close, folder)
        undo.callback(os.fchdir, folder)
        try:
            os.chdir(cwd)
        except OSError as error:
            raise explain(
                "cwd", error.errno or 0, program=target, argv=(target,), cwd=cwd, size=0
            ) from error
        _restore_environment(dict(environ))
        sys.argv[:] = [target]
        yield


def _restore_environment(environ: dict[str, str]) -> None:
    for name in set(os.environ) - set(environ):
        del os.environ[name]
    for name, value in environ.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _restore_list(target: list[str], content: list[str]) -> None:
    target[:] = content


def _restore_signals(handlers: Mapping[signal.Signals, Any]) -> None:
    for number, handler in handlers.items():
        # None: installed by something other than Python, which cannot be put back.
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def _duplicate(fd: int) -> int:
    """Return a copy above the standard three, or -1 where the descriptor is closed."""
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:
        return -1


def _same_file(one: int, other: int) -> bool:
    try:
        return os.path.samestat(os.fstat(one), os.fstat(other))
    except OSError:
        return False


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        # What cannot be flushed is not the agent's, and cannot be helped here.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]
