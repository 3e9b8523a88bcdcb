"""The return channel: how soon an answer is there, and how soon the server is."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Row, absolute, interleave, ratio
from caesar_agent.mailbox.mailbox import Mailbox
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.answers.question_responder import QuestionResponder
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.orchestrator.return_channel import channel_coordinates

ASKED = 101

EMPTY = """
import asyncio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def tools(context, params):
    return types.ListToolsResult(tools=[])
async def main():
    server = Server("empty", on_list_tools=tools)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
asyncio.run(main())
"""

HANDSHAKE = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "0"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


def _make_task(folder: Path) -> None:
    task = {
        "protocol": "caesar.task/v1",
        "id": "t_1",
        "created_at": "2026-01-01T00:00:00.000Z",
        "agent": "bench",
        "objective": "Ask.",
        "mode": "write",
        "isolation": "inplace",
        "workspace": str(folder),
        "deadline_ms": 600_000,
        "report_path": str(folder / "report.json"),
        "events_path": str(folder / "events.jsonl"),
    }
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")


class _Server:
    """One server over stdio that has listed its tools."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for message in HANDSHAKE:
            self.send(message)
        while self.receive().get("id") != 2:
            pass

    def send(self, message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, object]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())  # type: ignore[no-any-return]

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def _through_files(folder: Path) -> list[float]:
    mailbox = Mailbox(folder)
    times = []
    for _ in range(ASKED):
        start = time.perf_counter()
        mailbox.wait(mailbox.ask("Keep it?"), timeout=30)
        times.append(time.perf_counter() - start)
    return times


def _through_server(folder: Path) -> list[float]:
    channel = channel_coordinates(folder)
    server = _Server([channel.command, *channel.args])
    times = []
    for number in range(ASKED):
        start = time.perf_counter()
        arguments = {"question": "Keep it?"}
        params = {"name": "ask_orchestrator", "arguments": arguments}
        server.send(
            {"jsonrpc": "2.0", "id": f"q{number}", "method": "tools/call", "params": params}
        )
        server.receive()
        times.append(time.perf_counter() - start)
    server.end()
    return times


def rows() -> list[Row]:
    """From a question to its answer, and the start of the server."""
    found = []
    ways = (("files", _through_files), ("the MCP server", _through_server))
    for name, ask in ways:
        with tempfile.TemporaryDirectory() as folder:
            _make_task(Path(folder))
            answers = ScriptedAnswers().on("Keep", "no")
            with QuestionResponder(answers, TaskDirectory(Path(folder)), task_id="t_1"):
                times = ask(Path(folder))
        what = f"from ask to the scripted answer, through {name}"
        found.append(absolute(what, statistics.median(times), 100))
    with tempfile.TemporaryDirectory() as folder:
        _make_task(Path(folder))
        channel = channel_coordinates(Path(folder))
        ours, empty = interleave(
            lambda: _Server([channel.command, *channel.args]).end(),
            lambda: _Server([sys.executable, "-c", EMPTY]).end(),
            rounds=9,
        )
    return [
        *found,
        ratio(
            "start of the server until tools/list answers, and its end, over an empty server",
            ours,
            empty,
            1.5,
        ),
    ]
