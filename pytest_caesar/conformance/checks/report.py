# ruff: noqa: D401 - the table says what a check asks for, its docstring why
"""Checks on the report."""

from __future__ import annotations

import codecs
import sys
from collections import Counter
from pathlib import Path

from caesar_agent.console import one_line
from caesar_agent.task_directory import read_bounded
from pytest_caesar.conformance.checks.check import check
from pytest_caesar.conformance.checks.shared_judgements import missed_criteria
from pytest_caesar.conformance.judgement import PASSED, Judgement, failed, not_exercised, skipped
from pytest_caesar.conformance.profile import how_to_claim
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun

MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _is_utf_8(data: bytes | None) -> bool:
    try:
        (data or b"").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _put_something(seen: ScenarioRun) -> bool:
    evidence = seen.run.evidence
    return seen.handed_in or evidence.report_file is not None


@check("REPORT-001", of_a_dead_agent=True)
def a_report_is_handed_in(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Whatever else is wrong with it."""
    if _put_something(seen):
        return PASSED
    problem = seen.run.evidence.report_file_problem
    if problem is not None and "is a link" in problem.message:
        return not_exercised("in the place of the report there is a link: see REPORT-005")
    if problem is not None:
        return failed(
            f"{one_line(problem.message, limit=300)}: write the report to $CAESAR_REPORT_PATH, as a "
            "file"
        )
    found = "a report was found in its output, and " if seen.run.source == "extracted" else ""
    return failed(
        f"{found}nothing was written to $CAESAR_REPORT_PATH: write the report there before you "
        f"exit\n{seen.described()}"
    )


@check("REPORT-002", of_a_dead_agent=True)
def the_report_is_valid(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Three fields make a report."""
    if not _put_something(seen):
        return not_exercised("no report was handed in: see REPORT-001")
    if not seen.handed_in and not _is_utf_8(seen.run.evidence.report_file):
        return not_exercised("the report cannot be read as text: see REPORT-004")
    wrong = [
        item
        for item in seen.run.diagnostics
        if item.code in ("report-file-invalid", "submission-invalid", "final-message-invalid")
    ]
    if wrong:
        problems = "\n".join(one_line(item.message, limit=400) for item in wrong)
        return failed(
            f"{problems}\ncompare it with: caesar-agent validate report.json\n{seen.described()}"
        )
    if not seen.handed_in:
        return not_exercised("no report of this task was handed in: see REPORT-003")
    return PASSED


@check("REPORT-003", of_a_dead_agent=True)
def the_report_names_this_task(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """A report of yesterday is not today's."""
    wrong = [item for item in seen.run.diagnostics if item.code == "report-of-another-task"]
    if wrong:
        return failed(
            f"{one_line(wrong[0].message, limit=300)}: write the id of the task into task_id, or "
            "leave it out"
        )
    return PASSED if seen.handed_in else not_exercised("no valid report: see REPORT-002")


@check("REPORT-004", of_a_dead_agent=True)
def the_report_is_utf_8(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Other readers than this one do not guess at encodings."""
    data = seen.run.evidence.report_file
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
    return PASSED if seen.handed_in else not_exercised("no valid report: see REPORT-002")


@check("REPORT-005", of_a_dead_agent=True)
def the_report_is_a_file(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """An orchestrator follows no link and opens no pipe."""
    problem = seen.run.evidence.report_file_problem
    if problem is not None:
        return failed(
            f"{one_line(problem.message, limit=300)}: write a plain file to $CAESAR_REPORT_PATH; an "
            "orchestrator need not follow a link"
        )
    return PASSED if seen.handed_in else not_exercised("no valid report: see REPORT-001")


@check("REPORT-006", "blocked", otherwise="plain")
def blocked_asks(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Nobody can decide what is not asked."""
    advice = "put the decision that you need into questions"
    return _with_status(
        seen,
        "blocked",
        advice,
        filled=any(one.question.strip() for one in seen.run.declared.questions),
    )


@check("REPORT-007", "partial", otherwise="plain")
def partial_names_next_steps(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Nobody can go on from what is not told."""
    advice = "say in next_steps what remains"
    return _with_status(
        seen, "partial", advice, filled=any(step.strip() for step in seen.run.declared.next_steps)
    )


def _with_status(seen: ScenarioRun, status: str, advice: str, *, filled: bool) -> Judgement:
    if not seen.handed_in:
        return failed(f"it handed in no valid report\n{seen.described()}")
    if seen.run.declared.status != status:
        if seen.scenario == status:
            return failed(
                f"the objective of [{status}] led to {seen.run.declared.status}, and not to "
                f"{status}\n{seen.described()}"
            )
        return skipped(f"the report does not say {status}; {how_to_claim(status)}")
    return (
        PASSED
        if filled
        else failed(f"the report says {status} and nothing more, or empty texts: {advice}")
    )


@check("REPORT-008", "failed")
def failure_is_told(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What cannot be done is not done."""
    if not seen.handed_in:
        return failed(f"it handed in no valid report of what it could not do\n{seen.described()}")
    if seen.run.declared.status in ("success", "partial"):
        return failed(
            f"the objective of [failed] cannot be done, and the report says "
            f"{seen.run.declared.status}\n{seen.described()}"
        )
    return PASSED


@check("REPORT-009")
def ids_of_questions_differ(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """An answer names a question by its id."""
    counts = Counter(question.id for question in seen.run.declared.questions)
    twice = [one_line(name, limit=60) for name, count in counts.items() if count > 1]
    if twice:
        return failed(f"two questions of the report have the id {', '.join(twice)}")
    return PASSED if counts else not_exercised("the report asks nothing")


@check("REPORT-010")
def nobody_sees_half_a_report(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Written beside its place and renamed."""
    if seen.half_report is not None:
        return failed(
            f"a reader saw {seen.half_report} in the place of the report: write it to "
            '"$CAESAR_REPORT_PATH.new" and rename it'
        )
    if seen.run.source != "file":
        return not_exercised("the report was not handed in as a file")
    return PASSED


@check("REPORT-011")
def artifacts_are_there(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """In the workspace, or in the task directory."""
    artifacts = seen.run.declared.artifacts
    if not artifacts:
        return not_exercised("the report names no artifact")
    missing = [
        one_line(artifact.path, limit=100)
        for artifact in artifacts
        if not any(_exists(base, artifact.path) for base in (seen.run.workspace, seen.run.task_dir))
    ]
    return failed(f"artifacts that are not there: {', '.join(missing)}") if missing else PASSED


@check("REPORT-012")
def findings_point_somewhere(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Line 1 is the first."""
    placed = [finding for finding in seen.run.declared.findings if finding.file]
    if not placed:
        return not_exercised("no finding of the report names a file")
    for finding in placed:
        place = one_line(f"{finding.file}:{finding.line or ''}", limit=120)
        if not _exists(seen.run.workspace, finding.file or ""):
            return failed(f"a finding points at {place}, which is not in the workspace")
        if finding.line and finding.line > _lines(seen.run.workspace / str(finding.file)):
            return failed(f"a finding points at {place}, beyond the end of the file")
    return PASSED


@check("REPORT-013")
def the_duration_is_possible(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """Milliseconds, as the name says."""
    usage = seen.run.declared.usage
    if usage is None or usage.duration_ms is None:
        return not_exercised("the report tells no duration")
    took = seen.run.outcome.duration_ms
    if usage.duration_ms > took + 1000:
        return failed(f"usage.duration_ms is {usage.duration_ms}, the process ran for {took} ms")
    return PASSED


@check("REPORT-014")
def success_meets_the_criteria(cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """They are run when the agent is gone, in its workspace."""
    return missed_criteria(cache, seen)


@check("REPORT-015", "offered channel")
def a_refused_report_is_handed_in_again(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """The answer of the tool says what is wrong with it."""
    refused = [why for tool, why in seen.refused if tool == "submit_report"]
    if not refused:
        return not_exercised("no report that it submitted was refused")
    if seen.handed_in:
        return PASSED
    return failed(
        f"its report was refused and no other one came: {one_line(refused[-1], limit=300)}; read "
        "what submit_report answers, fix the report, and submit it again"
    )


@check("REPORT-016")
def commands_ended_as_declared(_cache: ScenarioCache, seen: ScenarioRun) -> Judgement:
    """What was seen of them, in its stream or by a watched program, is compared with what it says."""
    wrong = [item for item in seen.run.diagnostics if item.code == "command-contradicted"]
    if wrong:
        return failed(
            f"{one_line(wrong[0].message, limit=300)}: declare the exit code that you saw, and only "
            "what you have run"
        )
    if any(one.verdict == "confirmed" for one in seen.run.commands):
        return PASSED
    if not seen.run.declared.commands_run:
        return not_exercised("the report declares no command")
    return not_exercised("nothing was seen of the commands that it declares")


def _exists(base: Path, name: str) -> bool:
    try:
        return (base / name).exists()
    except (OSError, ValueError):
        return False


def _lines(path: Path) -> int:
    """Count lines; of what is no plain file, or a large one, as many as anybody may name."""
    data = read_bounded(path, max_bytes=2**24).data
    return sys.maxsize if data is None else len(data.splitlines())
