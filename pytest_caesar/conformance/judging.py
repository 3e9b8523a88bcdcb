"""Judges an agent by one requirement: whether it applies, and what its check says."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_caesar.agents.target import AgentTarget, ProcessAgent
from pytest_caesar.conformance.checks import (
    changes,
    depth,
    events,
    process,
    questions,
    report,
    surroundings,
    task,
    unit,
)
from pytest_caesar.conformance.checks.check import REGISTERED, Check
from pytest_caesar.conformance.judgement import Judgement, failed, not_exercised, skipped
from pytest_caesar.conformance.profile import IMPLIED, NO_PROFILE, PROFILE_NAME, how_to_claim
from pytest_caesar.conformance.requirements import LEVELS, Requirement
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenarios import SCENARIOS
from pytest_caesar.conformance.surroundings import reads_stdin

AREA_MODULES = (task, report, changes, events, questions, process, surroundings, depth, unit)
"""The modules that register the checks, in the order of the areas."""


NO_REPORT = "the plain task left no valid report: see REPORT-001 to REPORT-005"

CHECKS: Mapping[str, Check] = REGISTERED
"""Every check by the id of its requirement."""


def judge(requirement: Requirement, cache: ScenarioCache) -> Judgement:
    """Judge the agent by one requirement.

    Raises:
        Exception: a fault of the harness or of its surroundings.
    """
    check = CHECKS[requirement.id]
    scenario = scenario_for(requirement, cache)
    if isinstance(scenario, Judgement):
        return scenario
    if not check.of_a_dead_agent and not cache.plain.handed_in:
        return not_exercised(NO_REPORT if cache.profile.path else f"{NO_REPORT}; {NO_PROFILE}")
    seen = cache.plain if scenario == cache.base else cache.run_of(scenario)
    if seen.destroyed:
        return failed(
            "its first task did away with the whole project, so that no second one could be "
            f"given: leave alone what is not your work\n{seen.described()}"
        )
    return check.function(cache, seen)


def scenario_for(requirement: Requirement, cache: ScenarioCache) -> str | Judgement:
    """Return the scenario that the agent is judged in, or why the requirement does not apply."""
    order = list(LEVELS)
    if order.index(requirement.level) > order.index(cache.profile.level):
        return skipped(f"{PROFILE_NAME} asks for level {cache.profile.level} at most")
    check = CHECKS[requirement.id]
    scenario = check.scenario
    special = SCENARIOS[scenario].special
    capability = requirement.capability or special
    if special and not cache.profile.claimed(special):
        if check.otherwise is None:
            return skipped(how_to_claim(special))
        scenario = check.otherwise
    if capability in IMPLIED and not cache.profile.claimed(capability):
        return skipped(how_to_claim(capability))
    reason = _does_not_apply(scenario, cache.agent)
    return not_exercised(reason) if reason else scenario


def _does_not_apply(scenario: str, agent: AgentTarget) -> str:
    """Say why a scenario means nothing for this kind of agent, or ""."""
    surroundings = SCENARIOS[scenario].surroundings
    if surroundings is None:
        return ""
    known_cli = isinstance(agent, ProcessAgent) and agent.cli is not None
    if known_cli and surroundings.task is not None:
        return "a known CLI is told its task in words, and reads no task file"
    speaks_acp = isinstance(agent, ProcessAgent) and agent.protocol == "acp"
    if speaks_acp and surroundings.task is not None:
        return "an agent that speaks ACP is told its task in words, and reads no task file"
    if surroundings.closed_stdin and reads_stdin(agent):
        return "it is told its task on stdin"
    return ""
