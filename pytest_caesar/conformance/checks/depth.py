# ruff: noqa: D401 - the registry says what a check asks for, its docstring why
"""Checks on the depth of delegation."""

from __future__ import annotations

from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.judgement import PASSED, Finding, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import Bench
from pytest_caesar.conformance.scenario_run import Trial


@check("DEPTH-001", "deep")
def any_depth_will_do(bench: Bench, trial: Trial) -> Finding:
    """The depth is told for who delegates, not as a condition."""
    return bench.same_as_plain(trial, "at a depth of 7")


@check("DEPTH-002", "delegates")
def delegation_goes_deeper(_bench: Bench, trial: Trial) -> Finding:
    """Or else max_depth ends nothing."""
    if not trial.nested:
        return not_exercised(
            "no task of another agent was found beside its own (.caesar/tasks/*/task.json)"
        )
    shallow = [depth for depth in trial.nested if depth <= trial.run.task.depth]
    if shallow:
        return failed(
            f"it runs at depth {trial.run.task.depth} and gave a task of depth {shallow[0]} to "
            "another agent: hand on CAESAR_DEPTH, and count from it"
        )
    return PASSED
