"""What is asked of the trials of one test, and the verdict on them; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from pytest_caesar.trials import sequential
from pytest_caesar.trials.intervals import Interval, wilson

Outcome = Literal["success", "failure", "error", "skipped", "stopped"]
"""What became of one trial: ``error`` is one of the harness, ``stopped`` one that was not needed."""

State = Literal["met", "missed", "undecided", "rated", "error", "incomplete", "pending", "skipped"]
"""What is known of a test: ``rated`` has a rate and no gate, ``pending`` ran in part of its shards,
``skipped`` counted nothing."""

FAILING: Final = frozenset({"missed", "error", "incomplete"})
"""States that fail a test; ``undecided`` does where the gate says so."""

DISPLAYED: Final = 0.95
"""Confidence of the interval that is shown where the gate names none."""

ERRORS: Final = Fraction(1, 5)
"""More errors of the harness than this share of the trials, and nothing is known of the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What is asked of the trials of one test.

    Attributes:
        trials: how many are run at most.
        min_rate: the least rate of success, or None: then nothing is judged.
        confidence: of the verdict, such as 0.95; None judges by the observed rate.
        undecided: what a verdict that is not sure does to the test.
        stop: whether trials end as soon as the verdict cannot change any more.
    """

    trials: int
    min_rate: Fraction | None = None
    confidence: float | None = None
    undecided: Literal["fail", "skip"] = "fail"
    stop: bool = True

    @property
    def problem(self) -> str:
        """Why no number of successes meets this gate, or ""."""
        if self.min_rate is None or self.confidence is None:
            return ""
        if self.min_rate >= 1:
            return (
                "min_rate=1 with a confidence can never be met: no number of successes shows "
                "that an agent never fails; ask for less, or leave the confidence out"
            )
        if sequential.evidence(self.trials, self.trials, self.min_rate)[0] >= -math.log1p(
            -self.confidence
        ):
            return ""
        least = sequential.least_trials(self.min_rate, self.confidence)
        return (
            f"{self.trials} trials can never meet min_rate={float(self.min_rate):g} with "
            f"confidence={self.confidence:g}, not even by successes alone: that takes {least}"
        )

    def as_json(self) -> dict[str, object]:
        """Return it as JSON types alone."""
        return {
            "trials": self.trials,
            "min_rate": None if self.min_rate is None else str(self.min_rate),
            "confidence": self.confidence,
            "undecided": self.undecided,
            "stop": self.stop,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Gate:
        """Return what ``as_json`` gave.

        Raises:
            ValueError: it is something else.
        """
        trials, rate, confidence = (value.get(k) for k in ("trials", "min_rate", "confidence"))
        undecided, stop = value.get("undecided", "fail"), value.get("stop", True)
        if (
            not isinstance(trials, int)
            or not (rate is None or isinstance(rate, str))
            or not (confidence is None or isinstance(confidence, float))
            or undecided not in ("fail", "skip")
        ):
            raise ValueError(f"{value!r}: expected what a session writes of a gate")
        return cls(
            trials=trials,
            min_rate=None if rate is None else Fraction(rate),
            confidence=confidence,
            undecided="skip" if undecided == "skip" else "fail",
            stop=bool(stop),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the trials of one test say.

    Attributes:
        gate: what was asked.
        state: what is known.
        successes: among ``counted``.
        counted: trials that ended as success or failure.
        errors: trials that were errors of the harness; they are in no rate.
        skipped: trials that skipped themselves.
        stopped: trials that were not run because the verdict was known.
        missing: trials that never ran.
        decided_after: counted trials, in the order of their numbers, that a verdict with
            confidence took; None for all others.
    """

    gate: Gate
    state: State
    successes: int
    counted: int
    errors: int = 0
    skipped: int = 0
    stopped: int = 0
    missing: int = 0
    decided_after: int | None = None

    @property
    def rate(self) -> Fraction | None:
        """Successes over counted trials; None where nothing was counted."""
        return Fraction(self.successes, self.counted) if self.counted else None

    @property
    def interval(self) -> Interval:
        """Wilson's interval, for display."""
        return wilson(self.successes, self.counted, self.gate.confidence or DISPLAYED)

    @property
    def could_be_chance(self) -> bool:
        """Whether a verdict by the observed rate has its gate inside the interval."""
        gate = self.gate
        judged = self.state in ("met", "missed") and gate.confidence is None
        return judged and gate.min_rate is not None and float(gate.min_rate) in self.interval

    @property
    def fails(self) -> bool:
        """Whether the test fails."""
        return self.state in FAILING or (
            self.state == "undecided" and self.gate.undecided == "fail"
        )


def known(gate: Gate, outcomes: Mapping[int, Outcome]) -> bool:
    """Tell whether trials that are still to come cannot change the verdict.

    Args:
        gate: what is asked.
        outcomes: of the trials that ended so far, by number; 1 is the first.
    """
    if gate.min_rate is None:
        return False
    found = list(outcomes.values())
    if Fraction(found.count("error"), gate.trials) > ERRORS:
        return True
    if gate.confidence is not None:
        return _decision(gate, outcomes) is not None
    successes, failures = found.count("success"), found.count("failure")
    to_come = gate.trials - len(found)
    # Errors and skips of those to come only make a rate of fewer: neither end moves outwards.
    all_counted = successes + failures + to_come
    if not all_counted:
        return True
    best, worst = Fraction(successes + to_come, all_counted), Fraction(successes, all_counted)
    return best < gate.min_rate or (successes > 0 and worst >= gate.min_rate)


def judge(gate: Gate, outcomes: Mapping[int, Outcome], *, pending: bool = False) -> Verdict:
    """Judge the trials of one test, in the order of their numbers.

    Args:
        gate: what is asked.
        outcomes: by number; 1 is the first. What is not in it never ran.
        pending: other trials of the test run in other shards.
    """
    found = list(outcomes.values())
    successes, errors = found.count("success"), found.count("error")
    counted = successes + found.count("failure")
    decision = _decision(gate, outcomes)
    missing = sum(number not in outcomes for number in range(1, gate.trials + 1))
    state: State
    if pending and missing:
        state = "pending"
    elif errors and Fraction(errors, counted + errors) > ERRORS:
        state = "error"
    elif decision is not None:
        state = decision.state
    elif missing:
        state = "incomplete"
    elif not counted:
        state = "skipped"
    elif gate.min_rate is None:
        state = "rated"
    elif gate.confidence is not None:
        state = "undecided"
    else:
        state = "met" if Fraction(successes, counted) >= gate.min_rate else "missed"
    return Verdict(
        gate=gate,
        state=state,
        successes=successes,
        counted=counted,
        errors=errors,
        skipped=found.count("skipped"),
        stopped=found.count("stopped"),
        missing=missing,
        decided_after=decision.trials if decision else None,
    )


def _decision(gate: Gate, outcomes: Mapping[int, Outcome]) -> sequential.Decision | None:
    """Return what is decided by the trials before the first whose outcome is not known."""
    if gate.min_rate is None or gate.confidence is None:
        return None
    in_order = []
    for number in range(1, gate.trials + 1):
        outcome = outcomes.get(number, "stopped")
        if outcome == "stopped":
            break
        if outcome in ("success", "failure"):
            in_order.append(outcome == "success")
    return sequential.decide(in_order, gate.min_rate, gate.confidence)
