# ruff: noqa: D401 - the registry says what a check asks for, its docstring why
"""Checks on where and beside what an agent runs."""

from __future__ import annotations

import os

from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.judgement import PASSED, Finding, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import Bench
from pytest_caesar.conformance.scenario_run import Trial, was_handed_in


def _strayed(bench: Bench, trial: Trial) -> list[str]:
    """Return what changed outside the workspace here, and not in the plain task (CHANGES-006)."""
    return [found for found in trial.strayed if found not in bench.plain.strayed]


@check("SURROUNDINGS-001", "odd path")
def odd_paths_will_do(bench: Bench, trial: Trial) -> Finding:
    """Quote what you expand."""
    return bench.same_as_plain(
        trial,
        "in a folder with blanks, quotes and umlauts in its name (bash: quote every variable)",
    )


@check("SURROUNDINGS-002", "long path")
def long_paths_will_do(bench: Bench, trial: Trial) -> Finding:
    """Paths have no length that one could count on."""
    return bench.same_as_plain(
        trial, f"in a folder whose path has {len(str(trial.run.workspace))} characters"
    )


@check("SURROUNDINGS-003", "C locale")
def the_locale_does_not_matter(bench: Bench, trial: Trial) -> Finding:
    """JSON is UTF-8 everywhere."""
    hostile = bench.same_as_plain(bench.trial("hostile text"), "with hostile text")
    if hostile.outcome == "failed":
        return not_exercised("it does not cope with such a task in any locale: see TASK-005")
    return bench.same_as_plain(
        trial, "in the C locale, with a task that is not ASCII (name the encoding when you open)"
    )


@check("SURROUNDINGS-004", "read-only home")
def home_need_not_be_writable(bench: Bench, trial: Trial) -> Finding:
    """Nothing of a task belongs there."""
    if os.geteuid() == 0:
        return not_exercised("the tests run as root, who may write everywhere")
    return bench.same_as_plain(trial, "with a home folder that cannot be written")


@check("SURROUNDINGS-005", "foreign git")
def foreign_git_variables_are_survived(bench: Bench, trial: Trial) -> Finding:
    """What a hook has set is not about the workspace."""
    strayed = _strayed(bench, trial)
    if strayed:
        return failed(
            f"with GIT_DIR pointing at another repository it changed {', '.join(strayed[:5])}"
        )
    return bench.same_as_plain(
        trial, "with GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE pointing elsewhere (unset GIT_*)"
    )


@check("SURROUNDINGS-006", "together")
def two_at_once_work(bench: Bench, trial: Trial) -> Finding:
    """Nothing is shared but the repository."""
    return bench.same_as_plain(trial, "with two tasks at once in one repository")


@check("SURROUNDINGS-007", "together")
def two_at_once_keep_apart(bench: Bench, trial: Trial) -> Finding:
    """Each has its own workspace and its own report."""
    both = (*trial.earlier, trial.run)
    mixed = {"report-of-another-task", "event-of-another-task"} - bench.plain.run.codes
    for run in both:
        if run.codes & mixed:
            return failed(
                "of two tasks at once, one was told of in the other's place: take every path from "
                "the variables of your own process"
            )
    strayed = _strayed(bench, trial)
    if strayed:
        return failed(
            f"with two tasks at once, it changed {', '.join(strayed[:5])}, which is outside "
            "of both workspaces"
        )
    if not all(was_handed_in(run, prints_report=trial.prints_report) for run in both):
        return not_exercised("two tasks at once left no two reports: see SURROUNDINGS-006")
    return PASSED


@check("SURROUNDINGS-008", "second task")
def a_second_task_works(bench: Bench, trial: Trial) -> Finding:
    """What the first one left does not stand in the way."""
    return bench.same_as_plain(trial, "with a second task in the same repository")


@check("SURROUNDINGS-009", "no network")
def without_network_there_is_a_report(bench: Bench, trial: Trial) -> Finding:
    """A failed one will do."""
    return bench.ends_with_a_report(trial, "told that there is no network")


@check("SURROUNDINGS-010", "folder")
def outside_git_there_is_a_report(bench: Bench, trial: Trial) -> Finding:
    """A failed one will do."""
    return bench.ends_with_a_report(trial, "in a folder that is no git repository")


@check("SURROUNDINGS-011", "no commit")
def without_a_commit_there_is_a_report(bench: Bench, trial: Trial) -> Finding:
    """A failed one will do."""
    return bench.ends_with_a_report(trial, "in a repository without a commit")
