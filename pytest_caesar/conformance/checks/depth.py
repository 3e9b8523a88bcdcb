# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on the depth of delegation."""

from __future__ import annotations

from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.shared_judgements import same_as_plain
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun


@check("DEPTH-001", "deep")
def any_depth_will_do(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The depth is told for who delegates, not as a condition."""
    return same_as_plain(cache, seen, "at a depth of 7")


@check("DEPTH-002", "delegates")
def delegation_goes_deeper(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Or else max_depth ends nothing."""
    if not seen.nested:
        return not_exercised(
            "no task of another agent was found beside its own (.caesar/tasks/*/task.json)"
        )
    shallow = [depth for depth in seen.nested if depth <= seen.run.task.depth]
    if shallow:
        return failed(
            f"it runs at depth {seen.run.task.depth} and gave a task of depth {shallow[0]} to "
            "another agent: hand on CAESAR_DEPTH, and count from it"
        )
    return PASSED
