"""What an agent left behind, as the evidence from which its report is recovered."""

from __future__ import annotations

from pytest_caesar.agents.catalogue import explain_exit
from pytest_caesar.agents.launch import FINAL_MESSAGE
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.starting import Start
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.sources import MAX_LOG_BYTES
from pytest_caesar.supervision.logs import MAX_STDERR_BYTES, tail_of
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.workspace.reconciliation import observed_changes
from pytest_caesar.workspace.values import Observation


def collect_evidence(start: Start, outcome: Outcome, observation: Observation) -> Evidence:
    """Read what there is; nothing of the agent may run any more.

    Args:
        start: how it was started.
        outcome: how it ended.
        observation: what git shows; its changes are evidence where they are verified.
    """
    task, directory = start.task, start.directory
    program = start.agent if isinstance(start.agent, ProcessAgent) else None
    raw_log, offset = start.log.read_tail(MAX_LOG_BYTES)
    report = directory.read_report()
    submission = directory.read_submission()
    # What the CLI itself wrote as its last message.
    message = directory.read(FINAL_MESSAGE)
    stderr_log, _ = tail_of(directory.path, directory.stderr_log.name, MAX_STDERR_BYTES)
    return Evidence(
        task_id=task.id,
        mode=task.mode,
        raw_log=raw_log,
        raw_log_offset=offset,
        stderr_log=stderr_log,
        brief=start.brief,
        dialect=program.dialect if program else None,
        report_file=report.data,
        report_file_problem=report.problem,
        submission=submission.data,
        submission_problem=submission.problem,
        final_message=message.data,
        final_message_problem=message.problem,
        schema_expected=start.expected == "schema",
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        timed_out=outcome.timed_out,
        cancelled=outcome.status == "cancelled",
        killed_after_report=outcome.killed_after_report,
        changes=observed_changes(observation) if observation.verified else None,
        exit_meaning=explain_exit(program.cli, outcome.exit_code) if program else "",
    )
