"""What the tests of supervision share: a bench to run programs on."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caesar_agent.clock import monotonic, pause
from pytest_caesar.sandboxes.choice import proof_of
from pytest_caesar.sandboxes.enclosure import Enclosure
from pytest_caesar.supervision import processes
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.logs import Log
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.processes import Process
from pytest_caesar.supervision.supervisor import ProcessSpec, supervise

SANDBOX = os.environ.get("CAESAR_TEST_SANDBOX", "")
"""In what the programs of these tests run; "" for nothing."""

CHILDREN = Path(__file__).parent / "children"
PATIENCE = 20.0


@dataclass(frozen=True)
class Bench:
    """A task directory, a workspace and a log."""

    task_directory: Path
    workspace: Path
    log: Log

    def run(
        self,
        *argv: str,
        timeout: float = PATIENCE,
        grace: float = 0.2,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stderr: int | None = None,
        delivered: Callable[[], object] | None = None,
        linger: float = 0.1,
        cancelled: Cancellation | None = None,
        on_poll: Callable[[], None] | None = None,
    ) -> Outcome:
        environment = {"PATH": os.environ["PATH"], "CAESAR_TASK_DIR": str(self.task_directory)}
        spec = ProcessSpec(
            argv=argv,
            cwd=self.workspace if cwd is None else cwd,
            env={**environment, **(env or {})},
            stdin=stdin,
            stdout=self.log.fd,
            stderr=self.log.fd if stderr is None else stderr,
            task_directory=self.task_directory,
        )
        return supervise(
            sandboxed(spec) if SANDBOX else spec,
            timeout=timeout,
            grace=grace,
            linger=linger,
            delivered=delivered,
            cancelled=cancelled,
            on_poll=on_poll,
        )

    def sh(self, script: str, **options: Any) -> Outcome:
        return self.run("/bin/sh", "-c", script, **options)

    def child(self, name: str, *arguments: str, **options: Any) -> Outcome:
        """Run one of the programs in ``children``, in a bare interpreter."""
        program = str(CHILDREN / f"{name}.py")
        return self.run(sys.executable, "-I", "-S", program, *arguments, **options)

    @property
    def output(self) -> bytes:
        return self.log.read_tail(1 << 26)[0]

    def pids(self) -> list[int]:
        """Return the process ids that a child noted in ``pids``."""
        noted = self.task_directory / "pids"
        return [int(word) for word in noted.read_text().split()] if noted.exists() else []

    def living(self) -> list[int]:
        if SANDBOX:  # ids inside are others than outside
            mark = "CAESAR_TASK_DIR", str(self.task_directory)
            return [process.pid for process in processes.carrying(*mark)]
        return [pid for pid in self.pids() if is_alive(pid)]


def sandboxed(spec: ProcessSpec) -> ProcessSpec:
    """Return what runs a program of a bench in a sandbox."""
    proof = proof_of(SANDBOX)
    folder = spec.task_directory.parent / "sandbox"
    folder.mkdir(exist_ok=True)
    enclosure = Enclosure(
        proof=proof,
        folder=folder,
        workspace=spec.cwd,
        task_dir=spec.task_directory,
        network=True,
    )
    return enclosure.around(spec)


def is_alive(pid: int) -> bool:
    process = Process.of(pid)
    return process is not None and process.alive


def eventually(condition: Callable[[], object], *, within: float = PATIENCE) -> bool:
    """Wait, bounded, until a condition holds."""
    until = monotonic() + within
    while not condition():
        if monotonic() > until:
            return False
        pause(0.01)
    return True
