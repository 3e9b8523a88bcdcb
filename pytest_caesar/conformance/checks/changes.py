# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on what an agent changes, and on what it says of it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from caesar_agent.console import one_line
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.shared_judgements import absent, broken_constraints
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised, skipped
from pytest_caesar.conformance.profile import how_to_claim
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.reconciliation import ReconciledPath

REPOSITORY = {"history-rewritten", "branch-switched", "refs-changed", "work-stashed"}
"""Codes of what is written into a repository and changes no file."""


def _paths(entries: Iterable[ReconciledPath]) -> str:
    names = [one_line(entry.path, limit=80) for entry in entries]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _told(run: Run, codes: set[str]) -> list[str]:
    return [one_line(item.message, limit=200) for item in run.diagnostics if item.code in codes]


@check("CHANGES-001")
def what_is_declared_has_changed(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The orchestrator compares it with git."""
    return no_phantoms(seen.run)


def no_phantoms(run: Run) -> Judgement:
    """Judge whether everything that a report declares is shown by git."""
    if run.reconciliation.phantom:
        return failed(
            f"the report declares {_paths(run.reconciliation.phantom)}, and git shows no change "
            "there: declare what you have written, not what you meant to write"
        )
    if not run.declared.changes:
        return not_exercised("the report declares no change")
    return PASSED


@check("CHANGES-002")
def what_has_changed_is_declared(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The field is optional; half of it is not."""
    run = seen.run
    if not run.changes:
        return not_exercised("the task led to no change")
    if not run.declared.changes:
        return absent(cache, "declares", "its report declares no change, though git shows some")
    undeclared = run.reconciliation.undeclared
    missing = [entry for entry in undeclared if entry.path not in (seen.committed or ())]
    if missing:
        return failed(
            f"git shows changes that the report does not declare: {_paths(missing)}; "
            "declare every file that you change, or none (git add -A; git diff --cached --name-status "
            "with the base_ref of the task lists them all, after a commit too)"
        )
    if undeclared:
        return not_exercised("what it does not declare it has committed: see CHANGES-008")
    return PASSED


@check("CHANGES-003")
def actions_are_right(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A new file is created, not modified."""
    run = seen.run
    if run.reconciliation.wrong_action:
        entry = run.reconciliation.wrong_action[0]
        return failed(
            f"the report declares {_paths([entry])} {entry.declared_action}, git shows it "
            f"{entry.observed_action}: compare with base_ref (git diff --name-status $base_ref, and git "
            "status for what is new), not with what you wrote last"
        )
    if not run.reconciliation.matched:
        return not_exercised("no declared change is one that git shows")
    return PASSED


@check("CHANGES-004", "read-only")
def read_only_leaves_files_alone(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Findings are what a read-only task is for."""
    run = seen.run
    if run.changes:
        paths = ", ".join(one_line(change.path, limit=80) for change in run.changes[:5])
        return failed(f'the task is read-only (mode = "read-only"), and it changed {paths}')
    if not seen.handed_in:
        return not_exercised(f"the read-only task left no valid report\n{seen.described()}")
    return PASSED


@check("CHANGES-005", "read-only")
def read_only_leaves_history_alone(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Committing is writing."""
    run = seen.run
    moved = run.task.base_ref is not None and run.observation.head not in (None, run.task.base_ref)
    wrote = ["its HEAD is not at base_ref any more"] * moved + _told(run, REPOSITORY)
    if wrote:
        return failed(
            'the task is read-only (mode = "read-only"), and its repository is not as it was: '
            + "; ".join(wrote[:3])
        )
    if not seen.handed_in:
        return not_exercised(f"the read-only task left no valid report\n{seen.described()}")
    return PASSED


@check("CHANGES-006")
def nothing_outside_changes(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The workspace is where the work is."""
    outside = [one_line(change.path, limit=80) for change in seen.run.changes if change.outside]
    found = [*(one_line(entry, limit=120) for entry in seen.strayed), *outside]
    if found:
        return failed(
            f"something changed outside the workspace: {', '.join(found[:5])}; work in the folder "
            "that workspace names, and put temporary files into $TMPDIR"
        )
    return PASSED


@check("CHANGES-007")
def it_does_something(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Success without a change is a claim."""
    if not cache.profile.claimed("writes"):
        return skipped(how_to_claim("writes"))
    if not seen.run.changes:
        return failed(
            "its profile claims that the objective leads to a change, and git shows none\n"
            f"{seen.described()}"
        )
    return PASSED


@check("CHANGES-008")
def commits_are_declared(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The same whether it commits or not."""
    run = seen.run
    if run.observation.head in (None, run.task.base_ref):
        nothing = not run.changes and cache.profile.claimed("writes")
        told_by = "CHANGES-007" if nothing else ""
        return absent(cache, "commits", "it committed nothing", told_by=told_by)
    if not run.changes:
        return not_exercised("its commit changes nothing")
    if not run.declared.changes:
        return absent(cache, "declares", "its report declares no change", told_by="CHANGES-002")
    undeclared = run.reconciliation.undeclared
    missing = [
        entry for entry in undeclared if seen.committed is None or entry.path in seen.committed
    ]
    if missing:
        return failed(
            f"it committed {_paths(missing)} and does not declare it: what counts is the "
            "difference from base_ref (git diff against it), committed or not"
        )
    return PASSED


@check("CHANGES-009")
def the_task_directory_is_respected(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """report.json, events.jsonl and questions/ are the agent's; the rest is not."""
    if seen.tampered:
        return failed(
            f"it changed {' and '.join(seen.tampered)} in the task directory: task.json and "
            "raw.log are the orchestrator's, to be read and left alone"
        )
    return PASSED


@check("CHANGES-010", "in place")
def the_users_work_is_respected(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """In place, not everything that differs from HEAD is the agent's."""
    if seen.lost_work:
        return failed(
            f"working in place, it did away with the user's uncommitted work: {seen.lost_work}; "
            "never reset, clean, stash or check out a tree that is not yours"
        )
    if not seen.handed_in:
        return not_exercised(f"working in place, it left no valid report\n{seen.described()}")
    return PASSED


@check("CHANGES-011", "again")
def the_second_time_is_told_as_it_is(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A file that is as it was is no change."""
    if not seen.handed_in:
        return not_exercised(f"the second task left no valid report\n{seen.described()}")
    entries = (*seen.run.reconciliation.phantom, *seen.run.reconciliation.wrong_action)
    if entries:
        return failed(
            f"given the same task again, it declares {_paths(entries)} as it did the first time, "
            "which is not what git shows now: look before you declare"
        )
    if not seen.earlier[0].declared.changes:
        return not_exercised("it declares no changes")
    return PASSED


@check("CHANGES-012")
def paths_are_plain(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Not absolute, no ./, no .., no doubled slash."""
    changes = seen.run.declared.changes
    odd = [
        one_line(change.path, limit=100)
        for change in changes
        if change.path.startswith("/") or posixpath.normpath(change.path) != change.path
    ]
    if odd:
        return failed(f"declared paths with detours: {', '.join(odd[:5])}")
    return PASSED if changes else not_exercised("the report declares no change")


@check("CHANGES-013")
def git_is_left_as_it_is(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Commits on top are fine."""
    found = _told(seen.run, REPOSITORY | {"repository-tampered", "index-locked"})
    return failed("; ".join(found[:3])) if found else PASSED


@check("CHANGES-014")
def constraints_hold(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Whatever the status is."""
    return broken_constraints(seen)


@check("CHANGES-015", "read-only in place")
def read_only_leaves_ignored_files_alone(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Git does not show them, and nobody can bring them back."""
    if seen.lost_private:
        return failed(
            f'the task is read-only (mode = "read-only"), and of a file that git ignores '
            f"{seen.lost_private}: leave alone what you were not asked about"
        )
    if not seen.handed_in:
        return not_exercised(f"the read-only task left no valid report\n{seen.described()}")
    return PASSED
