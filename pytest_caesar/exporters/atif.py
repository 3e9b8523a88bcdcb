"""ATIF, the Agent Trajectory Interchange Format of Harbor: one JSON file for each run.

Turn it on with ``-p pytest_caesar.exporters.atif --caesar-export=DIR``.

Source: the ATIF RFC of the Harbor project, version 1.4.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pytest_caesar.exporters.runs import runs_of
from pytest_caesar.hooks import hookimpl

VERSION: Final = "ATIF-v1.4"


@hookimpl
def pytest_caesar_export(document: Mapping[str, Any], folder: Path) -> None:
    """Write ``NAME.atif.json`` for each run."""
    for name, run in runs_of(document):
        path = folder / f"{name}.atif.json"
        text = json.dumps(trajectory(run, name), indent=2, ensure_ascii=True)
        path.write_text(text + "\n", encoding="utf-8")


def trajectory(run: Mapping[str, Any], session_id: str) -> dict[str, Any]:
    """Return one run as an ATIF document.

    Messages and thoughts are steps of their own. A tool call is a step with the command, where
    there is one, as its arguments, and its exit code as observation: a session's JSON holds no
    more of it, since arguments and output may hold secrets. The verdict on what was declared is
    in ``extra``.
    """
    steps: list[dict[str, Any]] = [{"source": "user", "message": run.get("brief") or ""}]
    model = next(iter((run.get("usage") or {}).get("by_model") or ()), None)
    for event in run.get("timeline", ()):
        kind, text = event.get("type"), str(event.get("text", ""))
        if kind in ("message", "thinking"):
            said = text.removeprefix(kind).strip()
            step: dict[str, Any] = {"source": "agent", "message": said * (kind == "message")}
            if kind == "thinking":
                step["reasoning_content"] = said
            steps.append(_timed(step, event.get("at")))
    commands = iter(run.get("commands", ()))
    for number, call in enumerate(run.get("tool_calls", ()), 1):
        steps.append(_call_step(call, number, commands))
    steps.append(_report_step(run))
    steps = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    usage = run.get("usage") or {}
    totals = {
        "total_prompt_tokens": usage.get("input_tokens"),
        "total_completion_tokens": usage.get("output_tokens"),
        "total_cached_tokens": usage.get("cached_input_tokens"),
        "total_cost_usd": usage.get("cost_usd"),
        "total_steps": len(steps),
    }
    agent = {"name": str(run.get("agent") or "agent"), "version": "unknown"}
    if model is not None:
        agent["model_name"] = str(model)
    return {
        "schema_version": VERSION,
        "session_id": session_id,
        "agent": agent,
        "steps": steps,
        "notes": "Made by pytest-caesar from what it observed; the times of tool calls are those "
        "of the agent's own stream, where it tells them.",
        "final_metrics": {name: value for name, value in totals.items() if value is not None},
        "extra": {
            "pytest_caesar": importlib.metadata.version("pytest-caesar"),
            "source": run.get("source"),
            "outcome": run.get("outcome"),
            "changes": run.get("changes"),
            "undeclared": run.get("undeclared"),
            "phantom": run.get("phantom"),
            "diagnostics": run.get("diagnostics"),
        },
    }


def _timed(step: dict[str, Any], at: object) -> dict[str, Any]:
    return {**step, "timestamp": at} if isinstance(at, str) else step


def _call_step(call: Mapping[str, Any], number: int, commands: Any) -> dict[str, Any]:
    code = call.get("exit_code")
    arguments: dict[str, Any] = {}
    if code is not None:
        seen = (one for one in commands if one.get("observed_exit_code") is not None)
        arguments = {"command": one["command"]} if (one := next(seen, None)) else {}
    ident = f"call_{number}"
    result = str(call.get("status", "")) + ("" if code is None else f", exit code {code}")
    return _timed(
        {
            "source": "agent",
            "message": "",
            "tool_calls": [
                {
                    "tool_call_id": ident,
                    "function_name": str(call.get("tool") or "tool"),
                    "arguments": arguments,
                }
            ],
            "observation": {"results": [{"source_call_id": ident, "content": result}]},
        },
        call.get("at"),
    )


def _report_step(run: Mapping[str, Any]) -> dict[str, Any]:
    report = run.get("report") or {}
    text = f"{report.get('status', '')}: {report.get('summary', '')}"
    return {"source": "agent", "message": text, "extra": {"report": report}}
