"""Results as plain data, that travel between workers and into the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_caesar.conformance.requirements import GATES, LEVELS, REQUIREMENTS

PROTOCOL = "OACP v1"

NOT_RUN = "not run"
"""Outcome of what was not selected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one requirement for one agent.

    Attributes:
        id: of the requirement.
        agent: id of the agent.
        outcome: as in ``judgement.OUTCOMES``, or ``NOT_RUN``.
        message: what was found.
        known: why the failure is known, or None.
        scenario: the one that was looked at.
        transcript: what is left of its run, where it was not passed and there is one.
    """

    id: str
    agent: str
    outcome: str
    message: str = ""
    known: str | None = None
    scenario: str = ""
    transcript: Mapping[str, Any] | None = None

    @property
    def counts(self) -> bool:
        """It counts for the verdict: not advisory, and judged."""
        judged = self.outcome in ("passed", "failed", "error")
        return judged and REQUIREMENTS[self.id].kind != "advisory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is said of one agent in a line.

    Attributes:
        reached: the levels that were reached, in rising order.
        passed, counted: how many requirements of all that count.
        complete: every requirement was asked for.
    """

    reached: tuple[str, ...]
    passed: int
    counted: int
    complete: bool

    @property
    def level(self) -> str:
        """The highest level below which none is missing, and those beyond a gap."""
        in_order = []
        for level in LEVELS:
            if level not in self.reached:
                break
            in_order.append(level)
        beyond = [level for level in self.reached if level not in in_order]
        if not in_order:
            return "no level"
        return " + ".join([in_order[-1], *beyond])

    def __str__(self) -> str:
        if not self.complete:
            return f"{PROTOCOL}: {self.passed} of {self.counted} (not every requirement was run)"
        return f"{PROTOCOL}: {self.level}, {self.passed} of {self.counted}"


def verdict(results: Sequence[Result]) -> Verdict:
    """Sum up the results of one agent.

    A level is reached when its gate has passed and nothing mandatory or conditional of it
    failed; no level is reached without the first one.
    """
    by_id = {result.id: result for result in results}
    reached = []
    for level in LEVELS:
        gate = by_id.get(GATES[level])
        broken = any(
            result.counts and result.outcome != "passed"
            for result in results
            if REQUIREMENTS[result.id].level == level
        )
        if gate is not None and gate.outcome == "passed" and not broken:
            reached.append(level)
    if "minimal" not in reached:
        reached = []
    counted = [result for result in results if result.counts]
    return Verdict(
        reached=tuple(reached),
        passed=sum(result.outcome == "passed" for result in counted),
        counted=len(counted),
        complete=REQUIREMENTS.keys() <= {r.id for r in results if r.outcome != NOT_RUN},
    )


def completed(results: Sequence[Result], agent: str) -> tuple[Result, ...]:
    """Return one result for each requirement, in their order; what is missing was not run."""
    by_id = {result.id: result for result in results if result.agent == agent}
    return tuple(
        by_id.get(name) or Result(id=name, agent=agent, outcome=NOT_RUN) for name in REQUIREMENTS
    )


def table(results: Sequence[Result]) -> list[str]:
    """Return the results of one agent as a table by level."""
    columns = ("passed", "failed", "error", "not exercised", "skipped", "advice")
    lines = ["level     " + "".join(f"{name:>15}" for name in columns)]
    for level in LEVELS:
        counts: Counter[str] = Counter()
        for result in results:
            requirement = REQUIREMENTS[result.id]
            if requirement.level != level:
                continue
            advice = requirement.kind == "advisory" and result.outcome == "failed"
            counts["advice" if advice else result.outcome] += 1
        lines.append(f"{level:<10}" + "".join(f"{counts[name] or '-':>15}" for name in columns))
    return lines


def badge(found: Verdict) -> str:
    """Return a line for a README."""
    text = f"{found.level}, {found.passed} of {found.counted}"
    colour = "brightgreen" if found.passed == found.counted else "yellow"
    if not found.reached:
        colour = "red"
    quoted = text.replace("-", "--").replace(" ", "_").replace(",", "%2C").replace("+", "%2B")
    return (
        f"![{PROTOCOL}: {text}](https://img.shields.io/badge/{PROTOCOL.replace(' ', '_')}-"
        f"{quoted}-{colour})"
    )
