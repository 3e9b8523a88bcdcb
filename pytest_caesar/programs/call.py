"""Calls of programs, and replies to them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pytest_caesar.runs.command_reconciliation import ObservedCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCall:
    """One call of a program.

    Attributes:
        argv: its words; the first is the program's name.
        folder: where it was called.
        stdin: what came in, for a fake that asks for it; else None.
        exit_code: what it ended with, 128 and the signal for one that a signal ended; None
            while it runs, and where nobody saw its end.
        started_at: when it started.
        duration: seconds; None where nobody saw its end.
        task_id: of the delegation in which it was called.
    """

    argv: tuple[str, ...]
    folder: Path
    stdin: bytes | None = field(default=None, repr=False)
    exit_code: int | None = None
    started_at: datetime | None = None
    duration: float | None = None
    task_id: str = ""

    def observed(self) -> ObservedCommand:
        """Return it as something that was seen to run."""
        return ObservedCommand(
            command=shlex.join(self.argv),
            exit_code=self.exit_code,
            witnesses=("program",),
            started_at=self.started_at,
            duration=self.duration,
        )


@dataclass(frozen=True, slots=True)
class ProgramReply:
    """What a faked program does.

    Attributes:
        stdout, stderr: what it prints; text is written in UTF-8.
        exit_code: what it ends with, 0 to 255.
    """

    stdout: str | bytes = ""
    stderr: str | bytes = ""
    exit_code: int = 0

    def __post_init__(self) -> None:
        """Refuse what no program can do."""
        for name in ("stdout", "stderr"):
            value = getattr(self, name)
            if not isinstance(value, str | bytes):
                message = f"{name} is of type {type(value).__name__}: expected text or bytes"
                raise TypeError(message)
        code = self.exit_code
        if not isinstance(code, int) or isinstance(code, bool) or not 0 <= code <= 255:
            message = f"exit_code is {code!r:.40}: expected a number from 0 to 255"
            raise ValueError(message)


def encoded(text: str | bytes) -> bytes:
    """Return what is written."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
