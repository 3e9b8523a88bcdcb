"""The example of a report as it stands in every brief."""

from __future__ import annotations

import json

_EXAMPLE = """\
{
  "protocol": "caesar.report/v1",
  "task_id": TASK_ID,
  "status": <"success", "partial", "failed" or "blocked">,
  "summary": <one sentence: what you did and what came of it>,
  "details": <more, when the reader needs it>,
  "changes": [{"path": <path in the workspace>, "action": <"created", "modified", "deleted" or "renamed">, "summary": <why>}],
  "commands_run": [{"command": <as you ran it>, "exit_code": <number>}],
  "findings": [{"severity": <"info", "low", "medium", "high" or "critical">, "title": <what>, "file": <where>, "line": <number>}],
  "questions": [{"id": "q1", "question": <what must be decided>, "options": [<text>]}],
  "next_steps": [<what remains to be done>]
}"""
"""Not JSON on purpose: angle brackets stand where values belong, so that an agent that
echoes its brief has reported nothing, and one that copies it must fill it in."""


def example(task_id: str) -> str:
    """Return the example as the brief of one task shows it."""
    return _EXAMPLE.replace("TASK_ID", json.dumps(task_id))
