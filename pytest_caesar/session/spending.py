"""What a whole session has spent, in one file for all its workers."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from pathlib import Path

from pytest_caesar.recovery.usage import Usage
from pytest_caesar.runs.budget import BudgetSpentError, Limits, known


class Spending:
    """One file, taken under a lock by every process that delegates.

    Args:
        path: of the file; it is there already.
        limits: of the session.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path = path
        self.limits = limits

    @classmethod
    def create(cls, limits: Limits) -> Spending:
        """Make an empty one."""
        descriptor, name = tempfile.mkstemp(prefix="caesar-spending-")
        os.close(descriptor)
        return cls(Path(name), limits)

    def check(self) -> None:
        """Refuse to start anything more.

        Raises:
            BudgetSpentError: a bound is reached.
        """
        tokens, cost = self._spent()
        limits = self.limits
        if limits.max_tokens is not None and tokens >= limits.max_tokens:
            raise BudgetSpentError(spent=f"{tokens} of {limits.max_tokens} tokens")
        if limits.max_cost_usd is not None and cost >= limits.max_cost_usd:
            raise BudgetSpentError(spent=f"${cost:g} of ${limits.max_cost_usd:g}")

    def add(self, used: Usage) -> None:
        """Note what one run used, as far as it is known."""
        with self.path.open("r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            tokens, cost = _read(file.read())
            tokens += int(known(used, "total_tokens") or 0)
            cost += used.cost_usd or 0.0
            file.seek(0)
            file.write(json.dumps([tokens, cost]))
            file.truncate()

    def unknown(self, used: Usage) -> str:
        """Say which bound nobody can look after in one run, or ""."""
        problem = self.limits.unknown(used)
        return f"for the session, {problem}" if problem else ""

    def remove(self) -> None:
        """Remove the file; the session is over."""
        self.path.unlink(missing_ok=True)

    def _spent(self) -> tuple[int, float]:
        with self.path.open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            return _read(file.read())


def _read(text: str) -> tuple[int, float]:
    tokens, cost = json.loads(text) if text else (0, 0.0)
    return int(tokens), float(cost)
