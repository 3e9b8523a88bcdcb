"""The native JSON streams of known command lines: to events, and to the agent's own words."""

from __future__ import annotations

import json

from pytest_caesar.recovery.streams.acp import Acp
from pytest_caesar.recovery.streams.antigravity import Antigravity
from pytest_caesar.recovery.streams.base import (
    LineReader,
    OwnText,
    StreamEvent,
    StreamReading,
)
from pytest_caesar.recovery.streams.claude import Claude
from pytest_caesar.recovery.streams.codex import Codex
from pytest_caesar.recovery.streams.copilot import Copilot
from pytest_caesar.recovery.streams.gemini import Gemini
from pytest_caesar.recovery.streams.opencode import OpenCode
from pytest_caesar.recovery.streams.pi import Pi
from pytest_caesar.recovery.streams.qwen import Qwen
from pytest_caesar.recovery.streams.translator import Translator

__all__ = [
    "DIALECTS",
    "OwnText",
    "StreamEvent",
    "StreamReading",
    "Translator",
    "detect",
    "open_translator",
    "tells_creation",
    "translate",
]

DIALECTS: dict[str, type[LineReader]] = {
    reader.name: reader
    for reader in (Codex, OpenCode, Gemini, Qwen, Pi, Claude, Copilot, Antigravity, Acp)
}
"""Every dialect by name; ``verified`` says on which program it was checked. Others may add some."""

OWN_DIALECTS: tuple[type[LineReader], ...] = tuple(DIALECTS.values())
"""Those that come with this package."""

_DETECT_BYTES = 1024 * 1024
"""Bytes of the beginning that detection looks at."""

_DETECT_LINES = 100
"""Lines that detection looks at."""


def open_translator(dialect: str) -> Translator | None:
    """Return a translator for one stream, or None when no dialect has that name."""
    reader = DIALECTS.get(dialect)
    return Translator(reader()) if reader else None


def tells_creation(dialect: str) -> bool:
    """Tell whether a stream says of a file that was written whether it is new."""
    reader = DIALECTS.get(dialect)
    return reader is None or reader.tells_creation


def translate(dialect: str, data: bytes, *, words_only: bool = False) -> StreamReading:
    """Read a whole stream; never raises on any bytes. O(len(data)).

    Args:
        dialect: its name.
        data: the stream.
        words_only: give no events, only the agent's own words, usage and the end.

    Raises:
        KeyError: there is no dialect of that name.
    """
    whole = Translator(DIALECTS[dialect](), keep_events=not words_only, words_only=words_only)
    whole.feed(data)
    return whole.close()


def detect(data: bytes) -> str | None:
    """Name the dialect of a stream, or None when it is plain output.

    At least half of its first lines must be lines of one dialect: a plain log may quote
    a few lines of such a stream.
    """
    head = data[:_DETECT_BYTES]
    lines = head.split(b"\n", _DETECT_LINES)
    if len(lines) > 1 and (len(lines) > _DETECT_LINES or len(head) < len(data)):
        lines.pop()  # the rest, or a line that was cut
    found: dict[str, int] = {}
    seen = 0
    for line in lines:
        stripped = line.strip(b" \t\r")
        if not stripped:
            continue
        seen += 1
        dialect = _recognise(stripped)
        if dialect is not None:
            found[dialect] = found.get(dialect, 0) + 1
    for name, reader in DIALECTS.items():
        if name in found:
            found[name] += found.pop(reader.extends, 0)
    if not found:
        return None
    best = max(found, key=found.__getitem__)
    return best if 2 * found[best] >= seen else None


def _recognise(line: bytes) -> str | None:
    if not line.startswith(b"{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    for name, reader in DIALECTS.items():
        if reader.recognises(value):
            return name
    return None
