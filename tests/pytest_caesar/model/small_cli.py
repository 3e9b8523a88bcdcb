"""A coding CLI of a hundred lines: it speaks any of the four wire formats, and works.

Where the real CLIs are absent it stands in for them. As a program:
``python small_cli.py API URL plain|stream BRIEF``.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TOOLS: dict[str, dict[str, Any]] = {
    "bash": {"type": "object", "properties": {"command": {"type": "string"}}},
    "write_file": {
        "type": "object",
        "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}},
    },
}
PATHS = {
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/small:{}",
    "messages": "/v1/messages",
}


class Refused(Exception):  # noqa: N818 - what the model did
    """The model answered with a status that is no success."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"HTTP {status}: {body}")
        self.status = status


def post(url: str, path: str, body: dict[str, Any]) -> str:
    """Send a request; return the body of the answer."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    try:
        headers = {"Content-Type": "application/json", "User-Agent": "small-cli/1.0"}
        connection.request("POST", parts.path + path, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise Refused(answer.status, text)
        return text
    finally:
        connection.close()


def events(text: str) -> list[dict[str, Any]]:
    """Return what a stream of server-sent events holds."""
    lines = [line[len("data: ") :] for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def work(
    url: str,
    api: str,
    brief: str,
    *,
    stream: bool = True,
    cwd: Path | None = None,
    carry_out: Callable[[str, dict[str, Any]], str] | None = None,
    **more: Any,
) -> str:
    """Do what the model says until it calls nothing; return its last message.

    ``more`` goes into every request as it is.
    """
    run = carry_out or (lambda name, given: run_tool(name, given, cwd or Path.cwd()))
    history = WIRES[api]("", brief, [])
    while True:
        said, calls = ask(url, api, history, stream=stream, **more)
        if not calls:
            return said
        done = [(call, run(call["name"], call["arguments"])) for call in calls]
        history += WIRES[api](said, None, done)


def run_tool(name: str, given: dict[str, Any], cwd: Path) -> str:
    """Run one tool."""
    if name == "write_file":
        path = cwd / given["file_path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(given["content"])
        return "written"
    done = subprocess.run(
        given["command"], check=False, shell=True, cwd=cwd, capture_output=True, text=True
    )
    return f"{done.stdout}Exit Code: {done.returncode}"


def ask(
    url: str, api: str, history: list[dict[str, Any]], *, stream: bool, **more: Any
) -> tuple[str, list[dict[str, Any]]]:
    """Ask for one turn: its text and its calls."""
    function = "streamGenerateContent" if stream else "generateContent"
    text = post(url, PATHS[api].format(function), {**request(api, history, stream=stream), **more})
    return READERS[api](events(text) if stream else [json.loads(text)], stream=stream)


def request(api: str, history: list[dict[str, Any]], *, stream: bool) -> dict[str, Any]:
    """Return the body of a request."""
    common = {"model": "small", "stream": stream}
    named = [{"name": name, "description": ""} for name in TOOLS]
    if api == "responses":
        tools = [{"type": "function", **tool, "parameters": TOOLS[tool["name"]]} for tool in named]
        return {**common, "instructions": "Be brief.", "input": history, "tools": tools}
    if api == "chat":
        functions = [
            {"type": "function", "function": {**tool, "parameters": TOOLS[tool["name"]]}}
            for tool in named
        ]
        system = {"role": "system", "content": "Be brief."}
        return {**common, "messages": [system, *history], "tools": functions}
    if api == "gemini":
        declared = [{**tool, "parameters": TOOLS[tool["name"]]} for tool in named]
        return {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": history,
            "tools": [{"functionDeclarations": declared}],
        }
    inputs = [{**tool, "input_schema": TOOLS[tool["name"]]} for tool in named]
    return {**common, "system": "Be brief.", "messages": history, "tools": inputs}


# --- history ---------------------------------------------------------------------------

Done = list[tuple[dict[str, Any], str]]


def _responses(said: str, brief: str | None, done: Done) -> list[dict[str, Any]]:
    if brief is not None:
        return [{"role": "user", "content": [{"type": "input_text", "text": brief}]}]
    message = {"type": "message", "role": "assistant", "content": [{"text": said}]}
    calls = [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["name"],
            "arguments": json.dumps(call["arguments"]),
        }
        for call, _ in done
    ]
    results = [
        {"type": "function_call_output", "call_id": call["id"], "output": result}
        for call, result in done
    ]
    # As codex does with two calls of a turn: one by one.
    pairs = [entry for pair in zip(calls, results, strict=True) for entry in pair]
    return [*([message] if said else []), *pairs]


def _chat(said: str, brief: str | None, done: Done) -> list[dict[str, Any]]:
    if brief is not None:
        return [{"role": "user", "content": brief}]
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for call, _ in done
    ]
    return [
        {"role": "assistant", "content": said or None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": call["id"], "content": result} for call, result in done),
    ]


def _gemini(said: str, brief: str | None, done: Done) -> list[dict[str, Any]]:
    if brief is not None:
        return [{"role": "user", "parts": [{"text": brief}]}]
    calls = [
        {"functionCall": {"name": call["name"], "args": call["arguments"]}} for call, _ in done
    ]
    results = [
        {"functionResponse": {"name": call["name"], "response": {"output": result}}}
        for call, result in done
    ]
    return [
        {"role": "model", "parts": [*([{"text": said}] if said else []), *calls]},
        {"role": "user", "parts": results},
    ]


def _messages(said: str, brief: str | None, done: Done) -> list[dict[str, Any]]:
    if brief is not None:
        return [{"role": "user", "content": brief}]
    uses = [
        {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]}
        for call, _ in done
    ]
    results = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": result}
        for call, result in done
    ]
    return [
        {
            "role": "assistant",
            "content": [*([{"type": "text", "text": said}] if said else []), *uses],
        },
        {"role": "user", "content": results},
    ]


WIRES = {"responses": _responses, "chat": _chat, "gemini": _gemini, "messages": _messages}


# --- answers ---------------------------------------------------------------------------


def _read_responses(
    parts: list[dict[str, Any]], *, stream: bool
) -> tuple[str, list[dict[str, Any]]]:
    body = parts[-1]["response"] if stream else parts[0]
    assert body["status"] == "completed"
    said = [item["content"][0]["text"] for item in body["output"] if item["type"] == "message"]
    if stream:
        deltas = [part["delta"] for part in parts if part["type"].endswith("text.delta")]
        assert "".join(deltas) == "".join(said)
    calls = [
        {"id": item["call_id"], "name": item["name"], "arguments": json.loads(item["arguments"])}
        for item in body["output"]
        if item["type"] == "function_call"
    ]
    return "\n\n".join(said), calls


def _read_chat(parts: list[dict[str, Any]], *, stream: bool) -> tuple[str, list[dict[str, Any]]]:
    name = "delta" if stream else "message"
    messages = [choice[name] for part in parts for choice in part["choices"]]
    said = "".join(message.get("content") or "" for message in messages)
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    return said, [
        {
            "id": call["id"],
            "name": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
        }
        for call in calls
    ]


def _read_gemini(parts: list[dict[str, Any]], *, stream: bool) -> tuple[str, list[dict[str, Any]]]:
    assert parts[-1]["candidates"][0]["finishReason"] == "STOP"
    inner = [piece for part in parts for piece in part["candidates"][0]["content"]["parts"]]
    said = "".join(piece.get("text", "") for piece in inner if not piece.get("thought"))
    calls = [piece["functionCall"] for piece in inner if "functionCall" in piece]
    return said, [{"id": "own", "name": call["name"], "arguments": call["args"]} for call in calls]


def _read_messages(
    parts: list[dict[str, Any]], *, stream: bool
) -> tuple[str, list[dict[str, Any]]]:
    if not stream:
        blocks = parts[0]["content"]
    else:
        blocks = [part["content_block"] for part in parts if part["type"] == "content_block_start"]
        for part in parts:
            if part["type"] == "content_block_delta":
                block, delta = blocks[part["index"]], part["delta"]
                if delta["type"] == "text_delta":
                    block["text"] += delta["text"]
                elif delta["type"] == "input_json_delta":
                    block["json"] = block.get("json", "") + delta["partial_json"]
        for block in blocks:
            if "json" in block:
                block["input"] = json.loads(block["json"])
        assert parts[-1]["type"] == "message_stop"
    said = "".join(block["text"] for block in blocks if block["type"] == "text")
    return said, [
        {"id": block["id"], "name": block["name"], "arguments": block["input"]}
        for block in blocks
        if block["type"] == "tool_use"
    ]


READERS = {
    "responses": _read_responses,
    "chat": _read_chat,
    "gemini": _read_gemini,
    "messages": _read_messages,
}


if __name__ == "__main__":
    api, url, how, brief = sys.argv[1:]
    try:
        sys.stdout.write(work(url, api, brief, stream=how == "stream") + "\n")
    except Refused as refused:
        sys.exit(f"small-cli: {refused}")
