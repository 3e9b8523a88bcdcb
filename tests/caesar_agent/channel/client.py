"""A client of the return channel that speaks bytes, so that it can also misbehave."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import caesar_agent

if TYPE_CHECKING:
    from typing_extensions import Self

TIMEOUT = 30.0
"""Bound of every wait, in seconds; none of them is expected to take a tenth of it."""

COMMAND = (sys.executable, "-m", "caesar_agent", "channel")


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a child that can import the sources under test."""
    sources = str(Path(caesar_agent.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (more.pop("PYTHONPATH", ""), sources)))
    return {**os.environ, "PYTHONPATH": path, **more}


def make_task(folder: Path, **fields: object) -> Path:
    """Write a task into a folder and return the folder."""
    task = {
        "protocol": "caesar.task/v1",
        "id": "t_1",
        "created_at": "2026-03-01T10:00:00.000Z",
        "agent": "tester",
        "objective": "Fix the parser.",
        "mode": "write",
        "isolation": "inplace",
        "workspace": str(folder),
        "deadline_ms": 600_000,
        "report_path": str(folder / "report.json"),
        "events_path": str(folder / "events.jsonl"),
        **fields,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    return folder


class RawClient:
    """One server process, line by line.

    Attributes:
        stray: lines of its stdout that are no JSON-RPC.
        notifications: what it said without being asked.
        errors: its stderr, after ``end``.
    """

    def __init__(
        self,
        task_dir: Path,
        *,
        command: Sequence[str] = COMMAND,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.stray: list[bytes] = []
        self.notifications: list[dict[str, Any]] = []
        self.errors = ""
        self._code: int | None = None
        self._answers: dict[Any, dict[str, Any]] = {}
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self.process = subprocess.Popen(
            [*command, str(task_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment() if env is None else dict(env),
            cwd=cwd,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def raw(self, data: bytes) -> None:
        """Write bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        """Write one message."""
        self.raw(json.dumps(message).encode() + b"\n")

    def request(self, request_id: object, method: str, **params: Any) -> None:
        """Write one request."""
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        self.send({**message, "params": params} if params else message)

    def call(self, request_id: object, tool: str, /, **arguments: Any) -> None:
        """Call a tool."""
        self.request(request_id, "tools/call", name=tool, arguments=arguments)

    def start(self) -> dict[str, Any]:
        """Do the handshake."""
        self.request(
            "init",
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "raw", "version": "0"},
        )
        answer = self.answer("init")
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]  # type: ignore[no-any-return]

    def answer(self, request_id: object) -> dict[str, Any]:
        """Return the answer to a request."""
        while request_id not in self._answers:
            if not self._take():
                raise AssertionError(f"the server ended without an answer to {request_id!r}")
        return self._answers.pop(request_id)

    def result(self, request_id: object) -> dict[str, Any]:
        """Return the result of a tool: its structured content, or its error text."""
        result = self.answer(request_id)["result"]
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            return {"error": text}
        assert json.loads(text) == result["structuredContent"]
        return result["structuredContent"]  # type: ignore[no-any-return]

    def has_answered(self, request_id: object) -> bool:
        """Tell whether the answer to a request has come already."""
        return request_id in self._answers

    def _take(self) -> bool:
        line = self._lines.get(timeout=TIMEOUT)
        if line is None:
            return False
        try:
            message = json.loads(line)
        except ValueError:
            self.stray.append(line)
            return True
        if message.get("jsonrpc") != "2.0":
            self.stray.append(line)
        elif "method" in message:
            self.notifications.append(message)
        else:
            self._answers[message["id"]] = message
        return True

    def end(self) -> int:
        """Close the input, wait for the end, and return the exit code."""
        if self._code is None:
            streams = (self.process.stdin, self.process.stdout, self.process.stderr)
            stdin, stdout, stderr = streams
            assert stdin is not None
            assert stdout is not None
            assert stderr is not None
            with contextlib.suppress(BrokenPipeError):
                stdin.close()
            try:
                self._code = self.process.wait(TIMEOUT)
            finally:
                self.process.kill()
                self.process.wait(TIMEOUT)
            while self._take():
                pass
            self.errors = stderr.read().decode()
            stderr.close()
            stdout.close()
        return self._code


def question_ids(task_dir: Path) -> frozenset[str]:
    """Return the ids of the questions that were asked so far."""
    return frozenset(path.stem for path in (task_dir / "questions").glob("[0-9a-f]*.json"))


def wait_for_question(task_dir: Path, known: frozenset[str] = frozenset()) -> str:
    """Return the id of the one question that is asked beside the known ones."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        new = question_ids(task_dir) - known
        if new:
            [question] = new
            return question
        time.sleep(0.005)
    raise AssertionError("no question was asked")


def events(task_dir: Path) -> list[dict[str, Any]]:
    """Return the events without what differs from run to run."""
    lines = (task_dir / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        {key: value for key, value in json.loads(line).items() if key not in ("protocol", "at")}
        for line in lines
    ]
