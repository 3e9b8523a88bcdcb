"""Where a report says something else of tokens and cost than the stream does; pure."""

from __future__ import annotations

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Report
from pytest_caesar.recovery.usage import Usage

CENT = 0.005
"""US dollars that two accounts of a cost may differ by: reports are rounded."""


def usage_findings(report: Report, seen: Usage) -> tuple[Diagnostic, ...]:
    """Tell where the report and the stream differ, in one finding.

    A stream that knows only a part is contradicted by less than that part alone.
    """
    told = report.usage
    if told is None or not seen.known:
        return ()
    differences = []
    for name in ("input_tokens", "output_tokens"):
        declared, counted = getattr(told, name), getattr(seen, name)
        if declared is None or counted is None or declared == counted:
            continue
        if not (seen.at_least and declared > counted):
            differences.append(f"{name} {declared}, the stream {counted}")
    if told.cost_usd is not None and seen.cost_usd is not None:
        off = seen.cost_usd - told.cost_usd
        if off > CENT or (off < -CENT and not seen.at_least):
            differences.append(f"cost_usd {told.cost_usd:g}, the stream {seen.cost_usd:g}")
    if not differences:
        return ()
    return (
        Diagnostic(code="usage-contradicted", message=f"the report says {'; '.join(differences)}"),
    )
