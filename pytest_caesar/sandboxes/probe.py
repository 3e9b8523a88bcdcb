"""A sandbox proved: a program runs in it and tries to break every invariant."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from caesar_agent.console import one_line
from pytest_caesar.files.folders import temporary_folder
from pytest_caesar.sandboxes.invariants import INVARIANTS
from pytest_caesar.sandboxes.needed_paths import needed_paths
from pytest_caesar.sandboxes.sandbox import Sandbox, SandboxError, View
from pytest_caesar.supervision.plain_sockets import PlainSocket
from pytest_caesar.supervision.sandboxing import Sandboxing
from pytest_caesar.supervision.start_errors import SandboxStartError
from pytest_caesar.supervision.supervisor import ProcessSpec, supervise

OF_THE_KERNEL: Final = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/release_agent",
)
"""What must not even be opened for writing: it has the kernel act outside."""

PROBE_WAIT: Final = 60.0
"""Seconds that a probe may take; a tenth of one is usual."""

MAX_ANSWER: Final = 1 << 16
"""Bytes of what a probe prints."""

MOST_PROCESSES: Final = 3
"""Seen inside: the monitor, the probe, and one more for a shell of the sandbox."""

MOST_UNWATCHED: Final = 8
"""Seen inside where another sandbox has processes of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a probe found.

    Attributes:
        sandbox: that was tried.
        version: of it.
        held: names of the invariants that held.
        broken: what was possible, by the name of the invariant that did not hold.
    """

    sandbox: Sandbox
    version: str
    held: tuple[str, ...]
    broken: Mapping[str, str]


def prove(sandbox: Sandbox) -> Proof:
    """Try every invariant of a sandbox; takes some 0.1 s.

    Raises:
        SandboxError: it is not there, or nothing can be run in it.
    """
    version = sandbox.version()
    with temporary_folder("caesar-probe-") as base, contextlib.ExitStack() as closing:
        task = _Task.make(base)
        asked = {
            "outside": ["/", "/usr", "/etc", "/var", str(Path.home()), *OF_THE_KERNEL],
            "project": [str(task.project), str(task.project / "code.txt")],
            "hooks": [str(task.git / "hooks"), str(task.git / "config"), str(task.git)],
            "objects": [str(task.git / "objects" / "ab" / "c"), str(task.git / "packed-refs")],
            "hidden": [str(task.hidden / "secret")],
            "processes": MOST_PROCESSES if sandbox.monitor_inside else MOST_UNWATCHED,
            "pids": [os.getppid(), os.getpid()],
            "work": [str(task.workspace), str(task.home), tempfile.gettempdir()],
            **_listeners(closing),
        }
        before = _contents(task.project)
        found = _run(sandbox, task, asked)
        if _contents(task.project) != before:
            found["objects"] = found["objects"] or "files of the repository were changed"
    broken = {name: found[name] for name in INVARIANTS if found.get(name, "was not tried")}
    held = tuple(name for name in INVARIANTS if name not in broken)
    return Proof(sandbox=sandbox, version=version, held=held, broken=broken)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """Folders like those of a task, and what surrounds them."""

    base: Path
    project: Path
    git: Path
    workspace: Path
    home: Path
    hidden: Path
    own_objects: Path
    temporary: Path

    @classmethod
    def make(cls, base: Path) -> _Task:
        project = base / "project"
        made = cls(
            base=base,
            project=project,
            git=project / ".git",
            workspace=project / ".caesar" / "wt" / "probe",
            home=base / "home",
            hidden=base / "hidden",
            own_objects=base / "own",
            temporary=base / "temporary",
        )
        for folder in (made.git / "hooks", made.git / "objects" / "ab", made.workspace, made.home):
            folder.mkdir(parents=True)
        for folder in (made.hidden, made.own_objects, made.temporary):
            folder.mkdir()
        for file in (project / "code.txt", made.git / "config", made.git / "packed-refs"):
            file.write_text("as it was\n")
        (made.git / "objects" / "ab" / "c").write_text("as it was\n")
        (made.hidden / "secret").write_text("hidden\n")
        return made

    def view(self) -> View:
        return View(
            temporary=self.temporary,
            writable=(self.workspace, self.home),
            readable=(self.project, *needed_paths((), {})),
            hidden=(self.hidden,),
            overlays=((self.own_objects, self.git / "objects"),),
        )


def _contents(project: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(project.rglob("*")) if path.is_file()}


def _listeners(closing: contextlib.ExitStack) -> dict[str, list[Any]]:
    """Listen on both loopbacks and at an abstract socket, for the probe to try."""
    abstract = f"\0caesar-probe-{os.getpid()}-{os.urandom(4).hex()}"
    places: dict[str, tuple[int, Any]] = {
        "ipv4": (socket.AF_INET, ("127.0.0.1", 0)),
        "ipv6": (socket.AF_INET6, ("::1", 0)),
        "abstract": (socket.AF_UNIX, abstract),
    }
    told: dict[str, list[Any]] = {name: [] for name in places}
    for name, (family, address) in places.items():
        # A kernel without IPv6, or a system without abstract sockets.
        with contextlib.suppress(OSError):
            made = closing.enter_context(PlainSocket(family, socket.SOCK_STREAM))
            made.bind(address)
            made.listen(1)
            told[name].append(abstract if name == "abstract" else made.getsockname()[:2])
    return told


def _run(sandbox: Sandbox, task: _Task, asked: Mapping[str, Any]) -> dict[str, str]:
    text = (Path(__file__).parent / "probe_program.py").read_text(encoding="utf-8")
    argv: tuple[str, ...] = (sys.executable, "-I", "-S", "-c", text)
    command = tuple(sandbox.command(task.view()))
    inside = Sandboxing(sandbox.name, command) if sandbox.monitor_inside else None
    with _file(task) as printed, _file(task) as said:
        try:
            outcome = supervise(
                ProcessSpec(
                    argv=argv if inside else (*command, *argv),
                    cwd=task.workspace,
                    env={"PATH": os.defpath, "HOME": str(task.home)},
                    stdin=json.dumps(asked).encode(),
                    stdout=printed,
                    stderr=said,
                    task_directory=task.base,
                    sandbox=inside,
                ),
                timeout=PROBE_WAIT,
            )
            words = os.pread(said, 2000, 0).decode("utf-8", "replace")
        except SandboxStartError as error:
            raise failed(sandbox, error.reason, error.reason) from error
        try:
            found: dict[str, str] = json.loads(os.pread(printed, MAX_ANSWER, 0))
            works = found["works"]
        except (ValueError, KeyError, TypeError) as error:
            raise failed(
                sandbox, f"its probe gave no answer ({outcome}): {words}", words
            ) from error
    if works:
        raise failed(sandbox, f"nobody could work in it ({works})", "")
    return found


def failed(sandbox: Sandbox, problem: str, said: str) -> SandboxError:
    """Return the error for a sandbox in which nothing runs."""
    remedy = sandbox.explain(said) or (
        "`pytest-caesar doctor` tries it; sandbox 'none' runs without"
    )
    return SandboxError(name=sandbox.name, problem=one_line(problem, limit=400), remedy=remedy)


@contextlib.contextmanager
def _file(task: _Task) -> Iterator[int]:
    with tempfile.TemporaryFile(dir=task.base) as file:
        yield file.fileno()
