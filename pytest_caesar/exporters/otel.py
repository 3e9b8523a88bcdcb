"""OpenTelemetry spans by the conventions for generative AI.

One trace for each test, one span ``invoke_agent`` for each delegation, a span ``execute_tool``
for each tool call below it. Turn it on with
``-p pytest_caesar.exporters.otel --caesar-export=DIR``; it needs the extra ``otel``. Spans go to
the endpoint in ``OTEL_EXPORTER_OTLP_ENDPOINT`` where one is set and the OTLP exporter is
installed, and to ``DIR/spans.jsonl`` in any case.

Source: OpenTelemetry semantic conventions, "GenAI agent spans".
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_caesar.hooks import hookimpl

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Tracer


@hookimpl
def pytest_caesar_export(document: Mapping[str, Any], folder: Path) -> None:
    """Make the spans of a session, and send them."""
    with (folder / "spans.jsonl").open("w", encoding="utf-8") as file:
        provider = _provider(document, file)
        try:
            make_spans(document, provider.get_tracer("pytest-caesar"))
        finally:
            provider.shutdown()


def make_spans(document: Mapping[str, Any], tracer: Tracer) -> None:
    """Make one trace for each test that delegated."""
    runs: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for run in document.get("runs", ()):
        key = (str(run.get("test", "")), int(run.get("execution") or 1))
        runs.setdefault(key, []).append(run)
    outcomes = {
        (test.get("test"), test.get("execution", 1)): test.get("outcome")
        for test in document.get("tests", ())
    }
    for (test, execution), found in runs.items():
        spans = [_times(run) for run in found]
        start, end = min(one for one, _ in spans), max(one for _, one in spans)
        told = {"test.case.name": test, "test.case.result.status": outcomes.get((test, execution))}
        with _span(tracer, test or "test", start, end, told):
            for run in found:
                _run_span(tracer, run)


def _run_span(tracer: Tracer, run: Mapping[str, Any]) -> None:
    start, end = _times(run)
    usage = run.get("usage") or {}
    report = run.get("report") or {}
    agent = str(run.get("agent") or "agent")
    told = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent,
        "gen_ai.agent.id": agent,
        "gen_ai.conversation.id": run.get("task_id"),
        "gen_ai.usage.input_tokens": usage.get("input_tokens"),
        "gen_ai.usage.output_tokens": usage.get("output_tokens"),
        "gen_ai.request.model": next(iter(usage.get("by_model") or ()), None),
        "error.type": None if report.get("status") == "success" else report.get("status"),
        "caesar.status": report.get("status"),
        "caesar.source": run.get("source"),
        "caesar.changes": len(run.get("changes") or ()),
        "caesar.undeclared": len(run.get("undeclared") or ()),
        "caesar.diagnostics": sorted({one["code"] for one in run.get("diagnostics") or ()}),
        "caesar.cost_usd": usage.get("cost_usd"),
    }
    failed = report.get("status") == "failed"
    with _span(tracer, f"invoke_agent {agent}", start, end, told, failed=failed):
        for call in run.get("tool_calls") or ():
            _call_span(tracer, call, start, end)
        for child in run.get("children") or ():
            _run_span(tracer, child)


def _call_span(tracer: Tracer, call: Mapping[str, Any], start: int, end: int) -> None:
    """Make the span of a tool call; one whose time nobody tells has that of its run."""
    begun = _nanoseconds(call.get("at"))
    seconds = call.get("duration")
    done = end if begun is None or seconds is None else begun + round(seconds * 1e9)
    tool = str(call.get("tool") or "tool")
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "process.exit.code": call.get("exit_code"),
        "caesar.time_known": begun is not None,
    }
    failed = call.get("status") == "failed"
    with _span(
        tracer, f"execute_tool {tool}", start if begun is None else begun, done, told, failed=failed
    ):
        pass


@contextmanager
def _span(
    tracer: Tracer,
    name: str,
    start: int,
    end: int,
    told: Mapping[str, Any],
    *,
    failed: bool = False,
) -> Iterator[None]:
    from opentelemetry.trace import Status, StatusCode, use_span  # noqa: PLC0415 - an extra

    attributes = {key: value for key, value in told.items() if value is not None}
    span = tracer.start_span(name, start_time=start, attributes=attributes)
    with use_span(span, end_on_exit=False):
        yield
    if failed:
        span.set_status(Status(StatusCode.ERROR))
    span.end(max(start, end))


def _times(run: Mapping[str, Any]) -> tuple[int, int]:
    """Return start and end of a run in nanoseconds, from its events and its duration."""
    timeline = run.get("timeline") or ()
    start = _nanoseconds(timeline[0].get("at")) if timeline else None
    duration = (run.get("outcome") or {}).get("duration_ms") or 0
    start = start or 0
    return start, start + duration * 1_000_000


def _nanoseconds(at: object) -> int | None:
    if not isinstance(at, str):
        return None
    try:
        return round(datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() * 1e9)
    except ValueError:
        return None


def _provider(document: Mapping[str, Any], file: Any) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import (  # noqa: PLC0415 - an extra
        BatchSpanProcessor,
        ConsoleSpanExporter,
        SimpleSpanProcessor,
    )

    session = document.get("session") or {}
    resource = Resource.create(
        {
            "service.name": os.environ.get("OTEL_SERVICE_NAME", "pytest-caesar"),
            "vcs.ref.head.revision": session.get("commit") or "",
        }
    )
    provider = TracerProvider(resource=resource)
    exporter = ConsoleSpanExporter(
        out=file, formatter=lambda span: span.to_json(indent=None) + "\n"
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
