"""Failures of trials, grouped by their cause; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_VARYING = (
    (re.compile(r"0x[0-9a-fA-F]+"), "0x…"),
    (re.compile(r"(?:/[^\s/'\"<>]+){2,}"), "/…"),
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "#"),
    (re.compile(r"\d+(?:\.\d+)?"), "#"),
)
"""What differs between two trials that failed for one reason: addresses, paths, ids, numbers."""

MAX_LINES = 4
"""Lines of a message that tell one cause from another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTrial:
    """One trial that did not succeed.

    Attributes:
        number: of the trial.
        outcome: ``failure`` or ``error``.
        message: of the exception, the first line first.
        codes: of the diagnostics of its runs.
        text: the failure in full, as pytest shows it.
    """

    number: int
    outcome: str
    message: str
    codes: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """Trials that failed for one reason, in the order of their numbers."""

    trials: tuple[FailedTrial, ...]

    @property
    def first(self) -> FailedTrial:
        """The one that stands for all."""
        return self.trials[0]


def grouped(failed: Iterable[FailedTrial]) -> tuple[Cause, ...]:
    """Group trials by outcome, diagnostics and assertion: the most frequent cause first."""
    groups: dict[tuple[object, ...], list[FailedTrial]] = {}
    for trial in sorted(failed, key=lambda one: one.number):
        key = (trial.outcome, tuple(sorted(set(trial.codes))), _likeness(trial.message))
        groups.setdefault(key, []).append(trial)
    ordered: Sequence[list[FailedTrial]] = sorted(
        groups.values(), key=lambda trials: (-len(trials), trials[0].number)
    )
    return tuple(Cause(tuple(trials)) for trials in ordered)


def _likeness(message: str) -> str:
    text = "\n".join(message.splitlines()[:MAX_LINES])
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text
