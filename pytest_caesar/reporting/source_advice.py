"""Why a report did not come from where it was expected, and what to do about that; pure."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from caesar_agent.console import one_line

if TYPE_CHECKING:
    from pytest_caesar.recovery.evidence import Recovered
    from pytest_caesar.runs.run import Run

ORDER = ("channel", "schema", "file", "extracted", "synthesized")
"""The sources, best first."""


def why_not(run: Run, wanted: str) -> str:
    """Say why the source is not ``wanted``; "" where there is nothing to say beyond findings.

    Args:
        run: whose report came from another source.
        wanted: the source that was expected.
    """
    if wanted not in ORDER or wanted == run.source:
        return ""
    if ORDER.index(wanted) > ORDER.index(run.source):
        return (
            f"the report from {run.source} counts first; without it: "
            f"run.without({str(run.source)!r}).source"
        )
    return _MISSING[wanted](run) if wanted in _MISSING else ""


GIVEN_BY = {
    "channel": "submission=",
    "schema": "final_message=, with schema_expected=True",
    "file": "report_file=",
    "extracted": "the log",
}
"""Where ``caesar_recover`` is given what stands for a source."""

CODES = {"channel": "submission-", "schema": "final-message-", "file": "report-file-"}
"""How the codes of findings begin on what was given for a source."""


def why_not_kept(recovered: Recovered, wanted: str) -> str:
    """As ``why_not``, for what is kept of a run."""
    if wanted not in ORDER or wanted == recovered.source:
        return ""
    if ORDER.index(wanted) > ORDER.index(recovered.source):
        given = GIVEN_BY[str(recovered.source)]
        return f"the report from {recovered.source} counts first; it was given as {given}"
    if wanted == "extracted":
        return "no report stands in the log"
    if any(finding.code.startswith(CODES[wanted]) for finding in recovered.diagnostics):
        return ""
    return f"to caesar_recover a report from {wanted} is given as {GIVEN_BY[wanted]}"


def missing_report(run: Run) -> str:
    """Say that an agent which ended well left no report: the mistake of a first agent.

    Returns:
        "" where that is not what went wrong.
    """
    if (
        run.source != "synthesized"
        or run.outcome.status != "succeeded"
        or _put_file(run)
        or _submitted(run)
    ):
        return ""
    text = "none: there is no file at $CAESAR_REPORT_PATH"
    name = PurePosixPath(run.task.report_path).name
    for change in run.changes:
        if PurePosixPath(change.path).name == name and change.action != "deleted":
            path = one_line(change.path, limit=160)
            return f"{text}; {path} in the workspace is not where it is looked for"
    return text


def _put_file(run: Run) -> bool:
    """Tell whether anything lay where the report belongs."""
    evidence = run.evidence
    return evidence.report_file is not None or evidence.report_file_problem is not None


def _submitted(run: Run) -> bool:
    """Tell whether anything came through the return channel."""
    evidence = run.evidence
    return evidence.submission is not None or evidence.submission_problem is not None


def _channel(run: Run) -> str:
    if run.task.channel is None:
        return "the task had no return channel: use caesar_answers, or delegate(…, channel=True)"
    if not _submitted(run):
        return "the agent had the channel and did not call submit_report"
    return ""


def _schema(run: Run) -> str:
    if run.evidence.schema_expected:
        return "the agent was asked for a structured final message and gave none"
    return "only a known CLI with structured output hands in its report by schema"


def _file(run: Run) -> str:
    if not _put_file(run):
        return "nothing was written to $CAESAR_REPORT_PATH"
    return ""


def _extracted(run: Run) -> str:
    if not run.raw_log.strip():
        stderr = run.evidence.stderr_log.strip()
        return "the agent printed on stderr alone" if stderr else "the agent printed nothing"
    return "no report stands in raw.log"


_MISSING = {"channel": _channel, "schema": _schema, "file": _file, "extracted": _extracted}
