# ruff: noqa: D401 - the registry says what a check asks for, its docstring why
"""Checks on reading the task."""

from __future__ import annotations

from caesar_agent.terminal import one_line
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.judgement import PASSED, Finding, failed, not_exercised
from pytest_caesar.conformance.scenario_cache import Bench
from pytest_caesar.conformance.scenario_run import Trial


@check("TASK-001", "two variables")
def two_variables_suffice(bench: Bench, trial: Trial) -> Finding:
    """Everything beyond the two variables is a convenience."""
    return bench.same_as_plain(
        trial, "with CAESAR_TASK_FILE and CAESAR_REPORT_PATH alone (the others are a convenience)"
    )


@check("TASK-002", "bare task")
def optional_fields_may_be_absent(bench: Bench, trial: Trial) -> Finding:
    """Fields with a default may be left out."""
    under = "with a task that has no optional field (use the defaults of the schema)"
    if bench.profile.context or bench.profile.acceptance_criteria:
        # Without what its profile gives it, no agent need be able to do its objective.
        return bench.ends_with_a_report(trial, under)
    return bench.same_as_plain(trial, under)


@check("TASK-003", "unknown fields")
def unknown_fields_are_ignored(bench: Bench, trial: Trial) -> Finding:
    """Later versions of the same document may add fields."""
    return bench.same_as_plain(trial, "with fields in the task that it does not know")


@check("TASK-004", "other spelling")
def any_spelling_of_json_is_read(bench: Bench, trial: Trial) -> Finding:
    """Who takes JSON apart with patterns is found out here."""
    return bench.same_as_plain(
        trial,
        "with the same task on one line, its fields in another order and escapes in its texts "
        "(read it with a JSON parser)",
    )


@check("TASK-005", "hostile text")
def any_text_is_survived(bench: Bench, trial: Trial) -> Finding:
    """Texts are data, of any script."""
    return bench.same_as_plain(
        trial, "with quotes, line breaks, shell characters and other scripts in the task"
    )


@check("TASK-006", "hostile text")
def text_is_not_executed(_bench: Bench, trial: Trial) -> Finding:
    """A command in the text of a task is no command."""
    if trial.executed:
        return failed(
            "a command that merely stood in the text of the task was carried out: never put text "
            "of the task into a shell, an eval or a template"
        )
    return PASSED if trial.handed_in else not_exercised("it left no report: see TASK-005")


@check("TASK-007", "large context")
def a_large_context_is_read(bench: Bench, trial: Trial) -> Finding:
    """What does not fit on a command line fits into a file."""
    return bench.same_as_plain(
        trial, "with a context of a megabyte (read the task from its file, not from argv)"
    )


@check("TASK-008", "offered channel")
def a_channel_is_no_obstacle(bench: Bench, trial: Trial) -> Finding:
    """Who cannot use the channel ignores it."""
    if trial.run.questions:
        return not_exercised("it used the channel, and what it does then is about QUESTIONS")
    return bench.same_as_plain(trial, "with a return channel in the task that nobody answers on")


@check("TASK-009", "unknown version")
def an_unknown_version_is_refused(_bench: Bench, trial: Trial) -> Finding:
    """Interpreting as best one can is what the contract forbids."""
    run = trial.run
    advice = (
        "check that protocol is caesar.task/v1; for anything else say so on stderr and exit with a "
        f"code other than 0, or report failed\n{trial.described()}"
    )
    if trial.handed_in and run.declared.status in ("success", "partial"):
        return failed(f"a task of caesar.task/v9 was taken on ({run.declared.status}): {advice}")
    if not trial.handed_in and run.outcome.exit_code == 0:
        return failed(f"a task of caesar.task/v9 ended with exit code 0 and no report: {advice}")
    said = run.raw_log.strip() or (trial.handed_in and run.declared.summary)
    if not said or run.outcome.timed_out or run.outcome.signal:
        return failed(f"a task of caesar.task/v9 was not refused explicitly: {advice}")
    return PASSED


@check("TASK-010", "unknown version")
def a_refusal_changes_nothing(bench: Bench, trial: Trial) -> Finding:
    """Refusing comes before working."""
    refused = an_unknown_version_is_refused(bench, trial)
    if refused.outcome != "passed":
        return not_exercised("it did not refuse the task: see TASK-009")
    if trial.run.changes:
        paths = ", ".join(one_line(change.path, limit=80) for change in trial.run.changes[:5])
        return failed(
            f"it refused a task of caesar.task/v9, and changed {paths}: check the version before "
            "anything else"
        )
    return PASSED


@check("TASK-011", "torn task")
def a_torn_task_is_no_success(_bench: Bench, trial: Trial) -> Finding:
    """Nobody can meet criteria that cannot be read."""
    return _no_success(trial, "a task file that is cut off")


@check("TASK-012", "no task")
def a_missing_task_is_no_success(_bench: Bench, trial: Trial) -> Finding:
    """Nobody can meet criteria that are not there."""
    return _no_success(trial, "a CAESAR_TASK_FILE that is not there")


def _no_success(trial: Trial, under: str) -> Finding:
    if trial.run.declared.status == "success" and trial.handed_in:
        return failed(
            f"with {under} it says success: stop when the task cannot be read (bash: set -e, and "
            f"check what jq says)\n{trial.described()}"
        )
    if trial.run.outcome.timed_out:
        return failed(f"with {under} it did not end\n{trial.described()}")
    return PASSED
