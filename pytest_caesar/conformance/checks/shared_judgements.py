"""Judgements that checks of several areas share."""

from __future__ import annotations

from collections.abc import Callable

from caesar_agent.console import one_line
from caesar_agent.va.evidence import GateResult
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised, skipped
from pytest_caesar.conformance.profile import NO_PROFILE, PROFILE_NAME, how_to_claim
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun, described, was_handed_in
from pytest_caesar.conformance.scenario_runner import constraint_commands
from pytest_caesar.gates.criteria import command_of
from pytest_caesar.runs.judgement import gate_ending
from pytest_caesar.runs.run import Run

VARIES = (
    "it does not do the same twice, so nothing can be said of a difference: see PROCESS-012 "
    "(UNIT-003 of va-agent-protocol)"
)

FAILS_ALREADY = (
    f"the plain task ends as failed already: say in {PROFILE_NAME} what the agent can do "
    "(objective, repository)"
)


def absent(cache: ScenarioCache, capability: str, what: str, *, told_by: str = "") -> Judgement:
    """Return what it means that a capability was not seen.

    Args:
        cache: the agent.
        capability: by name.
        what: what was not seen, as a sentence.
        told_by: the requirement that fails for it, where it is another one.
    """
    if told_by and cache.profile.claimed(capability):
        return not_exercised(f"{what}: see {told_by}")
    if cache.profile.claimed(capability):
        return failed(f"{PROFILE_NAME} claims {capability!r}, and {what}")
    return skipped(f"{what}; {how_to_claim(capability)}")


def same_as_plain(cache: ScenarioCache, seen: ScenarioRun, under: str) -> Judgement:
    """Judge whether the agent did under odd conditions what it does under plain ones.

    What differs is repeated on both sides before the agent is blamed for it.
    """
    plain = cache.plain
    if cache.varied:
        return not_exercised(VARIES)
    if plain.run.report.status == "failed":
        return not_exercised(FAILS_ALREADY if cache.profile.path else NO_PROFILE)
    problem = _difference(seen, plain.run)
    if not problem:
        return PASSED
    if _varies(cache, seen.scenario, lambda one: not _difference(one, plain.run)):
        return not_exercised(VARIES)
    return failed(f"{under}, {problem}")


def ends_with_a_report(cache: ScenarioCache, seen: ScenarioRun, under: str) -> Judgement:
    """Judge whether the agent handed in a report of any status."""
    if cache.varied:
        return not_exercised(VARIES)
    problem = ""
    if seen.run.outcome.timed_out:
        problem = "it did not end in time"
    elif not seen.handed_in:
        problem = "it handed in no valid report; a failed one says why and is enough"
    if not problem:
        return PASSED
    if _varies(cache, seen.scenario, lambda one: one.handed_in and not one.run.outcome.timed_out):
        return not_exercised(VARIES)
    return failed(f"{under}, {problem}\n{seen.described()}")


def missed_criteria(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Judge whether a success meets the criteria that are commands."""
    if seen.run.declared.status != "success":
        return not_exercised(f"the report says {seen.run.declared.status}")
    if not seen.run.changes and cache.profile.claimed("writes"):
        return not_exercised("it changed nothing: see CHANGES-007")
    criteria = {command_of(text) for text in seen.run.task.acceptance_criteria}
    missed = [gate for gate in seen.run.gates if gate.command in criteria and not gate.passed]
    if missed:
        return failed(
            f"the report says success, and {_ended(missed[0])}: run the acceptance criteria of the "
            "task before you say success, and say partial or failed where one does not hold"
        )
    return PASSED


def broken_constraints(seen: ScenarioRun) -> Judgement:
    """Judge whether the constraints that are commands hold."""
    commands = constraint_commands(seen.run.task.constraints)
    broken = [gate for gate in seen.run.gates if gate.command in commands and not gate.passed]
    if broken:
        return failed(
            f"the task forbids it, and {_ended(broken[0])}: constraints are limits, also where the "
            "objective is easier to reach without them"
        )
    return PASSED


def _ended(gate: GateResult) -> str:
    """Say how a command ended that was run afterwards, with the end of what it printed."""
    output = (gate.output or "").strip()[-300:]
    said = f" ({one_line(output, limit=300)})" if output else ""
    return f"{one_line(gate.command or gate.gate, limit=120)!r} {gate_ending(gate)}{said}"


def _varies(cache: ScenarioCache, scenario: str, fine: Callable[[ScenarioRun], bool]) -> bool:
    """Repeat both sides of a difference, and tell whether one of them is not always the same."""
    plain = cache.plain.run
    return cache.varies(scenario, fine) or cache.varies(
        cache.base, lambda one: not _difference(one, plain)
    )


def _difference(seen: ScenarioRun, plain: Run) -> str:
    """Say what was worse than in the plain run, and what came of it; or ""."""
    for run in (*seen.earlier, seen.run) if seen.scenario == "together" else (seen.run,):
        problem = _worse(run, plain, prints_report=seen.prints_report)
        if problem:
            return f"{problem}\n{described(run)}"
    return ""


def _worse(run: Run, plain: Run, *, prints_report: bool) -> str:
    if run.outcome.timed_out:
        return f"it did not end within {run.task.deadline_ms / 1000:g} s"
    if not was_handed_in(run, prints_report=prints_report):
        return "it handed in no valid report"
    if run.report.status != plain.report.status:
        return f"its report says {run.report.status}, and {plain.report.status} without"
    if run.outcome.status != plain.outcome.status:
        return f"its process {run.outcome.status}, and {plain.outcome.status} without"
    return ""
