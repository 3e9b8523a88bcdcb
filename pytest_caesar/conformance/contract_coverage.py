"""Which requirements a user's own tests have exercised, whatever came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pytest_caesar.agents.target import FunctionAgent
from pytest_caesar.conformance.judgement import Judgement
from pytest_caesar.conformance.judging import CHECKS
from pytest_caesar.conformance.profile import Profile
from pytest_caesar.conformance.requirements import AREAS, REQUIREMENTS
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.runs.run import Run

LARGE = 100_000
"""Characters of a context that counts as large."""


def _asked(run: Run, state: str) -> bool:
    return any(question.state == state for question in run.questions)


SHOWN_BY: Mapping[str, Callable[[Run], bool]] = {
    "read-only": lambda run: run.task.mode == "read-only",
    "hostile text": lambda run: not run.task.objective.isascii(),
    "large context": lambda run: len(run.task.context) >= LARGE,
    "offered channel": lambda run: run.task.channel is not None and not run.questions,
    "blocked": lambda run: run.declared.status == "blocked",
    "partial": lambda run: run.declared.status == "partial" and run.source != "synthesized",
    "failed": lambda run: run.declared.status == "failed" and run.source != "synthesized",
    "in place": lambda run: run.task.isolation == "inplace" and run.task.base_ref is not None,
    "asks": lambda run: _asked(run, "answered"),
    "silence": lambda run: _asked(run, "expired"),
    "refusal": lambda run: _asked(run, "rejected"),
    "deadline": lambda run: run.outcome.timed_out,
    "no network": lambda run: not run.task.network,
    "folder": lambda run: run.changes_verified_by == "declaration" and run.task.base_ref is None,
    "no commit": lambda run: run.changes_verified_by == "git" and run.task.base_ref is None,
    "deep": lambda run: run.task.depth > 1,
}
"""Scenarios that a run of somebody's own test may amount to, and how that is seen."""


class _OneRunError(Exception):
    """A check asks for the run of another scenario, and there is this one alone."""


class _OneRun(ScenarioCache):
    """Carries nothing out: a test of somebody's own has made its runs itself."""

    def run_of(self, name: str) -> ScenarioRun:
        """Refuse; see the class."""
        raise _OneRunError(name)


_CACHE = _OneRun(agent=FunctionAgent(id="", target=""), profile=Profile(), folder=Path())


def exercised(run: Run) -> frozenset[str]:
    """Return the ids of the requirements that a run could have broken."""
    seen = ScenarioRun(scenario="plain", run=run)
    found = set()
    for name, check in CHECKS.items():
        if name not in REQUIREMENTS:
            continue
        if check.scenario == "plain":
            judged = seen.handed_in or check.of_a_dead_agent
            if judged and _is_exercised(check.function, seen):
                found.add(name)
        elif check.scenario in SHOWN_BY and SHOWN_BY[check.scenario](run):
            found.add(name)
    return frozenset(found)


def _is_exercised(
    function: Callable[[ScenarioCache, ScenarioRun], Judgement], seen: ScenarioRun
) -> bool:
    try:
        return function(_CACHE, seen).outcome in ("passed", "failed")
    except _OneRunError:
        return True  # this run had its part, and was in order


def coverage_lines(names: Iterable[str]) -> list[str]:
    """Say how much of the contract the tests have exercised, and what of each area is left.

    Args:
        names: ids of requirements that some run has exercised.
    """
    seen = set(names) & REQUIREMENTS.keys()
    lines = [f"contract: {len(seen)} of {len(REQUIREMENTS)} requirements exercised by these tests"]
    for area in AREAS:
        left = [name for name in REQUIREMENTS if name.startswith(f"{area}-") and name not in seen]
        if left:
            numbers = " ".join(name.partition("-")[2] for name in left)
            lines.append(f"  not {area}-: {numbers}")
    return lines
