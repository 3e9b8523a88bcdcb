# ruff: noqa: D401 - the registry says what a check asks for, its docstring why
"""Checks on the report."""

from __future__ import annotations

import codecs
import sys
from collections import Counter
from pathlib import Path

from caesar_agent.task_directory import read_bounded
from caesar_agent.terminal import one_line
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.judgement import PASSED, Finding, failed, not_exercised, skipped
from pytest_caesar.conformance.scenario_cache import Bench
from pytest_caesar.conformance.scenario_run import Trial

MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _is_utf_8(data: bytes | None) -> bool:
    try:
        (data or b"").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _put_something(trial: Trial) -> bool:
    evidence = trial.run.evidence
    return trial.handed_in or evidence.report_file is not None


@check("REPORT-001", of_a_dead_agent=True)
def a_report_is_handed_in(_bench: Bench, trial: Trial) -> Finding:
    """Whatever else is wrong with it."""
    if _put_something(trial):
        return PASSED
    if trial.run.evidence.report_file_problem is not None:
        return not_exercised("what stands in the place of the report is no file: see REPORT-005")
    found = "a report was found in its output, and " if trial.run.source == "extracted" else ""
    return failed(
        f"{found}nothing was written to $CAESAR_REPORT_PATH: write the report there before you "
        f"exit\n{trial.described()}"
    )


@check("REPORT-002", of_a_dead_agent=True)
def the_report_is_valid(_bench: Bench, trial: Trial) -> Finding:
    """Three fields make a report."""
    if not _put_something(trial):
        return not_exercised("no report was handed in: see REPORT-001")
    if not trial.handed_in and not _is_utf_8(trial.run.evidence.report_file):
        return not_exercised("the report cannot be read as text: see REPORT-004")
    wrong = [
        item
        for item in trial.run.diagnostics
        if item.code in ("report-file-invalid", "submission-invalid", "final-message-invalid")
    ]
    if wrong:
        problems = "\n".join(one_line(item.message, limit=400) for item in wrong)
        return failed(
            f"{problems}\ncompare it with: caesar-agent validate report.json\n{trial.described()}"
        )
    if not trial.handed_in:
        return not_exercised("no report of this task was handed in: see REPORT-003")
    return PASSED


@check("REPORT-003", of_a_dead_agent=True)
def the_report_names_this_task(_bench: Bench, trial: Trial) -> Finding:
    """A report of yesterday is not today's."""
    wrong = [item for item in trial.run.diagnostics if item.code == "report-of-another-task"]
    if wrong:
        return failed(
            f"{one_line(wrong[0].message, limit=300)}: write the id of the task into task_id, or "
            "leave it out"
        )
    return PASSED if trial.handed_in else not_exercised("no valid report: see REPORT-002")


@check("REPORT-004", of_a_dead_agent=True)
def the_report_is_utf_8(_bench: Bench, trial: Trial) -> Finding:
    """Other readers than this one do not guess at encodings."""
    data = trial.run.evidence.report_file
    if data is None:
        return not_exercised("no report file: see REPORT-001")
    advice = "write the report as UTF-8 without a byte order mark"
    if data.startswith(MARKS):
        return failed(f"report.json starts with a byte order mark: {advice}")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return failed(f"report.json is not UTF-8 (byte {error.start}): {advice}")
    if b"\0" in data:
        return failed(f"report.json holds NUL bytes, as UTF-16 does: {advice}")
    return PASSED if trial.handed_in else not_exercised("no valid report: see REPORT-002")


@check("REPORT-005", of_a_dead_agent=True)
def the_report_is_a_file(_bench: Bench, trial: Trial) -> Finding:
    """An orchestrator follows no link and opens no pipe."""
    problem = trial.run.evidence.report_file_problem
    if problem is not None:
        return failed(
            f"{one_line(problem.message, limit=300)}: write a plain file to $CAESAR_REPORT_PATH"
        )
    return PASSED if trial.handed_in else not_exercised("no valid report: see REPORT-001")


@check("REPORT-006", "blocked", otherwise="plain")
def blocked_asks(bench: Bench, trial: Trial) -> Finding:
    """Nobody can decide what is not asked."""
    return _with_status(
        bench,
        trial,
        "blocked",
        bool(trial.run.declared.questions),
        "put the decision that you need into questions",
    )


@check("REPORT-007", "partial", otherwise="plain")
def partial_names_next_steps(bench: Bench, trial: Trial) -> Finding:
    """Nobody can go on from what is not told."""
    return _with_status(
        bench,
        trial,
        "partial",
        bool(trial.run.declared.next_steps),
        "say in next_steps what remains",
    )


def _with_status(bench: Bench, trial: Trial, status: str, filled: bool, advice: str) -> Finding:  # noqa: FBT001 - private
    if not trial.handed_in:
        return failed(f"it handed in no valid report\n{trial.described()}")
    if trial.run.declared.status != status:
        if trial.scenario == status:
            return failed(
                f"the objective of [{status}] led to {trial.run.declared.status}, and not to "
                f"{status}\n{trial.described()}"
            )
        return skipped(f"the report does not say {status}; {bench.how_to_claim(status)}")
    return PASSED if filled else failed(f"the report says {status} and nothing more: {advice}")


@check("REPORT-008", "failed")
def failure_is_told(_bench: Bench, trial: Trial) -> Finding:
    """What cannot be done is not done."""
    if not trial.handed_in:
        return failed(f"it handed in no valid report of what it could not do\n{trial.described()}")
    if trial.run.declared.status in ("success", "partial"):
        return failed(
            f"the objective of [failed] cannot be done, and the report says "
            f"{trial.run.declared.status}\n{trial.described()}"
        )
    return PASSED


@check("REPORT-009")
def ids_of_questions_differ(_bench: Bench, trial: Trial) -> Finding:
    """An answer names a question by its id."""
    counts = Counter(question.id for question in trial.run.declared.questions)
    twice = [one_line(name, limit=60) for name, count in counts.items() if count > 1]
    if twice:
        return failed(f"two questions of the report have the id {', '.join(twice)}")
    return PASSED if counts else not_exercised("the report asks nothing")


@check("REPORT-010")
def nobody_sees_half_a_report(_bench: Bench, trial: Trial) -> Finding:
    """Written beside its place and renamed."""
    if trial.half_report is not None:
        return failed(
            f"a reader saw {trial.half_report} in the place of the report: write it to "
            '"$CAESAR_REPORT_PATH.new" and rename it'
        )
    if trial.run.source != "file":
        return not_exercised("the report was not handed in as a file")
    return PASSED


@check("REPORT-011")
def artifacts_are_there(_bench: Bench, trial: Trial) -> Finding:
    """In the workspace, or in the task directory."""
    artifacts = trial.run.declared.artifacts
    if not artifacts:
        return not_exercised("the report names no artifact")
    missing = [
        one_line(artifact.path, limit=100)
        for artifact in artifacts
        if not any(
            _exists(base, artifact.path) for base in (trial.run.workspace, trial.run.task_dir)
        )
    ]
    return failed(f"artifacts that are not there: {', '.join(missing)}") if missing else PASSED


@check("REPORT-012")
def findings_point_somewhere(_bench: Bench, trial: Trial) -> Finding:
    """Line 1 is the first."""
    placed = [finding for finding in trial.run.declared.findings if finding.file]
    if not placed:
        return not_exercised("no finding of the report names a file")
    for finding in placed:
        place = one_line(f"{finding.file}:{finding.line or ''}", limit=120)
        if not _exists(trial.run.workspace, finding.file or ""):
            return failed(f"a finding points at {place}, which is not in the workspace")
        if finding.line and finding.line > _lines(trial.run.workspace / str(finding.file)):
            return failed(f"a finding points at {place}, beyond the end of the file")
    return PASSED


@check("REPORT-013")
def the_duration_is_possible(_bench: Bench, trial: Trial) -> Finding:
    """Milliseconds, as the name says."""
    usage = trial.run.declared.usage
    if usage is None or usage.duration_ms is None:
        return not_exercised("the report tells no duration")
    took = trial.run.outcome.duration_ms
    if usage.duration_ms > took + 1000:
        return failed(f"usage.duration_ms is {usage.duration_ms}, the process ran for {took} ms")
    return PASSED


def _exists(base: Path, name: str) -> bool:
    try:
        return (base / name).exists()
    except (OSError, ValueError):
        return False


def _lines(path: Path) -> int:
    """Count lines; of what is no plain file, or a large one, as many as anybody may name."""
    data = read_bounded(path, max_bytes=2**24).data
    return sys.maxsize if data is None else len(data.splitlines())
