"""How a process ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from caesar_agent.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakedProcess:
    """A process that the agent left behind and the orchestrator ended.

    Attributes:
        pid: its process id.
        name: command line, shortened, control characters escaped.
        found_by: how it was recognised.
    """

    pid: int
    name: str
    found_by: Literal["group", "descendant", "environment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the agent's process ended; known before anything is read or observed.

    Attributes:
        status: ``succeeded`` only for exit code 0 before the deadline; an agent
            ended after its report (``killed_after_report``) counts as succeeded.
        exit_code: None when a signal ended it.
        signal: name such as ``SIGKILL``, or None.
        timed_out: the deadline passed while it ran.
        killed_after_report: it delivered its report and did not exit, and was ended.
        duration_ms: from start until its whole tree was gone.
        leaked: what it left behind.
        diagnostics: findings of the supervision.
    """

    status: Literal["succeeded", "failed", "timed_out", "cancelled"]
    exit_code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    killed_after_report: bool = False
    duration_ms: int = 0
    leaked: tuple[LeakedProcess, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def __repr__(self) -> str:
        words: list[str] = [self.status.replace("_", " ")]
        if self.signal:
            words.append(self.signal)
        elif self.exit_code is not None:
            words.append(f"exit code {self.exit_code}")
        words += [f"left behind {leaked.name} (pid {leaked.pid})" for leaked in self.leaked[:3]]
        return f"<Outcome: {', '.join(words)}, {self.duration_ms} ms>"
