# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on what an agent tells while it works."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

from caesar_agent.console import one_line
from caesar_agent.documents.event import (
    AnswerEvent,
    Event,
    FileChangedEvent,
    FinishedEvent,
    ProgressEvent,
    QuestionEvent,
    ToolUseEvent,
)
from caesar_agent.documents.report import Change
from caesar_agent.documents.timestamps import parse_timestamp
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.shared_judgements import absent
from pytest_caesar.conformance.checks.tool_call_pairs import pair
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.conformance.scenarios import SCENARIOS
from pytest_caesar.workspace.reconciliation import normalised, reconcile

BROKEN = ("event-line-invalid", "event-line-incomplete", "event-line-torn", "event-line-too-long",
          "event-unsupported-version")  # fmt: skip
SPOILING = {*BROKEN, "event-of-another-task", "events-restarted"}

NO_EVENT = "it told no event of its own"
SPOILT = (
    "what it wrote to events.jsonl, or some of it, is lost or no event of this task: see "
    "EVENTS-002, EVENTS-003 and EVENTS-005"
)


def _wrote(seen: ScenarioRun) -> bool:
    """Tell whether it left anything in the log, whole or not."""
    return bool(seen.own_events or seen.run.codes & SPOILING)


def _is_spoilt(seen: ScenarioRun) -> bool:
    events = seen.run.events
    overwritten = bool(events) and not _by_orchestrator(events[0], seen)
    return overwritten or bool(seen.run.codes & SPOILING)


def _no_event(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Return what it means for a check that no event of its own is there."""
    if _wrote(seen):
        return not_exercised(SPOILT)
    return absent(cache, "events", NO_EVENT, told_by="EVENTS-001")


def _no_tool(cache: ScenarioCache, seen: ScenarioRun, *, told_by: str = "") -> Judgement:
    """Return what it means for a check that no tool was told of."""
    if _is_spoilt(seen):
        return not_exercised(SPOILT)
    if not seen.own_events and cache.profile.claimed("events"):
        return _no_event(cache, seen)
    return absent(cache, "tools", "it told of no tool", told_by=told_by)


@check("EVENTS-001")
def it_narrates(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Without events an agent is invisible."""
    if seen.own_events:
        return PASSED
    return not_exercised(SPOILT) if _wrote(seen) else absent(cache, "events", NO_EVENT)


@check("EVENTS-002")
def lines_are_events(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Each line stands for itself."""
    wrong = [item for item in seen.run.diagnostics if item.code in BROKEN]
    if wrong:
        first = "\n".join(one_line(item.message, limit=300) for item in wrong[:3])
        return failed(f"{len(wrong)} lines of events.jsonl are no events:\n{first}")
    return PASSED if seen.own_events else _no_event(cache, seen)


@check("EVENTS-003")
def events_name_this_task(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """task_id is required in an event."""
    if "event-of-another-task" in seen.run.codes:
        return failed("events name another task: write $CAESAR_TASK_ID, or the id of task.json")
    return PASSED if seen.own_events else _no_event(cache, seen)


@check("EVENTS-004")
def numbers_rise(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Its own ones, whatever others have written between."""
    for one, two in pairwise(seen.own_events):
        if two.seq <= one.seq:
            return failed(
                f"event {one.type} has seq {one.seq}, and the next one, {two.type}, has {two.seq}: "
                "count up"
            )
    return PASSED if seen.own_events else _no_event(cache, seen)


@check("EVENTS-005")
def the_log_is_appended_to(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The orchestrator's started stands first."""
    events = seen.run.events
    first = events[0] if events else None
    if "events-restarted" in seen.run.codes or first is None or not _by_orchestrator(first, seen):
        if not _wrote(seen) and first is not None:
            return absent(cache, "events", NO_EVENT, told_by="EVENTS-001")
        return failed(
            "the event that the orchestrator had written is gone from events.jsonl: open the file "
            "to append (>> in a shell), never to write"
        )
    return PASSED if seen.own_events else _no_event(cache, seen)


def _by_orchestrator(event: Event, seen: ScenarioRun) -> bool:
    return event.type == "started" and event.seq == 0 and event.task_id == seen.run.task.id


def _tools(seen: ScenarioRun) -> list[ToolUseEvent]:
    return [event for event in seen.own_events if isinstance(event, ToolUseEvent)]


@check("EVENTS-006")
def tools_are_told_when_they_start(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """That is the moment one watches."""
    tools = _tools(seen)
    if not tools:
        return _no_tool(cache, seen)
    for event in pair(tools).unstarted:
        return failed(
            f"tool_use {one_line(event.tool or event.id, limit=60)!r} ends and never started: "
            "tell it with status started before you run it"
        )
    return PASSED


@check("EVENTS-007")
def tool_calls_have_ids(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Two runs of one command are told apart by nothing else."""
    tools = _tools(seen)
    if not tools:
        return _no_tool(cache, seen, told_by="EVENTS-006")
    starts = [event.id for event in tools if event.status == "started" and event.id]
    if not starts:
        return not_exercised(
            "its tool_use events have no id, which is allowed; with one, two runs of the same "
            "command can be told apart"
        )
    if len(starts) != len(set(starts)):
        return failed(
            "two tool calls started with the same id: give each call an id of its own (a counter will "
            "do), or none"
        )
    for start, end in pair(tools).renamed:
        return failed(
            f"tool_use {one_line(start.tool, limit=60)!r} starts with the id "
            f"{one_line(start.id, limit=60)!r} and ends with {one_line(end.id, limit=60)!r}: "
            "repeat the id"
        )
    return PASSED


@check("EVENTS-008")
def changed_files_have_changed(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A watcher believes them."""
    told = [event for event in seen.own_events if isinstance(event, FileChangedEvent)]
    if not seen.own_events:
        return _no_event(cache, seen)
    if not told:
        return not_exercised("it told no file_changed event")
    false = [event for event in told if _is_false(event, told, cache, seen)]
    if false:
        return failed(
            f"file_changed tells of {one_line(false[0].path, limit=100)}, and git shows no change "
            "there"
        )
    return PASSED


def _is_false(
    event: FileChangedEvent,
    told: Sequence[FileChangedEvent],
    cache: ScenarioCache,
    seen: ScenarioRun,
) -> bool:
    """Tell whether a change was told that cannot have happened.

    Events tell of the way and not of where it led: what was told more than once may have been
    undone, and a new file that is there and not shown is one that git ignores.
    """
    run = seen.run
    path = normalised(event.path, run.task.workspace)
    twins = [other for other in told if normalised(other.path, run.task.workspace) == path]
    if event.action == "deleted" or len(twins) > 1:
        return False
    change = Change(path=event.path, action=event.action)
    found = reconcile([change], run.observation, workspace=run.task.workspace, ignored=run.ignored)
    if not found.phantom:
        return False
    outside = path.startswith(("/", "../"))
    return (
        outside
        or path in cache.profile.repository.files
        or not os.path.lexists(run.workspace / path)
    )


def _finished(seen: ScenarioRun) -> list[FinishedEvent]:
    return [event for event in seen.own_events if isinstance(event, FinishedEvent)]


ENDINGS = ("read-only", "blocked", "partial", "failed", "deadline", "unknown version")
"""Scenarios in which an agent ends in another way than in the plain one."""


@check("EVENTS-009")
def the_end_is_told_as_it_is(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Two places, one word, however the task ends."""
    if not seen.own_events:
        return _no_event(cache, seen)
    told = False
    for name in ("plain", *ENDINGS):
        special = SCENARIOS[name].special
        if special and not cache.profile.claimed(special):
            continue
        one = seen if name == "plain" else cache.run_of(name)
        judgement = _end_is_right(one)
        if judgement.outcome == "failed":
            return judgement
        told = told or judgement.outcome == "passed"
    return PASSED if told else not_exercised("it told no finished event of its own")


def _end_is_right(seen: ScenarioRun) -> Judgement:
    ends = _finished(seen)
    if not ends or not seen.handed_in:
        return not_exercised("it told no finished event of its own, or left no report")
    if ends[-1].status != seen.run.declared.status:
        where = "" if seen.scenario == "plain" else f"with {SCENARIOS[seen.scenario].title}, "
        return failed(
            f"{where}its finished event says {ends[-1].status}, its report {seen.run.declared.status}: write "
            "both from one variable, the event last"
        )
    return PASSED


@check("EVENTS-010", "deadline")
def it_narrates_in_time(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Events that all come at the end show nothing."""
    if not seen.run.outcome.timed_out:
        return not_exercised(_was_done_in_time(seen))
    if not cache.plain.own_events:
        return _no_event(cache, cache.plain)
    told = [event for event in seen.own_events if event.type not in ("error", "finished")]
    if any(event in seen.in_time for event in told):
        return PASSED
    if _is_spoilt(seen):
        return not_exercised(SPOILT)
    late = "and told all of it after SIGTERM" if told else "and told nothing before it was stopped"
    return failed(
        f"it worked for {seen.run.outcome.duration_ms} ms {late}: write each event when it happens "
        "(flush what you write)"
    )


def _was_done_in_time(seen: ScenarioRun) -> str:
    return (
        f"the objective of [slow] was done in {seen.run.outcome.duration_ms} ms, before its "
        f"timeout of {seen.run.task.deadline_ms / 1000:g} s: give it more to do, or less time"
    )


@check("EVENTS-011")
def nothing_follows_the_end(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A watcher stops at it."""
    if not seen.own_events:
        return _no_event(cache, seen)
    ends = _finished(seen)
    if not ends:
        return not_exercised("it told no finished event of its own")
    if len(ends) > 1 or seen.own_events[-1] is not ends[-1]:
        return failed("events follow its finished event")
    return PASSED


@check("EVENTS-012")
def tools_end(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """One that never ends seems to run for ever."""
    tools = _tools(seen)
    if not tools:
        return _no_tool(cache, seen, told_by="EVENTS-006")
    unended = pair(tools).unended
    return failed(f"{len(unended)} tool calls start and never end") if unended else PASSED


@check("EVENTS-013")
def times_do_not_go_back(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Within what one agent tells."""
    if not seen.own_events:
        return _no_event(cache, seen)
    times = [parse_timestamp(event.at) for event in seen.own_events]
    if any(two < one for one, two in pairwise(times)):
        return failed("the times (at) of its events go backwards")
    return PASSED


@check("EVENTS-014")
def progress_does_not_go_back(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Only where it is told in per cent."""
    if not seen.own_events:
        return _no_event(cache, seen)
    shares = [
        event.pct
        for event in seen.own_events
        if isinstance(event, ProgressEvent) and event.pct is not None
    ]
    if len(shares) < 2:
        return not_exercised("it told its progress less than twice")
    return _rising(shares)


def _rising(shares: Sequence[float]) -> Judgement:
    for one, two in pairwise(shares):
        if two < one:
            return failed(f"its progress goes from {one:g} back to {two:g} per cent")
    return PASSED


@check("EVENTS-015", "asks")
def questions_are_told_as_they_were_asked(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The orchestrator tells them where the agent does not."""
    asked = {one.id: one for one in seen.run.questions}
    told = [one for one in seen.run.events if isinstance(one, QuestionEvent | AnswerEvent)]
    for event in told:
        question = asked.get(event.id)
        name = one_line(event.id, limit=60)
        if question is None:
            return failed(
                f"its {event.type} event is about {name!r}, which is the id of no question in "
                "questions/: use the id of the file"
            )
        if isinstance(event, AnswerEvent) and question.answer != event.answer:
            return failed(
                f"its answer event says {one_line(event.answer, limit=80)!r} of {name!r}, and the "
                f"answer was {one_line(str(question.answer), limit=80)!r}"
            )
    return PASSED if asked else not_exercised("it asked nothing: see QUESTIONS-001")
