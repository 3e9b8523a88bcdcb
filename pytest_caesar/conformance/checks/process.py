# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on beginning and end of the process."""

from __future__ import annotations

import re

from caesar_agent.console import one_line
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.shared_judgements import same_as_plain
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun

LATE = 0.5
"""Share of its time after which an agent that ends unfinished has watched the clock."""

_CONTROLS = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X]|[()*+][0-9A-Za-z]|[78=>cDEHM])")
"""Control sequences of ECMA-48, and what terminals understand beside them."""


@check("PROCESS-001")
def it_ends(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A report does not end a process."""
    outcome = seen.run.outcome
    if outcome.killed_after_report or outcome.timed_out:
        return failed(
            f"its report was there and it went on, until it was ended after {outcome.duration_ms} "
            "ms: exit when the report is written, and close what keeps the process alive"
        )
    return PASSED


@check("PROCESS-002")
def it_leaves_nothing_running(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What still runs may still write."""
    return nothing_left(seen, "it left processes behind")


def nothing_left(seen: ScenarioRun, what: str) -> Judgement:
    """Judge whether no process is left."""
    leaked = seen.run.outcome.leaked
    if leaked:
        names = ", ".join(one_line(process.name, limit=80) for process in leaked[:3])
        return failed(f"{what}: {names}; end what you have started, and wait for it")
    return PASSED


@check("PROCESS-003")
def success_exits_with_0(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The report and the exit code say the same."""
    if seen.run.declared.status != "success":
        return not_exercised(f"the report says {seen.run.declared.status}")
    outcome = seen.run.outcome
    if outcome.killed_after_report or outcome.exit_code == 0:
        return PASSED
    how = outcome.signal or f"exit code {outcome.exit_code}"
    return failed(f"the report says success, and the process ended with {how}")


def _stopped(seen: ScenarioRun) -> Judgement | None:
    """Return why nothing can be judged, where the deadline did not end it."""
    outcome = seen.run.outcome
    if outcome.killed_after_report:
        return not_exercised("its report was there before the deadline: see PROCESS-001")
    if not outcome.timed_out and not _stopped_itself(seen):
        return not_exercised(
            f"the objective of [slow] was done in {outcome.duration_ms} ms, before its timeout of "
            f"{seen.run.task.deadline_ms / 1000:g} s: give it more to do, or less time"
        )
    return None


def _stopped_itself(seen: ScenarioRun) -> bool:
    """Tell whether it watched the time, and ended with a report just before it was over."""
    late = seen.run.outcome.duration_ms >= LATE * seen.run.task.deadline_ms
    return late and seen.handed_in and seen.run.declared.status != "success"


@check("PROCESS-004", "deadline")
def it_ends_on_sigterm(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """SIGKILL comes when the grace is over."""
    unclear = _stopped(seen)
    if unclear is not None:
        return unclear
    if seen.run.outcome.signal == "SIGKILL":
        return failed(
            "it was told to stop by SIGTERM, went on, and had to be killed: handle SIGTERM, end "
            "your children, and exit (bash: a trap runs only between commands; run long ones in "
            "the background and wait)"
        )
    return PASSED


@check("PROCESS-005", "deadline")
def stopped_it_leaves_a_report(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What was done until then is worth telling."""
    unclear = _stopped(seen)
    if unclear is not None:
        return unclear
    if not seen.handed_in:
        if seen.run.outcome.signal == "SIGKILL":
            return not_exercised("it had to be killed: see PROCESS-004")
        return failed(
            "stopped at its deadline, it left no valid report: write one (partial or failed) when "
            f"SIGTERM comes\n{seen.described()}"
        )
    return PASSED


@check("PROCESS-006", "deadline")
def stopped_it_is_no_success(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What was not finished is not done."""
    unclear = _stopped(seen)
    if unclear is not None:
        return unclear
    if not seen.handed_in:
        return not_exercised("stopped at its deadline, it left no report: see PROCESS-005")
    if seen.run.declared.status == "success":
        return failed(
            "stopped at its deadline in the middle of its work, its report says success: write the "
            "report when the work is done, and on SIGTERM one that says partial or failed"
        )
    return PASSED


@check("PROCESS-007", "deadline")
def stopped_it_leaves_nothing_running(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What it started stops with it."""
    unclear = _stopped(seen)
    if unclear is not None:
        return unclear
    if seen.run.outcome.signal == "SIGKILL":
        return not_exercised("it had to be killed: see PROCESS-004")
    return nothing_left(seen, "stopped at its deadline, it left processes behind")


@check("PROCESS-008", "closed stdin")
def closed_stdin_will_do(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Nothing is to be read there."""
    return same_as_plain(cache, seen, "with stdin closed (never read from it)")


@check("PROCESS-009", "no terminal")
def no_terminal_will_do(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """There is nobody to look at it."""
    return same_as_plain(cache, seen, "without a terminal and without TERM")


@check("PROCESS-010")
def output_is_plain(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """NO_COLOR is set as well."""
    if not seen.run.raw_log:
        return not_exercised("it printed nothing")
    if _CONTROLS.search(seen.run.raw_log):
        return failed(
            "its output holds terminal sequences: print them to a terminal only, and heed NO_COLOR"
        )
    return PASSED


@check("PROCESS-011", "few files")
def few_open_files_will_do(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Close what you have read."""
    return same_as_plain(cache, seen, "with at most 64 open files")


@check("PROCESS-012", last=True)
def it_does_the_same_twice(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Or else no difference means anything."""
    if cache.varied or cache.varies("plain", lambda one: one.ended() == seen.ended(), times=1):
        return failed(
            f"{cache.varied}; let what it does depend on the task and the repository alone (not on "
            "chance, on the time, or on what lies in $HOME or /tmp), and try again by yourself what "
            "may fail"
        )
    return PASSED
