"""What one check found out about one agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["passed", "failed", "skipped", "not exercised", "error"]

OUTCOMES: dict[Outcome, str] = {
    "passed": "the agent was seen to do it",
    "failed": "the agent was seen to break it",
    "skipped": "it does not apply: the agent does not claim it, or does not aim that high",
    "not exercised": "nothing happened by which it could be judged",
    "error": "the harness or its surroundings failed, so that nothing is known of the agent",
}
"""Every outcome, with what it means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The outcome of one check.

    Attributes:
        outcome: ``error`` is given by whoever runs the check, never by the check itself.
        message: what was found and how to fix it; "" where it passed.
    """

    outcome: Outcome
    message: str = ""


PASSED = Judgement(outcome="passed")


def failed(message: str) -> Judgement:
    """Return that the agent breaks the requirement; say how to fix it."""
    return Judgement(outcome="failed", message=message)


def skipped(reason: str) -> Judgement:
    """Return that the requirement does not apply."""
    return Judgement(outcome="skipped", message=reason)


def not_exercised(reason: str) -> Judgement:
    """Return that nothing happened by which the requirement could be judged."""
    return Judgement(outcome="not exercised", message=reason)
