"""From the bytes of one object to a report, strictly; what is wrong comes back as a value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from caesar_agent.console import one_line
from caesar_agent.documents.decoding import Decoded, decode
from caesar_agent.documents.report import Report
from caesar_agent.errors import DocumentError, UnsupportedVersionError

Flaw = Literal["malformed", "invalid", "version", "foreign"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one text turned out to be.

    Attributes:
        report: the report, when it is one for this task.
        flaw: why it is not: ``malformed`` (not JSON), ``invalid`` (JSON, not a
            report), ``version`` (another version), ``foreign`` (another task's).
        problem: one clause that says what was found; "" for a report.
        value: the decoded JSON, when it could be decoded.
        flags: what is unusual about its encoding, as in ``documents.decoding``.
    """

    report: Report | None = None
    flaw: Flaw | None = None
    problem: str = ""
    value: object = None
    flags: tuple[str, ...] = ()


def read_report(data: bytes, *, task_id: str) -> Reading:
    """Read ``data`` as one report for the task ``task_id``; never raises.

    Args:
        data: a whole document.
        task_id: a report that names another task is that task's; "" accepts any.
    """
    try:
        decoded = decode(data, kind="report")
    except DocumentError as error:
        return Reading(flaw="malformed", problem=error.problem)
    return _judge(decoded, task_id)


def _judge(decoded: Decoded, task_id: str) -> Reading:
    value, flags = decoded.value, decoded.flags
    try:
        report = Report.from_value(value)
    except UnsupportedVersionError as error:
        # A document without a protocol, or another document, is no newer report.
        flaw: Flaw = "version" if error.code == "unsupported-version" else "invalid"
        return Reading(flaw=flaw, problem=error.problem, value=value, flags=flags)
    except DocumentError as error:
        place = f"{error.where}: " if error.where else ""
        problem = f"{place}{error.problem}"
        return Reading(flaw="invalid", problem=problem, value=value, flags=flags)
    if task_id and report.task_id and report.task_id != task_id:
        problem = f"it names the task {one_line(report.task_id, limit=80)}, this is {task_id}"
        return Reading(flaw="foreign", problem=problem, value=value, flags=flags)
    return Reading(report=report, value=value, flags=flags)


def canonical(value: object) -> str:
    """Return one spelling for equal JSON values, to compare them; "" when there is none."""
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError):
        return ""
