"""Judgements that checks of several areas share."""

from __future__ import annotations

from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised, skipped
from pytest_caesar.conformance.profile import PROFILE_NAME, how_to_claim
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun, described, was_handed_in
from pytest_caesar.runs.run import Run


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
    """Judge whether the agent did under odd conditions what it does under plain ones."""
    plain = cache.plain.run
    if plain.report.status == "failed":
        return not_exercised(
            "the plain task ends as failed already: say in "
            f"{PROFILE_NAME} what the agent can do (objective, repository)"
        )
    runs = (*seen.earlier, seen.run) if seen.scenario == "together" else (seen.run,)
    for run in runs:
        problem = _worse(run, plain, prints_report=seen.prints_report)
        if problem:
            return failed(f"{under}, {problem}\n{described(run)}")
    return PASSED


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


def ends_with_a_report(seen: ScenarioRun, under: str) -> Judgement:
    """Judge whether the agent handed in a report of any status."""
    if seen.run.outcome.timed_out:
        return failed(f"{under}, it did not end in time\n{seen.described()}")
    if not seen.handed_in:
        return failed(
            f"{under}, it handed in no valid report; a failed one says why and is enough\n"
            f"{seen.described()}"
        )
    return PASSED
