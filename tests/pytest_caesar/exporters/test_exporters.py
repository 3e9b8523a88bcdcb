"""What exporters write, from a session of the example package's agent."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_caesar.exporters import otel

ACME = Path(__file__).parent.parent / "extensions" / "acme"

STEP = {
    "type": "object",
    "required": ["step_id", "source", "message"],
    "additionalProperties": False,
    "properties": {
        "step_id": {"type": "integer", "minimum": 1},
        "timestamp": {"type": "string"},
        "source": {"enum": ["system", "user", "agent"]},
        "model_name": {"type": "string"},
        "reasoning_effort": {"type": ["string", "number"]},
        "message": {"type": "string"},
        "reasoning_content": {"type": "string"},
        "tool_calls": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool_call_id", "function_name", "arguments"],
                "additionalProperties": False,
                "properties": {
                    "tool_call_id": {"type": "string"},
                    "function_name": {"type": "string"},
                    "arguments": {"type": "object"},
                },
            },
        },
        "observation": {
            "type": "object",
            "required": ["results"],
            "properties": {
                "results": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {
                            "source_call_id": {"type": "string"},
                            "content": {"type": "string"},
                        },
                    },
                }
            },
        },
        "metrics": {"type": "object"},
        "extra": {"type": "object"},
    },
}
ATIF: dict[str, Any] = {
    "type": "object",
    "required": ["schema_version", "session_id", "agent", "steps"],
    "additionalProperties": False,
    "properties": {
        "schema_version": {"const": "ATIF-v1.4"},
        "session_id": {"type": "string", "minLength": 1},
        "agent": {
            "type": "object",
            "required": ["name", "version"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string"},
                "version": {"type": "string"},
                "model_name": {"type": "string"},
                "extra": {"type": "object"},
            },
        },
        "steps": {"type": "array", "items": STEP, "minItems": 1},
        "notes": {"type": "string"},
        "final_metrics": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "total_prompt_tokens": {"type": "integer"},
                "total_completion_tokens": {"type": "integer"},
                "total_cached_tokens": {"type": "integer"},
                "total_cost_usd": {"type": "number"},
                "total_steps": {"type": "integer"},
                "extra": {"type": "object"},
            },
        },
        "extra": {"type": "object"},
    },
}
"""From the tables of the RFC; the project publishes models of pydantic, and no schema."""


@pytest.fixture
def exported(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that both exporters wrote into."""
    pytest.importorskip("opentelemetry.sdk", reason='pip install "pytest-caesar[otel]"')
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.setenv("PATH", str(ACME), prepend=":")
    monkeypatch.syspath_prepend(ACME)
    pytester.makepyfile(
        "def test_it(caesar_repo, caesar_orchestrator):\n"
        "    caesar_repo.commit({'a': ''})\n"
        "    caesar_orchestrator.delegate('One')\n"
        "    caesar_orchestrator.delegate('Two')\n"
    )
    plugins = ("acme_caesar", "pytest_caesar.exporters.atif", "pytest_caesar.exporters.otel")
    result = pytester.runpytest_inprocess(
        *("-p", "no:randomly"),
        *(word for plugin in plugins for word in ("-p", plugin)),
        "--caesar-agent=acme",
        "--caesar-export=out",
    )
    result.assert_outcomes(passed=1)
    assert "problem" not in result.stdout.str()
    return pytester.path / "out"


def test_what_is_exported(exported: Path) -> None:
    files = sorted(exported.glob("*.atif.json"))
    assert [path.name.rpartition("test_it-")[2] for path in files] == [
        "t_0001.atif.json",
        "t_0002.atif.json",
    ]
    document = json.loads(files[0].read_text())
    Draft202012Validator(ATIF).validate(document)
    assert [step["step_id"] for step in document["steps"]] == list(range(1, 6))
    assert document["steps"][0]["message"].startswith("You are a sub-agent.")
    assert document["steps"][1]["message"] == "I write hello.py."
    [call] = document["steps"][3]["tool_calls"]
    assert (call["function_name"], call["arguments"]) == ("shell", {"command": "pytest -q"})
    assert document["steps"][3]["observation"]["results"][0]["content"] == "failed, exit code 1"
    assert document["final_metrics"]["total_prompt_tokens"] == 120

    spans = [json.loads(line) for line in (exported / "spans.jsonl").read_text().splitlines()]
    by_id = {span["context"]["span_id"]: span for span in spans}
    assert len({span["context"]["trace_id"] for span in spans}) == 1
    parents = [
        (span["name"], by_id[span["parent_id"]]["name"] if span["parent_id"] else None)
        for span in spans
    ]
    [test] = {name for name, parent in parents if parent is None}
    assert test.endswith("::test_it")
    assert sorted(parents, key=str) == sorted(
        [
            *[("execute_tool shell", "invoke_agent acme")] * 2,
            *[("invoke_agent acme", test)] * 2,
            (test, None),
        ],
        key=str,
    )
    [run, *_] = [span for span in spans if span["name"] == "invoke_agent acme"]
    assert run["attributes"]["gen_ai.usage.input_tokens"] == 120
    assert run["attributes"]["gen_ai.operation.name"] == "invoke_agent"
    assert run["attributes"]["caesar.diagnostics"] == ["acme/no-changelog", "no-credentials"]
    tool = next(span for span in spans if span["name"] == "execute_tool shell")
    assert (tool["status"]["status_code"], tool["attributes"]["process.exit.code"]) == ("ERROR", 1)


def test_spans_reach_a_collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = pytest.importorskip(
        "opentelemetry.proto.collector.trace.v1.trace_service_pb2",
        reason="pip install opentelemetry-exporter-otlp-proto-http",
    )
    received: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            zipped = self.headers.get("Content-Encoding") == "gzip"
            received.append(gzip.decompress(body) if zipped else body)
            assert self.path == "/v1/traces"
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_address[1]}"
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
            run = {"test": "test_it", "task_id": "t_0001", "agent": "acme", "report": {}}
            calls = [{"tool": "shell", "status": "failed", "exit_code": 1}]
            otel.pytest_caesar_export({"runs": [{**run, "tool_calls": calls}]}, tmp_path)
        finally:
            server.shutdown()
            thread.join()
    [body] = received
    [resource] = trace.ExportTraceServiceRequest.FromString(body).resource_spans
    names = [span.name for scope in resource.scope_spans for span in scope.spans]
    assert sorted(names) == ["execute_tool shell", "invoke_agent acme", "test_it"]
