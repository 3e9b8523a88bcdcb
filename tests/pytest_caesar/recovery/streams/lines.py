"""Helpers for the tests of the dialects."""

from __future__ import annotations

import json
from typing import Any

from pytest_caesar.recovery.streams.base import StreamReading
from pytest_caesar.recovery.streams.dialects import translate
from pytest_caesar.recovery.usage import NUMBERS


def stream(*lines: object) -> bytes:
    """Objects become JSON lines, text stands as it is."""
    return b"".join(
        (line if isinstance(line, str) else json.dumps(line)).encode() + b"\n" for line in lines
    )


def read(dialect: str, *lines: object) -> StreamReading:
    return translate(dialect, stream(*lines))


def events(reading: StreamReading) -> list[dict[str, Any]]:
    return [{"type": event.type, **event.fields} for event in reading.events]


def told(dialect: str, *lines: object) -> list[dict[str, Any]]:
    return events(read(dialect, *lines))


def tool(name: str, call: str, summary: str, status: str) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "tool": name,
        "id": call,
        "input_summary": summary,
        "status": status,
    }


def skipped(reading: StreamReading) -> list[str]:
    return [diagnostic.message for diagnostic in reading.diagnostics]


def numbers(reading: StreamReading) -> dict[str, Any]:
    """Return what is known of usage, and nothing else."""
    values = {name: getattr(reading.usage, name) for name in NUMBERS}
    return {name: value for name, value in values.items() if value is not None}
