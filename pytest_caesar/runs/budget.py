"""Bounds on tokens, cost and turns: of one test, and of a whole session."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from pytest_caesar.recovery.usage import Usage

BUDGET_CODES = frozenset({"budget-exceeded", "usage-unknown"})
"""Findings that fail a test which has a budget."""


class BudgetSpentError(CaesarError):
    """The budget of the session is spent, so that no more delegations are started.

    Attributes:
        spent: what was spent of it, in words.
    """

    spent: str

    def message(self) -> str:
        """Say what to do."""
        return (
            f"the budget of the session is spent: {self.spent}; nothing was delegated. Raise "
            "--caesar-max-tokens or --caesar-max-cost, or run fewer tests"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What may be used at most; None is no bound.

    Attributes:
        max_tokens: input and output together.
        max_cost_usd: US dollars.
        max_turns: answers of the model.
    """

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_turns: int | None = None

    def __bool__(self) -> bool:
        return any(limit is not None for _, limit, _ in self._bounds())

    def exceeded(self, used: Iterable[Usage]) -> str:
        """Say which bound is passed by what is known, or ""."""
        parts = list(used)
        for name, limit, kind in self._bounds():
            if limit is None:
                continue
            sums = [number for part in parts if (number := known(part, kind)) is not None]
            if sum(sums) > limit:
                return f"{_shown(sum(sums), kind)}, at most {_shown(limit, kind)} ({name})"
        return ""

    def unknown(self, used: Usage) -> str:
        """Say which bound nobody can look after in one run, or ""."""
        for name, limit, kind in self._bounds():
            if limit is None:
                continue
            if _exact(used, kind) is None:
                return f"{name} is {_shown(limit, kind)}, and nobody tells the {_WORDS[kind]}"
            if used.at_least:
                return f"{name} is {_shown(limit, kind)}, and only a part of the {_WORDS[kind]} is known"
        return ""

    def _bounds(self) -> tuple[tuple[str, float | None, str], ...]:
        return (
            ("max_tokens", self.max_tokens, "total_tokens"),
            ("max_cost_usd", self.max_cost_usd, "cost_usd"),
            ("max_turns", self.max_turns, "turns"),
        )


_WORDS = {"total_tokens": "tokens", "cost_usd": "cost", "turns": "turns"}


def known(used: Usage, kind: str) -> float | None:
    """Return what was used at least: of tokens also where only one side is known."""
    exact = _exact(used, kind)
    if exact is not None or kind != "total_tokens":
        return exact
    sides = [side for side in (used.input_tokens, used.output_tokens) if side is not None]
    return sum(sides) if sides else None


def _exact(used: Usage, kind: str) -> float | None:
    number: float | None = getattr(used, kind)
    return number


def _shown(number: float, kind: str) -> str:
    if kind == "cost_usd":
        return f"${number:.4f}".rstrip("0").rstrip(".")
    return f"{number:g} {_WORDS[kind]}" if number < 1e6 else f"{int(number)} {_WORDS[kind]}"


class Ledger(Protocol):
    """What a whole session has spent, its workers included."""

    def check(self) -> None:
        """Refuse to start anything more.

        Raises:
            BudgetSpentError: the budget is spent.
        """

    def add(self, used: Usage) -> None:
        """Note what one run used."""

    def unknown(self, used: Usage) -> str:
        """Say which bound nobody can look after in one run, or ""."""


class Budget:
    """Looks after the bounds of one test, and notes for the session; one for all its runs.

    Args:
        limits: of the test.
        ledger: of the session, or None.
    """

    def __init__(self, limits: Limits, ledger: Ledger | None = None) -> None:
        self.limits = limits
        self._ledger = ledger
        self._lock = threading.Lock()
        self._used: dict[str, Usage] = {}
        self._stopped: dict[str, str] = {}

    def check(self) -> None:
        """Refuse to start a delegation when the session's budget is spent.

        Raises:
            BudgetSpentError: it is.
        """
        if self._ledger is not None:
            self._ledger.check()

    def watch(self, task_id: str, used: Usage) -> bool:
        """Take what one run has used so far; True once: stop it, for a bound is passed."""
        with self._lock:
            if task_id in self._stopped:
                return False
            self._used[task_id] = used
            problem = self.limits.exceeded(self._used.values())
            if problem:
                self._stopped[task_id] = problem
            return bool(problem)

    def close(self, task_id: str, used: Usage) -> tuple[Diagnostic, ...]:
        """Take what one run has used in all, and say what that means for the bounds."""
        with self._lock:
            self._used[task_id] = used
            stopped = self._stopped.get(task_id, "")
            problem = self.limits.exceeded(self._used.values())
        if self._ledger is not None:
            self._ledger.add(used)
        if stopped or problem:
            how = "; the agent was stopped" if stopped else ""
            message = f"the test used {problem or stopped}{how}"
            return (Diagnostic(code="budget-exceeded", message=message),)
        unknown = self.limits.unknown(used)
        if not unknown and self._ledger is not None:
            unknown = self._ledger.unknown(used)
        if unknown:
            return (Diagnostic(code="usage-unknown", message=unknown),)
        return ()


def problem_of_limits(values: Mapping[str, object]) -> str:
    """Say what is wrong with bounds as a user wrote them, or ""."""
    for name, value in values.items():
        if value is None:
            continue
        whole = name != "max_cost_usd"
        number = value if isinstance(value, int if whole else (int, float)) else 0
        if isinstance(value, bool) or not 0 < number < math.inf:
            expected = "a whole number" if whole else "a number"
            return f"{name}={value!r:.60}, expected {expected} above 0"
    return ""
