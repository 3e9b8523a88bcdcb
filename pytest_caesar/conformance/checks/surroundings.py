# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on where and beside what an agent runs."""

from __future__ import annotations

import os

from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.shared_judgements import ends_with_a_report, same_as_plain
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun, was_handed_in


def _strayed(cache: ScenarioCache, seen: ScenarioRun) -> list[str]:
    """Return what changed outside the workspace here, and not in the plain task (CHANGES-006)."""
    return [found for found in seen.strayed if found not in cache.plain.strayed]


@check("SURROUNDINGS-001", "odd path")
def odd_paths_will_do(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Quote what you expand."""
    return same_as_plain(
        cache,
        seen,
        "in a folder with blanks, quotes and umlauts in its name (bash: quote every variable)",
    )


@check("SURROUNDINGS-002", "long path")
def long_paths_will_do(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Paths have no length that one could count on."""
    return same_as_plain(
        cache, seen, f"in a folder whose path has {len(str(seen.run.workspace))} characters"
    )


@check("SURROUNDINGS-003", "C locale")
def the_locale_does_not_matter(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """JSON is UTF-8 everywhere."""
    hostile = same_as_plain(cache, cache.run_of("hostile text"), "with hostile text")
    if hostile.outcome == "failed":
        return not_exercised("it does not cope with such a task in any locale: see TASK-005")
    return same_as_plain(
        cache,
        seen,
        "in the C locale, with a task that is not ASCII (name the encoding when you open)",
    )


@check("SURROUNDINGS-004", "read-only home")
def home_need_not_be_writable(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Nothing of a task belongs there."""
    if os.geteuid() == 0:
        return not_exercised("the tests run as root, who may write everywhere")
    return same_as_plain(cache, seen, "with a home folder that cannot be written")


@check("SURROUNDINGS-005", "foreign git")
def foreign_git_variables_are_survived(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What a hook has set is not about the workspace."""
    strayed = _strayed(cache, seen)
    if strayed:
        return failed(
            f"with GIT_DIR pointing at another repository it changed {', '.join(strayed[:5])}"
        )
    return same_as_plain(
        cache,
        seen,
        "with GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE pointing elsewhere (unset GIT_*)",
    )


@check("SURROUNDINGS-006", "together")
def two_at_once_work(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Nothing is shared but the repository."""
    return same_as_plain(cache, seen, "with two tasks at once in one repository")


@check("SURROUNDINGS-007", "together")
def two_at_once_keep_apart(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Each has its own workspace and its own report."""
    both = (*seen.earlier, seen.run)
    mixed = {"report-of-another-task", "event-of-another-task"} - cache.plain.run.codes
    for run in both:
        if run.codes & mixed:
            return failed(
                "of two tasks at once, one was told of in the other's place: take every path from "
                "the variables of your own process"
            )
    strayed = _strayed(cache, seen)
    if strayed:
        return failed(
            f"with two tasks at once, it changed {', '.join(strayed[:5])}, which is outside "
            "of both workspaces"
        )
    if not all(was_handed_in(run, prints_report=seen.prints_report) for run in both):
        return not_exercised("two tasks at once left no two reports: see SURROUNDINGS-006")
    return PASSED


@check("SURROUNDINGS-008", "second task")
def a_second_task_works(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What the first one left does not stand in the way."""
    return same_as_plain(cache, seen, "with a second task in the same repository")


@check("SURROUNDINGS-009", "no network")
def without_network_there_is_a_report(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A failed one will do."""
    return ends_with_a_report(cache, seen, "told that there is no network")


@check("SURROUNDINGS-010", "folder")
def outside_git_there_is_a_report(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A failed one will do."""
    return ends_with_a_report(cache, seen, "in a folder that is no git repository")


@check("SURROUNDINGS-011", "no commit")
def without_a_commit_there_is_a_report(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A failed one will do."""
    return ends_with_a_report(cache, seen, "in a repository without a commit")
