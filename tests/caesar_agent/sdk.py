"""Tasks and agents for the tests of the SDK."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from caesar_agent.running.runner import Main, execute

ROOT = Path(__file__).parents[2]


@dataclass
class Desk:
    """One task directory with a workspace beside it.

    Attributes:
        path: the folder that holds both.
        task: what ``task.json`` says.
        stderr: what the last agent printed there.
    """

    path: Path
    task: dict[str, Any] = field(default_factory=dict)
    stderr: str = ""

    @property
    def directory(self) -> Path:
        return self.path / "task"

    @property
    def workspace(self) -> Path:
        return self.path / "workspace"

    @property
    def environ(self) -> dict[str, str]:
        return {
            "CAESAR_TASK_DIR": str(self.directory),
            "CAESAR_TASK_FILE": str(self.directory / "task.json"),
            "CAESAR_REPORT_PATH": str(self.directory / "report.json"),
            "CAESAR_EVENTS_PATH": str(self.directory / "events.jsonl"),
        }

    @property
    def report(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.directory / "report.json").read_bytes())
        return value

    @property
    def has_report(self) -> bool:
        return (self.directory / "report.json").exists()

    @property
    def events(self) -> list[dict[str, Any]]:
        path = self.directory / "events.jsonl"
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    @property
    def told(self) -> list[str]:
        return [event["type"] for event in self.events]

    def run(self, main: Main, **more: Any) -> int:
        """Run an agent in this process, without signal handlers unless asked for."""
        stderr = io.StringIO()
        environ = more.pop("environ", self.environ)
        try:
            return execute(
                main,
                environ=environ,
                stderr=stderr,
                install_signals=more.pop("install_signals", False),
            )
        finally:
            self.stderr = stderr.getvalue()

    def script(self, body: str) -> Path:
        """Write an agent that is a program."""
        path = self.path / "agent.py"
        path.write_text("import caesar_agent\n" + textwrap.dedent(body), encoding="utf-8")
        return path

    def start(self, body: str) -> subprocess.Popen[str]:
        """Start an agent as a process with a built environment."""
        return subprocess.Popen(
            [sys.executable, str(self.script(body))],
            cwd=self.workspace,
            env={
                **self.environ,
                # For coverage of processes.
                **{name: value for name, value in os.environ.items() if "COV" in name},
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "PYTHONWARNINGS": "error",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def make_desk(path: Path, **fields: object) -> Desk:
    """Write a task, with the fields that are given in place of plain ones."""
    desk = Desk(path)
    desk.workspace.mkdir(parents=True)
    desk.directory.mkdir()
    desk.task = {
        "protocol": "caesar.task/v1",
        "id": "t_0001",
        "created_at": "2026-08-09T10:00:00.000Z",
        "agent": "tester",
        "objective": "Do it",
        "mode": "write",
        "isolation": "inplace",
        "workspace": str(desk.workspace),
        "deadline_ms": 600_000,
        "depth": 1,
        "report_path": str(desk.directory / "report.json"),
        "events_path": str(desk.directory / "events.jsonl"),
        **fields,
    }
    (desk.directory / "task.json").write_text(json.dumps(desk.task), encoding="utf-8")
    return desk
