"""The one place that starts git.

Every call has an environment of its own, a checked exit code and a bounded
time. Nothing of the surroundings redirects it, and no program that a
repository configures is run by it.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import IO

from caesar_agent.clock import monotonic, pause
from caesar_agent.errors import CaesarError
from pytest_caesar.workspace.fifos import Fifos
from pytest_caesar.workspace.git_environment import git_environment
from pytest_caesar.workspace.git_program import GitProgramError, checked_git
from pytest_caesar.workspace.naming import shown
from pytest_caesar.workspace.pulse import Pulse

GIT_TIMEOUT = 300.0
"""Seconds one git process may take; a checkout of a very large repository fits, a hang does not."""

REAP_TIMEOUT = 5.0
"""Seconds between the end of git's output and its exit; git closes them together."""

STALL_INTERVAL = 0.5
"""Seconds without an end after which somebody looks what git waits for, again and again."""

FEED_INTERVAL = 0.002
"""Seconds until FIFOs are fed again when somebody waited on one: an agent can make many."""

MAX_FEED_INTERVAL = 0.05
"""Seconds until FIFOs that are known are fed again at the latest."""

SLEEP_TIMEOUT = 10.0
"""Seconds that git may sleep without doing anything; it asks nobody, and disks count as doing."""

STDERR_TAIL = 2000
"""Bytes of git's own words kept in an error."""

_PINNED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    # An agent can write one that names other parents than the commits themselves.
    "core.commitGraph=false",
    "core.pager=cat",
    "core.quotePath=true",
    "core.ignoreStat=false",
    "core.trustCtime=true",
    "core.checkStat=default",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "color.ui=false",
)


_MISSING = (
    "lazy fetching disabled",
    "unable to read sha1 file",
    "unable to read tree",
    "failed to read object",
    "bad object",
)
"""What git says of objects that are not there."""


class GitError(CaesarError):
    """A git process failed, could not be started, or did not end in time.

    Attributes:
        argv: what was run.
        exit_code: negative for a signal; None when it could not be started.
        stderr: the end of what it said.
        timed_out: it was ended because it took too long.
        timeout: the bound in seconds.
        asleep: it did nothing at all for that long.
    """

    __module__ = "pytest_caesar"

    argv: tuple[str, ...]
    exit_code: int | None
    stderr: str
    timed_out: bool
    timeout: float
    asleep: bool = False

    def message(self) -> str:
        """Say what was run and how it ended."""
        command = _shown(self.argv)
        if self.asleep:
            return (
                f"{command} did nothing for {self.timeout:g} s and was stopped: it waits for "
                "something that does not come, such as a writer to a FIFO where it expects a "
                "file (one of its own, or one that include.path in its configuration names)."
            )
        if self.timed_out:
            return f"{command} did not end within {self.timeout:g} s and was stopped."
        if self.exit_code is None:
            return f"git could not be started ({self.stderr})."
        said = self.stderr.strip() or "it said nothing"
        remedy = ""
        if any(word in said for word in _MISSING):
            remedy = (
                " Objects are missing, and nothing is fetched here: "
                "have git fetch them first, as git checkout does in a partial clone."
            )
        return f"{command} ended with exit code {self.exit_code}: {said}{remedy}"


@dataclass(frozen=True, slots=True)
class Result:
    """What a git process left behind.

    Attributes:
        exit_code: one of those that the caller declared acceptable.
        stdout: every byte.
        stderr: every byte.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def lines(self) -> list[str]:
        """Standard output as lines, undecodable bytes kept."""
        return os.fsdecode(self.stdout).splitlines()

    @property
    def records(self) -> list[bytes]:
        """Standard output of a command with ``-z``."""
        return self.stdout.split(b"\0")[:-1] if self.stdout else []


@dataclass(frozen=True, slots=True)
class Git:
    """Git in one folder.

    Attributes:
        folder: where it runs.
        variables: added to its environment, such as ``GIT_DIR``.
        config: ``name=value`` settings that win over every file.
        isolated: no user or system configuration is read at all.
        fifos: fed while a process goes on.
    """

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    config: tuple[str, ...] = ()
    isolated: bool = False
    fifos: Fifos | None = field(default=None, compare=False)

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        accept: Iterable[int] = (0,),
        timeout: float = GIT_TIMEOUT,
        output: IO[bytes] | None = None,
    ) -> Result:
        """Run one git command to its end.

        Args:
            arguments: the command and its arguments.
            stdin: what it reads.
            output: a file that gets what it prints, instead of the result.
            accept: exit codes that are answers.
            timeout: seconds until it is stopped.

        Raises:
            GitError: any other exit code, no start, or no end in time.
        """
        return self.start(*arguments, stdin=stdin, output=output).finish(
            accept=accept, timeout=timeout
        )

    def start(
        self, *arguments: str, stdin: bytes = b"", output: IO[bytes] | None = None
    ) -> Running:
        """Start one git command, to be finished later."""
        argv = ("git", *_settings(self.config), *arguments)
        source: IO[bytes] | int = subprocess.DEVNULL
        try:
            program = checked_git()
        except GitProgramError as error:
            raise _not_started(argv, str(error)) from error
        if stdin:
            # A file instead of a pipe: git may answer before it has read everything.
            source = tempfile.TemporaryFile()  # noqa: SIM115 - closed right below
            source.write(stdin)
            source.seek(0)
        try:
            process = Popen(
                (program, *argv[1:]),
                cwd=self.folder,
                env=self.environment(),
                stdin=source,
                stdout=subprocess.PIPE if output is None else output,
                stderr=subprocess.PIPE,
                # Of a session of its own: Ctrl-C in the terminal is for us to answer.
                start_new_session=True,
            )
        except OSError as error:
            raise _not_started(argv, str(error)) from error
        finally:
            if not isinstance(source, int):
                source.close()
        return Running(argv, process, self.fifos)

    def environment(self) -> dict[str, str]:
        """Return the whole environment of the git process."""
        return {**git_environment(isolated=self.isolated), **self.variables}


class Running:
    """A git process that was started and must be finished or stopped."""

    def __init__(
        self,
        argv: tuple[str, ...],
        process: subprocess.Popen[bytes],
        fifos: Fifos | None = None,
    ) -> None:
        self.argv = argv
        self._process = process
        self._fifos = fifos

    def finish(self, *, accept: Iterable[int] = (0,), timeout: float = GIT_TIMEOUT) -> Result:
        """Wait for the end; errors as for ``Git.run``."""
        try:
            stdout, stderr = self._read(timeout)
            exit_code = self._reap()
        except BaseException:
            self.stop()
            raise
        finally:
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
        if exit_code not in accept:
            raise GitError(
                argv=self.argv,
                exit_code=exit_code,
                stderr=stderr[-STDERR_TAIL:].decode("utf-8", "replace"),
                timed_out=False,
                timeout=timeout,
            )
        return Result(exit_code, stdout, stderr)

    def stop(self) -> None:
        """End the process at once, if it still runs."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _read(self, timeout: float) -> tuple[bytes, bytes]:
        pipes = [pipe for pipe in (self._process.stdout, self._process.stderr) if pipe is not None]
        chunks: dict[int, list[bytes]] = {}
        begin = monotonic()
        end = begin + timeout
        known = self._fifos is not None and self._fifos.known
        interval = FEED_INTERVAL if known else STALL_INTERVAL
        look = begin + interval
        asleep = 0.0
        pulse = Pulse(self._process.pid)
        with selectors.DefaultSelector() as selector:
            for pipe in pipes:
                chunks[pipe.fileno()] = []
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                now = monotonic()
                if now >= end:
                    raise self._late(timeout)
                if now >= look:
                    interval = self._help(interval)
                    look = now + interval
                    # Counted, not measured: after a Ctrl-Z much time has passed for nobody.
                    asleep = 0.0 if pulse.beats() else asleep + interval
                    if asleep >= SLEEP_TIMEOUT:
                        raise self._late(SLEEP_TIMEOUT, asleep=True)
                for key, _ in selector.select(max(0.0, min(end, look) - now)):
                    data = os.read(key.fd, 1 << 20)
                    if data:
                        chunks[key.fd].append(data)
                    else:
                        selector.unregister(key.fileobj)
        read = [b"".join(parts) for parts in chunks.values()]
        return (read[0] if len(read) == 2 else b""), read[-1]

    def _help(self, interval: float) -> float:
        """Feed FIFOs; return the seconds until it is worth trying again."""
        if self._fifos is None:
            return STALL_INTERVAL
        if self._fifos.feed():
            return FEED_INTERVAL
        return min(2 * interval, MAX_FEED_INTERVAL) if self._fifos.known else STALL_INTERVAL

    def _reap(self) -> int:
        end = monotonic() + REAP_TIMEOUT
        wait = 0.0001
        while (exit_code := self._process.poll()) is None:
            if monotonic() >= end:
                raise self._late(REAP_TIMEOUT)
            pause(wait)
            wait = min(wait * 2, 0.02)
        return exit_code

    def _late(self, timeout: float, *, asleep: bool = False) -> GitError:
        return GitError(
            argv=self.argv,
            exit_code=None,
            stderr="",
            timed_out=True,
            timeout=timeout,
            asleep=asleep,
        )


def _not_started(argv: tuple[str, ...], problem: str) -> GitError:
    return GitError(argv=argv, exit_code=None, stderr=problem, timed_out=False, timeout=0.0)


def _settings(config: Sequence[str]) -> list[str]:
    return [part for setting in (*_PINNED, *config) for part in ("-c", setting)]


def _shown(argv: Sequence[str]) -> str:
    """Return a command line without the settings, control characters escaped, shortened."""
    words = list(argv)
    while len(words) > 2 and words[1] == "-c":
        del words[1:3]
    text = " ".join(words).encode("utf-8", "backslashreplace").decode()
    text = shown(text)
    return text if len(text) <= 300 else text[:297] + "..."
