"""Results as plain data, that travel between workers and into the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_caesar.conformance.requirements import (
    EVERY,
    GATES,
    LEVELS,
    TITLES,
    VA_GATES,
    of_contract,
)

TWICE = frozenset({"PROCESS-012", "UNIT-003"})
"""The requirements that an agent does the same twice."""

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
        varied: what the agent had not done twice in the same way by then; or "".
        transcript: what is left of its run, where it was not passed and there is one.
    """

    id: str
    agent: str
    outcome: str
    message: str = ""
    known: str | None = None
    scenario: str = ""
    varied: str = ""
    transcript: Mapping[str, Any] | None = None

    @property
    def counts(self) -> bool:
        """It counts for the verdict: not advisory, and judged; an error is no judgement."""
        judged = self.outcome in ("passed", "failed")
        return judged and EVERY[self.id].kind != "advisory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is said of one agent in a line.

    Attributes:
        title: of the contract.
        reached: the levels that were reached, in rising order.
        undecided: the levels of which nothing is known, since the harness failed there.
        missing: ids of what keeps each other level shut: what failed, or a gate that was not
            seen to be passed.
        passed, counted: how many requirements of all that count.
        complete: every requirement was asked for.
    """

    title: str
    reached: tuple[str, ...]
    undecided: tuple[str, ...]
    missing: Mapping[str, tuple[str, ...]]
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

    @property
    def text(self) -> str:
        """The levels and the count, without the name of the contract."""
        count = f"{self.passed} of {self.counted}"
        if next(iter(LEVELS)) in self.undecided:
            return f"not decided, {count}"
        more = f"; not decided: {', '.join(self.undecided)}" if self.undecided else ""
        return f"{self.level}, {count}{more}"

    def __str__(self) -> str:
        if not self.complete:
            return f"{self.title}: {self.passed} of {self.counted} (not every requirement was run)"
        return f"{self.title}: {self.text}"


def verdict(results: Sequence[Result]) -> Verdict:
    """Sum up the results of one agent.

    A level is reached when its gate has passed and nothing mandatory or conditional of it
    failed; no level is reached without the first one. Where the harness failed, a level is not
    decided.
    """
    contract = EVERY[results[0].id].contract if results else "oacp"
    gates = VA_GATES if contract == "va" else GATES
    reached, undecided, missing = [], [], {}
    for level in LEVELS:
        own = [result for result in results if EVERY[result.id].level == level]
        failed = [result.id for result in own if result.counts and result.outcome != "passed"]
        gate = [one.id for one in own if one.id == gates[level] and one.outcome != "passed"]
        errors = [
            one.id for one in own if one.outcome == "error" and EVERY[one.id].kind != "advisory"
        ]
        if failed or (gate and not errors):
            missing[level] = tuple(dict.fromkeys((*gate, *failed)))
        elif errors:
            undecided.append(level)
        elif own:
            reached.append(level)
    if "minimal" not in reached:
        reached = []
    counted = [result for result in results if result.counts]
    return Verdict(
        title=TITLES[contract],
        reached=tuple(reached),
        undecided=tuple(undecided),
        missing=missing,
        passed=sum(result.outcome == "passed" for result in counted),
        counted=len(counted),
        complete=of_contract(contract).keys() <= {r.id for r in results if r.outcome != NOT_RUN},
    )


def with_variation(results: Sequence[Result]) -> list[Result]:
    """Return the results of one agent, with PROCESS-012 failed where any check saw it vary.

    Checks are judged in any order, on several workers: the one that is about it may have been
    asked before another one noticed.
    """
    varied = next((one.varied for one in results if one.varied), "")
    return [
        replace(one, outcome="failed", message=varied)
        if varied and one.id in TWICE and one.outcome == "passed"
        else one
        for one in results
    ]


def completed(results: Sequence[Result], agent: str, contract: str = "oacp") -> tuple[Result, ...]:
    """Return one result for each requirement, in their order; what is missing was not run."""
    by_id = {result.id: result for result in results if result.agent == agent}
    return tuple(
        by_id.get(name) or Result(id=name, agent=agent, outcome=NOT_RUN)
        for name in of_contract(contract)
    )
