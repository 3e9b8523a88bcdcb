"""The tests of a session, each with one agent: attempts, trials, runs, and the outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pytest_caesar.reporting.results.fields import as_int, as_mapping, as_mappings, as_text

OUTCOMES: Final = (
    "failed", "error", "missed", "incomplete", "undecided", "pending", "not run", "xpassed",
    "rated", "xfailed", "passed", "met", "skipped",
)  # fmt: skip
"""What may become of a case, the worst first."""

BROKEN: Final = frozenset({"failed", "error", "missed", "incomplete", "undecided"})
"""Outcomes that need somebody to look."""

KIT: Final = "caesar-conformance"
"""The virtual module that the checks of the conformance kit belong to."""

_TRIAL = re.compile(r"-?trial(\d+)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One execution of a test.

    Attributes:
        test: pytest's id of it.
        trial: its number among repeats of the test, or None.
        execution: 1, or more where a plugin repeats tests.
        outcome: as in ``OUTCOMES``; "" when not known.
        cause: why it failed, on one line, or "".
        details: what pytest showed of the failure, or "".
        duration: seconds, or None.
        path, line: where the test is defined; "" and None when not known.
        again: the command that runs it again, or "".
        runs: its delegations in order, as the document has them.
    """

    test: str
    trial: int | None
    execution: int
    outcome: str
    cause: str = ""
    details: str = ""
    duration: float | None = None
    path: str = ""
    line: int | None = None
    again: str = ""
    runs: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A test with one agent.

    Attributes:
        test: pytest's id of it, without agent and trial.
        agent: the agent under test.
        attempts: in the order of trials and executions; at least one.
        verdict: what its trials came to, as the document has it; empty without trials.
    """

    test: str
    agent: str
    attempts: tuple[Attempt, ...]
    verdict: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """Test and agent."""
        return (self.test, self.agent)

    @cached_property
    def outcome(self) -> str:
        """The verdict of the trials, else the outcome of the last execution."""
        judged = as_text(self.verdict.get("verdict"))
        if judged:
            return judged
        last: dict[int | None, str] = {}
        for attempt in self.attempts:
            last[attempt.trial] = attempt.outcome
        return min(last.values(), key=place)

    @property
    def broken(self) -> bool:
        """Somebody needs to look."""
        fails = self.verdict.get("fails")
        return fails if isinstance(fails, bool) else self.outcome in BROKEN

    @cached_property
    def runs(self) -> tuple[Mapping[str, Any], ...]:
        """All delegations, in order."""
        return tuple(run for attempt in self.attempts for run in attempt.runs)

    @property
    def cause(self) -> str:
        """Why it failed, on one line, or ""."""
        return next((one.cause for one in reversed(self.attempts) if one.cause), "")


def place(outcome: str) -> int:
    """Return where an outcome stands in ``OUTCOMES``; unknown ones come after the failures."""
    return OUTCOMES.index(outcome) if outcome in OUTCOMES else OUTCOMES.index("not run")


def cases_of(document: Mapping[str, Any]) -> tuple[Case, ...]:
    """Return the cases of a session, failures first, then in the order of the document.

    Args:
        document: as ``--caesar-json`` writes it; n tests and m runs. The checks of the
            conformance kit are cases like others, whose test starts with ``KIT``.
    """
    runs: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for run in as_mappings(document.get("runs")):
        key = (as_text(run.get("test")), as_int(run.get("execution")) or 1)
        runs.setdefault(key, []).append(run)
    alone = [name for name in (document.get("agents") or ()) if isinstance(name, str)]
    judged = {as_text(item.get("id")) for item in as_mappings(document.get("trials"))}
    found: dict[tuple[str, str], list[Attempt]] = {}
    for entry in [*as_mappings(document.get("tests")), *_untold(document, runs)]:
        key = (as_text(entry.get("test")), as_int(entry.get("execution")) or 1)
        if key[0] in judged:
            continue  # the verdict on trials, which is said of them together
        own = runs.get(key, [])
        agent = as_text(entry.get("agent")) or (alone[0] if len(alone) == 1 else "")
        if not agent and own:
            agent = as_text(own[0].get("agent"))
        trial = as_int(entry.get("trial"))
        if trial is None and own:
            trial = as_int(own[0].get("trial"))
        test = as_text(entry.get("base")) or without_parameters(key[0], agent, trial)
        found.setdefault((test, agent), []).append(
            Attempt(
                test=key[0],
                trial=trial,
                execution=key[1],
                outcome=as_text(entry.get("outcome")),
                cause=as_text(entry.get("cause")),
                details=as_text(entry.get("details")),
                duration=entry.get("duration")
                if isinstance(entry.get("duration"), float)
                else None,
                path=as_text(entry.get("path")),
                line=as_int(entry.get("line")),
                again=as_text(entry.get("again")),
                runs=tuple(own),
            )
        )
    verdicts = {
        (as_text(item.get("test")), as_text(item.get("agent"))): item
        for item in as_mappings(document.get("trials"))
    }
    cases = [
        Case(
            test=test,
            agent=agent,
            attempts=tuple(sorted(attempts, key=lambda one: (one.trial or 0, one.execution))),
            verdict=as_mapping(verdicts.get((test, agent)) or verdicts.get((test, ""))),
        )
        for (test, agent), attempts in found.items()
    ]
    return tuple(sorted(cases, key=lambda case: place(case.outcome)))


def _untold(
    document: Mapping[str, Any], runs: Mapping[tuple[str, int], list[Mapping[str, Any]]]
) -> list[Mapping[str, Any]]:
    """Return an entry for each test of which the document has runs alone."""
    told = {
        (as_text(entry.get("test")), as_int(entry.get("execution")) or 1)
        for entry in as_mappings(document.get("tests"))
    }
    return [
        {"test": test, "execution": execution, "outcome": own[0].get("test_outcome") or ""}
        for (test, execution), own in runs.items()
        if (test, execution) not in told
    ]


def without_parameters(nodeid: str, agent: str, trial: int | None) -> str:
    """Return a test's id without the parameters that say which agent and which trial it was.

    >>> without_parameters("test_a.py::test_it[empty-codex-trial03]", "codex", 3)
    'test_a.py::test_it[empty]'
    """
    head, bracket, rest = nodeid.partition("[")
    if not bracket or not rest.endswith("]"):
        return nodeid
    inner = rest[:-1]
    if trial is not None:
        inner = _TRIAL.sub("", inner)
    if inner == agent:
        inner = ""
    elif agent and inner.startswith(f"{agent}-"):
        inner = inner[len(agent) + 1 :]
    elif agent and inner.endswith(f"-{agent}"):
        inner = inner[: -len(agent) - 1]
    return f"{head}[{inner}]" if inner else head
