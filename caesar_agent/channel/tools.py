"""The four tools of the return channel as a client sees them: names, texts, input schemas.

The schemas are those of the reference implementation, so that an agent that was
prompted for one orchestrator finds the same tools under the other.
"""

from __future__ import annotations

from typing import Any

_MAX_INTEGER = 2**53 - 1
_DRAFT_07 = "http://json-schema.org/draft-07/schema#"

DESCRIPTIONS = {
    "get_task": (
        "Read your task again, as it stands in task.json: objective, context, constraints, "
        "acceptance criteria, mode, workspace and deadline. Use it whenever the task is no "
        "longer in front of you."
    ),
    "report_progress": (
        "Tell how far you are without ending the task. The orchestrator sees it as an event."
    ),
    "ask_orchestrator": (
        "Ask the orchestrator, the main agent that gave you this task, a question and wait for "
        "its answer: five minutes at most, and never longer than what is left of the task's "
        "deadline. Where nobody answers in time the call returns normally and tells you to go "
        "on by your own judgement."
    ),
    "submit_report": (
        "Hand in the final report of this task; it is checked at once. Only protocol, status "
        "and summary are required. An invalid report is refused with the fields that are wrong: "
        "correct them and call again. After a report was accepted there should be nothing left "
        "for you to do."
    ),
}
"""What each tool is for, told to the model, in the order in which they are listed."""


def _text(description: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "string", **({"description": description} if description else {}), **more}


def _items(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "default": [],
        "type": "array",
        "items": {"type": "object", "properties": properties, "required": list(required)},
    }


_OPTIONAL_TEXT = {"default": "", "type": "string"}
_TEXTS = {"default": [], "type": "array", "items": {"type": "string"}}
_COUNT = {"type": "integer", "minimum": 0, "maximum": _MAX_INTEGER}

_REPORT: dict[str, Any] = {
    "protocol": {"type": "string", "const": "caesar.report/v1"},
    "task_id": _OPTIONAL_TEXT,
    "status": {"type": "string", "enum": ["success", "partial", "failed", "blocked"]},
    "summary": {"type": "string", "minLength": 1},
    "details": _OPTIONAL_TEXT,
    "changes": _items(
        {
            "path": _text(),
            "action": {"type": "string", "enum": ["created", "modified", "deleted", "renamed"]},
            "summary": _OPTIONAL_TEXT,
        },
        "path",
        "action",
    ),
    "commands_run": _items(
        {
            "command": _text(),
            "exit_code": {
                "anyOf": [
                    {"type": "integer", "minimum": -_MAX_INTEGER, "maximum": _MAX_INTEGER},
                    {"type": "null"},
                ]
            },
            "note": _OPTIONAL_TEXT,
        },
        "command",
    ),
    "findings": _items(
        {
            "severity": {"type": "string", "enum": ["info", "low", "medium", "high", "critical"]},
            "title": _text(),
            "file": _text(),
            "line": {"type": "integer", "exclusiveMinimum": 0, "maximum": _MAX_INTEGER},
            "detail": _OPTIONAL_TEXT,
        },
        "severity",
        "title",
    ),
    "questions": _items({"id": _text(), "question": _text(), "options": _TEXTS}, "id", "question"),
    "next_steps": _TEXTS,
    "artifacts": _items({"path": _text(), "description": _OPTIONAL_TEXT}, "path"),
    "usage": {
        "type": "object",
        "properties": {
            "input_tokens": _COUNT,
            "output_tokens": _COUNT,
            "cost_usd": {"type": "number", "minimum": 0},
            "duration_ms": _COUNT,
        },
    },
}

INPUT_SCHEMAS: dict[str, dict[str, Any]] = {
    "get_task": {"type": "object", "properties": {}},
    "report_progress": {
        "$schema": _DRAFT_07,
        "type": "object",
        "properties": {
            "message": _text("What you are doing, in a few words.", minLength=1),
            "pct": {
                "description": "How much of the work is done, from 0 to 100, if you can tell.",
                "type": "number",
                "minimum": 0,
                "maximum": 100,
            },
        },
        "required": ["message"],
    },
    "ask_orchestrator": {
        "$schema": _DRAFT_07,
        "type": "object",
        "properties": {
            "question": _text(
                "The question, complete in itself: whoever answers does not see your conversation.",
                minLength=1,
            ),
            "options": {
                "description": "The possible answers, if they are known.",
                "type": "array",
                "items": {"type": "string"},
            },
        },
        "required": ["question"],
    },
    "submit_report": {
        "$schema": _DRAFT_07,
        "type": "object",
        "properties": _REPORT,
        "required": ["protocol", "status", "summary"],
    },
}
"""The arguments of each tool, as JSON Schema."""
