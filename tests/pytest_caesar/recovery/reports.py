"""Small reports and logs for the tests of recovery."""

from __future__ import annotations

import json
from typing import Any

from pytest_caesar.recovery.evidence import Evidence, Recovered
from pytest_caesar.recovery.sources import recover

TASK = "t_0007"


def report(status: str = "success", summary: str = "Renamed the flag.", **more: Any) -> str:
    return json.dumps(
        {"protocol": "caesar.report/v1", "status": status, "summary": summary, **more},
        ensure_ascii=False,
    )


def fence(body: str, opening: str = "```json caesar:report", closing: str = "```") -> str:
    return f"{opening}\n{body}\n{closing}\n"


def recovered(log: str | bytes = b"", **more: Any) -> Recovered:
    data = log.encode("utf-8", "surrogatepass") if isinstance(log, str) else log
    return recover(Evidence(task_id=TASK, raw_log=data, **more))


def codes(verdict: Recovered) -> list[str]:
    return [diagnostic.code for diagnostic in verdict.diagnostics]


def said(verdict: Recovered, code: str) -> str:
    return next(found.message for found in verdict.diagnostics if found.code == code)
