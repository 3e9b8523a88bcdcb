"""The return channel under the official MCP inspector, a client in another language."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.caesar_agent.channel.client import COMMAND, environment, events, make_task

pytest.importorskip("mcp")

PACKAGE = "@modelcontextprotocol/inspector"
TIMEOUT = 90.0


@pytest.fixture(scope="module")
def inspector() -> list[str]:
    """The command-line mode of the inspector; nothing is downloaded unless that is allowed."""
    if installed := shutil.which("mcp-inspector"):
        return [installed, "--cli"]
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip(f"needs Node and {PACKAGE}: npm install --global {PACKAGE}")
    if os.environ.get("CAESAR_TEST_DOWNLOADS") != "1":
        pytest.skip(
            f"needs {PACKAGE}: npm install --global {PACKAGE}, "
            "or CAESAR_TEST_DOWNLOADS=1 to let npx fetch it"
        )
    return [npx, "--yes", PACKAGE, "--cli"]


def inspect(inspector: list[str], task_dir: Path, method: str, *arguments: str) -> Any:
    done = subprocess.run(
        [*inspector, *COMMAND, str(task_dir), "--method", method, *arguments],
        capture_output=True,
        env=environment(),
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_inspector_lists_the_tools_and_calls_them(inspector: list[str], tmp_path: Path) -> None:
    task_dir = make_task(tmp_path / "task")
    tools = inspect(inspector, task_dir, "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == [
        "get_task",
        "report_progress",
        "ask_orchestrator",
        "submit_report",
    ]
    call = ("tools/call", "--tool-name")
    told = inspect(
        inspector, task_dir, *call, "report_progress", "--tool-arg", "message=42", "pct=5"
    )
    assert told["structuredContent"] == {"ok": True}
    assert [(event["message"], event["pct"]) for event in events(task_dir)] == [("42", 5)]
    report = ("submit_report", "--tool-arg", "protocol=caesar.report/v1", "summary=2024")
    refused = inspect(inspector, task_dir, *call, *report, "status=done")
    assert refused["isError"] is True
    assert "at status" in refused["content"][0]["text"]
    accepted = inspect(inspector, task_dir, *call, *report, "status=success")
    assert accepted["structuredContent"] == {"ok": True, "task_id": "t_1"}
    assert json.loads((task_dir / "report.json").read_text())["summary"] == "2024"
