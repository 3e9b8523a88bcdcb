# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on reading the task."""

from __future__ import annotations

from caesar_agent.console import one_line
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.shared_judgements import ends_with_a_report, same_as_plain
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun


@check("TASK-001", "two variables")
def two_variables_suffice(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Everything beyond the two variables is a convenience."""
    return same_as_plain(
        cache,
        seen,
        "with CAESAR_TASK_FILE and CAESAR_REPORT_PATH alone (the others are a convenience)",
    )


@check("TASK-002", "bare task")
def optional_fields_may_be_absent(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Fields with a default may be left out."""
    under = "with a task that has no optional field (use the defaults of the schema)"
    if cache.profile.context or cache.profile.acceptance_criteria:
        # Without what its profile gives it, no agent need be able to do its objective.
        return ends_with_a_report(cache, seen, under)
    return same_as_plain(cache, seen, under)


@check("TASK-003", "unknown fields")
def unknown_fields_are_ignored(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Later versions of the same document may add fields."""
    return same_as_plain(cache, seen, "with fields in the task that it does not know")


@check("TASK-004", "other spelling")
def any_spelling_of_json_is_read(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Who takes JSON apart with patterns is found out here."""
    return same_as_plain(
        cache,
        seen,
        "with the same task on one line, its fields in another order and escapes in its texts "
        "(read it with a JSON parser)",
    )


@check("TASK-005", "hostile text")
def any_text_is_survived(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Texts are data, of any script."""
    return same_as_plain(
        cache, seen, "with quotes, line breaks, shell characters and other scripts in the task"
    )


@check("TASK-006", "hostile text")
def text_is_not_executed(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A command in the text of a task is no command."""
    if seen.executed:
        return failed(
            "a command that merely stood in the text of the task was carried out: never put text "
            "of the task into a shell, an eval or a template"
        )
    return PASSED if seen.handed_in else not_exercised("it left no report: see TASK-005")


@check("TASK-007", "large context")
def a_large_context_is_read(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What does not fit on a command line fits into a file."""
    return same_as_plain(
        cache, seen, "with a context of a megabyte (read the task from its file, not from argv)"
    )


@check("TASK-008", "offered channel")
def a_channel_is_no_obstacle(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Who cannot use the channel ignores it."""
    if seen.refused and not seen.handed_in:
        return not_exercised("what it submitted over the channel was refused: see REPORT-015")
    if seen.run.questions:
        return not_exercised("it used the channel, and what it does then is about QUESTIONS")
    return same_as_plain(cache, seen, "with a return channel in the task that nobody answers on")


@check("TASK-009", "unknown version")
def an_unknown_version_is_refused(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Interpreting as best one can is what the contract forbids."""
    run = seen.run
    advice = (
        "check that protocol is caesar.task/v1; for anything else say so on stderr and exit with a "
        f"code other than 0, or report failed\n{seen.described()}"
    )
    if seen.handed_in and run.declared.status in ("success", "partial"):
        return failed(f"a task of caesar.task/v9 was taken on ({run.declared.status}): {advice}")
    if not seen.handed_in and run.outcome.exit_code == 0:
        return failed(f"a task of caesar.task/v9 ended with exit code 0 and no report: {advice}")
    said = run.raw_log.strip() or (seen.handed_in and run.declared.summary)
    if not said or run.outcome.timed_out or run.outcome.signal:
        return failed(f"a task of caesar.task/v9 was not refused explicitly: {advice}")
    return PASSED


@check("TASK-010", "unknown version")
def a_refusal_changes_nothing(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Refusing comes before working."""
    refused = an_unknown_version_is_refused(cache, seen)
    if refused.outcome != "passed":
        return not_exercised("it did not refuse the task: see TASK-009")
    if seen.run.changes:
        paths = ", ".join(one_line(change.path, limit=80) for change in seen.run.changes[:5])
        return failed(
            f"it refused a task of caesar.task/v9, and changed {paths}: check the version before "
            "anything else"
        )
    return PASSED


@check("TASK-011", "torn task")
def a_torn_task_is_no_success(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Nobody can meet criteria that cannot be read."""
    return _no_success(seen, "a task file that is cut off")


@check("TASK-012", "no task")
def a_missing_task_is_no_success(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Nobody can meet criteria that are not there."""
    return _no_success(seen, "a CAESAR_TASK_FILE that is not there")


def _no_success(seen: ScenarioRun, under: str) -> Judgement:
    if seen.run.declared.status == "success" and seen.handed_in:
        return failed(
            f"with {under} it says success: stop when the task cannot be read (bash: set -e, and "
            f"check what jq says)\n{seen.described()}"
        )
    if seen.run.outcome.timed_out:
        return failed(f"with {under} it did not end\n{seen.described()}")
    return PASSED
