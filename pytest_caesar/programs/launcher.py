"""Stands in the agent's PATH under the name of a program: reports the call, and runs it.

The harness does not import it: it is run by ``python -I -S``, compiled, and imports as little
as it can, so that a call costs some ten milliseconds. Its folder holds the socket ``s``; its
arguments are ``fake``, ``fake-stdin`` or ``watch``, the name, and the words of the call.
"""

# What is imported costs every call of a program: builtin modules, and one that is not.

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # the module without its enums
import _socket
import posix
import sys
import time

ANSWER = 10.0
"""Seconds that the harness gets to answer; a busy machine needs some of them."""

UNREACHABLE = 126
"""Exit code of a fake that cannot reach the test, and of a program that cannot be started."""

NOT_FOUND = 127
"""Exit code of a program that is not there. Source: POSIX, the shell."""

BESIDE = 0.03
"""Seconds after a signal in which a program may have ended by the same one, sent to the group."""

LINUX = sys.platform == "linux"
"""Where signals say who sent them, and files have a clock that goes in ticks."""

ENCODING = sys.getfilesystemencoding()

TICK = 0.02
"""Seconds that a tick of the clock of a file system lasts at most; usually 0.001 to 0.01."""

FORWARDED = [
    signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
    signal.SIGALRM, signal.SIGCONT, signal.SIGTSTP, signal.SIGWINCH,
]  # fmt: skip


class GoneError(Exception):
    """The other side of the socket is gone."""


class Link:
    """The connection to the harness; nothing of it ever stops a program."""

    def __init__(self, folder: str) -> None:
        self._socket: _socket.socket | None = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            self._socket.settimeout(ANSWER)
            self._socket.connect(f"{folder}/s")
        except OSError:
            self.close()

    def ask(self, parts: list[bytes]) -> list[bytes]:
        """Send one message and return the answer; [] when there is none."""
        if self._socket is None:
            return []
        try:
            body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
            self._socket.sendall(len(parts).to_bytes(4, "big") + body)
            return [self._exactly(self._number()) for _ in range(self._number())]
        except (OSError, GoneError):
            self.close()
            return []

    def end(self, code: int) -> None:
        """Tell the end, at a moment that lies before everything that is written afterwards.

        The clock of a file system goes in ticks.
        """
        ended = now()
        if self._socket is not None and LINUX:
            until = time.monotonic() + TICK
            coarse = 5  # CLOCK_REALTIME_COARSE, for which Python has no name
            while time.clock_gettime_ns(coarse) <= ended and time.monotonic() < until:
                time.sleep(0.0005)
        self.ask([b"end", str(code).encode(), str(ended).encode()])

    def close(self) -> None:
        """Hold nothing open any more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _number(self) -> int:
        return int.from_bytes(self._exactly(4), "big")

    def _exactly(self, size: int) -> bytes:
        assert self._socket is not None
        data = b""
        while len(data) < size:
            piece = self._socket.recv(min(65536, size - len(data)))
            if not piece:
                raise GoneError
            data += piece
        return data


def main(kind: str, name: str, words: list[str]) -> int:
    """Report one call, and do what it asks for; return the exit code."""
    folder = __file__.rpartition("/")[0]
    data = b""
    started = now()
    if kind == "fake-stdin":
        while piece := posix.read(0, 65536):
            data += piece
    link = Link(folder)
    task = posix.environ.get(b"CAESAR_TASK_ID", b"")
    call = [kind.encode(), name.encode(), task, here(), str(started).encode(), data]
    answer = link.ask([*call, *(word.encode(ENCODING, "surrogateescape") for word in words)])
    if kind == "watch":
        return watch(link, find(folder, name), name, words)
    if len(answer) != 3:
        write(2, f"{name}: the test that fakes this program cannot be reached\n".encode())
        return UNREACHABLE
    write(1, answer[1])
    write(2, answer[2])
    code = int(answer[0])
    link.end(code)
    return code


def watch(link: Link, program: str | None, name: str, words: list[str]) -> int:
    """Run the real program, and end as it does."""
    if program is None:
        write(2, f"{name}: command not found\n".encode())
        link.end(NOT_FOUND)
        return NOT_FOUND
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    inherited = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, *FORWARDED])
    try:
        child = posix.posix_spawn(
            program,
            [program, *words],
            posix.environ,
            setsigmask=inherited,
            # Python ignores these two, and what it starts would as well.
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
    except OSError as error:
        write(2, f"{name}: {error.strerror}\n".encode())
        link.end(UNREACHABLE)
        return UNREACHABLE
    status = wait(child)
    killed = posix.WIFSIGNALED(status)
    code = 128 + posix.WTERMSIG(status) if killed else posix.WEXITSTATUS(status)
    link.end(code)
    if killed:
        die(posix.WTERMSIG(status))
    return code


def wait(child: int) -> int:
    """Wait for the program, and pass on what is sent to its launcher; return its status."""
    while True:
        number, code = next_signal()
        if number == signal.SIGCHLD:
            pid, status = posix.waitpid(child, posix.WNOHANG | posix.WUNTRACED)
            if pid and posix.WIFSTOPPED(status):
                posix.kill(posix.getpid(), signal.SIGSTOP)  # whoever waits for it sees it stop
            elif pid:
                return status
            continue
        # A terminal sends to the whole group, and so does who ends an agent.
        if code > 0:
            continue
        if LINUX and signal.sigtimedwait([signal.SIGCHLD], BESIDE) is not None:
            pid, status = posix.waitpid(child, posix.WNOHANG)
            if pid:
                return status
        posix.kill(child, number)


def next_signal() -> tuple[int, int]:
    """Return the next signal, and who sent it: above 0 for the system itself."""
    wanted = [signal.SIGCHLD, *FORWARDED]
    if LINUX:
        info = signal.sigwaitinfo(wanted)
        return info.si_signo, info.si_code
    return signal.sigwait(wanted), 0  # pragma: no cover - macOS


def die(number: int) -> None:
    """End by a signal as the program did, without a dump of this process."""
    import resource  # noqa: PLC0415 - seldom needed

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    posix.kill(posix.getpid(), number)
    time.sleep(1)


def find(folder: str, name: str) -> str | None:
    """Return the real program: the first on PATH that is no launcher."""
    own = posix.stat(folder)
    path = posix.environ.get(b"PATH", b"/bin:/usr/bin").decode(ENCODING, "surrogateescape")
    for place in path.split(":"):
        program = f"{place or '.'}/{name}"
        try:
            there, file = posix.stat(place or "."), posix.stat(program)
        except OSError:
            continue
        if (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino):
            continue
        if file.st_mode & 0o170000 == 0o100000 and posix.access(program, posix.X_OK):
            return program
    return None


def now() -> int:
    """Return nanoseconds since 1970."""
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


def here() -> bytes:
    """Return the working folder, or nothing where it is gone."""
    try:
        return posix.getcwdb()
    except OSError:
        return b""


def write(descriptor: int, data: bytes) -> None:
    """Write all, as far as somebody reads."""
    while data:
        try:
            data = data[posix.write(descriptor, data) :]
        except OSError:  # noqa: PERF203 - nobody reads any more
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
