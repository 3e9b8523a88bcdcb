"""Why a report did not come from where a test expected it, and what to do about that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_caesar.orchestrator.run import Run
    from pytest_caesar.recovery.evidence import Recovered

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


def why_not_kept(recovered: Recovered, wanted: str) -> str:
    """As ``why_not``, for what is kept of a run."""
    if wanted not in ORDER or wanted == recovered.source:
        return ""
    if ORDER.index(wanted) > ORDER.index(recovered.source):
        given = GIVEN_BY[str(recovered.source)]
        return f"the report from {recovered.source} counts first; it was given as {given}"
    return f"to caesar_recover a report from {wanted} is given as {GIVEN_BY[wanted]}"


def _channel(run: Run) -> str:
    if run.task.channel is None:
        return "the task had no return channel: use caesar_answers, or delegate(…, channel=True)"
    if run.evidence.submission is None and run.evidence.submission_problem is None:
        return "the agent had the channel and did not call submit_report"
    return ""


def _schema(run: Run) -> str:
    if run.evidence.schema_expected:
        return "the agent was asked for a structured final message and gave none"
    return "only a known CLI with structured output hands in its report by schema"


def _file(run: Run) -> str:
    if run.evidence.report_file is None and run.evidence.report_file_problem is None:
        return "nothing was written to $CAESAR_REPORT_PATH"
    return ""


def _extracted(run: Run) -> str:
    if not run.raw_log.strip():
        return "the agent printed nothing"
    return "no report stands in raw.log"


_MISSING = {"channel": _channel, "schema": _schema, "file": _file, "extracted": _extracted}
