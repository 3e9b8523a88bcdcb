"""The smallest document of each kind, to vary in tests."""

from __future__ import annotations

from typing import Any


def report(**fields: Any) -> dict[str, Any]:
    return {"protocol": "caesar.report/v1", "status": "success", "summary": "s", **fields}


def task(**fields: Any) -> dict[str, Any]:
    return {
        "protocol": "caesar.task/v1",
        "id": "t_1",
        "created_at": "2026-01-01T00:00:00.000Z",
        "agent": "codex",
        "objective": "x",
        "mode": "write",
        "isolation": "inplace",
        "workspace": "/w",
        "deadline_ms": 1000,
        "report_path": "/t/report.json",
        "events_path": "/t/events.jsonl",
        **fields,
    }


def event(**fields: Any) -> dict[str, Any]:
    return {
        "protocol": "caesar.event/v1",
        "seq": 0,
        "at": "2026-01-01T00:00:00.000Z",
        "task_id": "t_1",
        "type": "message",
        **({"text": "x"} if fields.get("type", "message") == "message" else {}),
        **fields,
    }
