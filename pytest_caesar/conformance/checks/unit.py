# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on task units of va-agent-protocol."""

from __future__ import annotations

from caesar_agent.console import one_line
from pytest_caesar.conformance.checks.changes import no_phantoms
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.process import nothing_left
from pytest_caesar.conformance.checks.report import artifacts_are_there
from pytest_caesar.conformance.checks.shared_judgements import (
    absent,
    broken_constraints,
    missed_criteria,
    same_as_plain,
)
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.runs.judgement import handed_over
from pytest_caesar.va.conversation import conversation_of
from pytest_caesar.va.evidence import evidence_of


@check("UNIT-001", "unit", of_a_dead_agent=True)
def a_unit_is_reported_on(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Evidence is made from the report and from what git shows."""
    if seen.handed_in:
        return PASSED
    return failed(
        "it left no valid report of the task unit: a unit is handed over as a task of OACP (its text "
        f"in objective and context, itself as va_task_unit)\n{seen.described()}"
    )


@check("UNIT-002", "bare unit")
def optional_fields_of_a_unit_may_be_absent(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Only id, objective and one criterion are there."""
    return same_as_plain(cache, seen, "with a unit that has no optional field")


@check("UNIT-003", "unit", last=True)
def a_unit_ends_in_the_same_way_twice(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Or else no difference means anything."""
    if cache.varied or cache.varies("unit", lambda one: one.ended() == seen.ended(), times=1):
        return failed(
            f"{cache.varied}; let what it does depend on the unit and the repository alone"
        )
    return PASSED


@check("UNIT-004", "unit")
def promised_outputs_are_handed_over(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Other units wait for them."""
    if seen.run.declared.status != "success":
        return not_exercised(f"the report says {seen.run.declared.status}")
    outputs = handed_over(seen.run.report)
    missing = [key for key in cache.profile.outputs if outputs.get(key) in (None, "", [], {})]
    if missing:
        return failed(
            f"the contract of the unit promises {', '.join(missing)}, and the report says success "
            "without: put them into the report's outputs (agent.output of the SDK)"
        )
    return PASSED


@check("UNIT-005", "unit")
def constraints_of_a_unit_hold(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """They are limits."""
    return broken_constraints(seen)


@check("UNIT-006", "unit")
def success_of_a_unit_meets_its_criteria(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A machine judges them."""
    return missed_criteria(cache, seen)


@check("UNIT-007", "unit")
def evidence_holds(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Git and the file system are asked."""
    changes, artifacts = no_phantoms(seen.run), artifacts_are_there(cache, seen)
    for judgement in (changes, artifacts):
        if judgement.outcome == "failed":
            return judgement
    if "not exercised" in (changes.outcome, artifacts.outcome) and changes == artifacts:
        return changes
    if changes.outcome == artifacts.outcome == "not exercised":
        return not_exercised("it declares no change and names no artifact")
    return PASSED


@check("UNIT-008", "failed unit")
def failure_has_detail(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The next attempt learns from it."""
    evidence = evidence_of(seen.run)
    if evidence.status == "completed":
        return failed(
            f"the objective of [failed] cannot be done, and it says that it is\n{seen.described()}"
        )
    said = seen.run.declared
    detail = [said.details, *said.next_steps, *(one.title for one in said.findings)]
    detail += [question.question for question in said.questions]
    if not seen.handed_in or not any(text.strip() for text in detail):
        return failed(
            "what cannot be done failed without detail: say in details what you tried and what came "
            f"in the way, and in next_steps or questions what is missing\n{seen.described()}"
        )
    return PASSED


@check("UNIT-009", "unit")
def progress_is_reported(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Each event of the agent is a progress message of the protocol."""
    if not seen.own_events:
        return absent(cache, "events", "it reported no progress")
    if conversation_of(seen.run).of_type("progress"):
        return PASSED
    return absent(cache, "events", "none of its events is progress")


@check("UNIT-010", "cancelled unit")
def progress_comes_in_time(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """It is cancelled after its first event, or when it has had time for one."""
    if seen.run.outcome.status != "cancelled":
        return not_exercised(_was_done(seen))
    if any(event in seen.in_time for event in seen.own_events):
        return PASSED
    return failed(
        f"it worked for {seen.run.outcome.duration_ms} ms and reported no progress: write each event "
        "when it happens (flush what you write)"
    )


@check("UNIT-011", "blocked unit")
def a_block_says_what_is_to_be_decided(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The type of the reason is human-decision; what is asked for makes it one."""
    evidence = evidence_of(seen.run)
    if evidence.status != "blocked":
        return failed(
            f"the objective of [blocked] led to {evidence.status}, and not to blocked\n"
            f"{seen.described()}"
        )
    if not any(one.question.strip() for one in seen.run.declared.questions):
        return failed(
            "the unit is blocked, and nobody knows by which decision: put it into questions, with "
            "the options that there are"
        )
    return PASSED


@check("UNIT-012", "cancelled unit")
def cancelled_it_ends(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """SIGTERM comes first."""
    if seen.run.outcome.status != "cancelled":
        return not_exercised(_was_done(seen))
    if seen.run.outcome.signal == "SIGKILL":
        return failed(
            "the unit was cancelled, it went on after SIGTERM, and had to be killed: handle SIGTERM, "
            "end your children, and exit"
        )
    return nothing_left(seen, "cancelled, it left processes behind")


@check("UNIT-013", "cancelled unit")
def cancelled_it_claims_nothing(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What was taken back is not done."""
    if seen.run.outcome.status != "cancelled":
        return not_exercised(_was_done(seen))
    if seen.handed_in and seen.run.declared.status == "success":
        return failed(
            "the unit was cancelled in the middle of its work, and its report says success"
        )
    return PASSED


@check("UNIT-014", "hostile unit")
def texts_of_a_unit_are_data(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Of any script."""
    if seen.executed:
        return failed(
            "a command that merely stood in the text of the unit was carried out: never put such "
            "text into a shell, an eval or a template"
        )
    return same_as_plain(cache, seen, "with quotes, line breaks and other scripts in the unit")


@check("UNIT-015", "second attempt")
def pitfalls_are_taken(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A retry is told what went wrong before."""
    return same_as_plain(cache, seen, "on a second attempt, with the pitfalls of the first")


def _was_done(seen: ScenarioRun) -> str:
    took = seen.run.outcome.duration_ms
    return one_line(
        f"the objective of [slow] was done in {took} ms, before it could be cancelled: give it more "
        "to do",
        limit=300,
    )
