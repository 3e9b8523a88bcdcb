"""Look into the JSON lines of a stream that nobody knows: texts that it carries as strings.

A program that wraps an agent in JSON of its own prints the report escaped, inside a
string. Such strings are texts like any other, except those whose surroundings say that
they are somebody else's words: the prompt, or what went into or came out of a tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Size of one line that is decoded; bounds the memory of recovery."""

MAX_WRAPPINGS = 4
"""How many times JSON may stand inside a string of JSON."""

_NAME = re.compile(rb"caesar[.:]report")
_MEMBER = re.compile(rb'[ \t]*"[^"\\]{1,100}"[ \t]*:[ \t]*"')
_WORDS = re.compile(r"[a-z]+")

_OTHER_DOCUMENTS = frozenset({"caesar.task/v1", "caesar.event/v1"})

_SPEAKERS = ("role", "author", "type", "event", "kind", "subtype", "channel", "stream")
"""Fields that say whose words an object carries."""

_OTHERS = frozenset({
    "user", "human", "system", "developer", "tool", "function", "exec", "command", "prompt",
    "input", "stdin", "request", "subagent",
})  # fmt: skip
"""Words in those fields, and in the names of fields, that mean: not the agent's."""

_OTHER_FIELDS = frozenset({
    "arguments", "args", "parameters", "params", "input", "inputs", "stdout", "stderr",
    "prompt", "instructions", "command", "aggregated", "tool",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A text that a line of JSON carries.

    Attributes:
        text: the string, decoded; of an object its JSON.
        own: nothing around it says that it is somebody else's.
        escaped: it stood in a string, so that its bytes are not those of the log.
    """

    text: str
    own: bool
    escaped: bool


def wrapped_lines(log: bytes) -> Iterator[tuple[int, int, object]]:
    """Yield the lines of JSON that name a report somewhere, decoded. O(len(log))."""
    done = 0
    for match in _NAME.finditer(log):
        if match.start() < done:
            continue
        start = log.rfind(b"\n", done, match.start()) + 1 or done
        end = log.find(b"\n", match.end())
        end = len(log) if end < 0 else end
        done = end
        if end - start <= MAX_LINE_BYTES:
            value = _decoded(log[start:end])
            if value is not None:
                yield start, end, value


def _decoded(line: bytes) -> object:
    stripped = line.strip(b" \t\r")
    if not stripped.startswith((b"{", b"[", b'"')):
        return None
    if _MEMBER.match(stripped):
        # One member of an object that is spread over several lines.
        stripped = b"{" + stripped.rstrip(b",") + b"}"
    try:
        value: object = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value


def texts(value: object) -> Iterator[Wrapped]:
    """Yield what a decoded line carries that may be or hold a report, in document order."""
    pending: list[tuple[object, bool, int]] = [(value, True, 0)]
    while pending:
        item, own, wrappings = pending.pop()
        if isinstance(item, dict):
            if declares(item):
                if item.get("protocol") not in _OTHER_DOCUMENTS:
                    yield Wrapped(_as_text(item), own, wrappings > 0)
                continue
            own = own and not _names_others(item)
            pending.extend(
                (child, own and not _is_other_field(str(name)), wrappings)
                for name, child in reversed(item.items())
            )
        elif isinstance(item, list):
            pending.extend((child, own, wrappings) for child in reversed(item))
        elif isinstance(item, str) and _may_hold(item):
            inner = _inner(item) if wrappings < MAX_WRAPPINGS else None
            if inner is not None:
                pending.append((inner, own, wrappings + 1))
            else:
                yield Wrapped(item, own, escaped=True)


def _as_text(item: dict[str, object]) -> str:
    try:
        return json.dumps(item, ensure_ascii=False)
    except RecursionError:
        # Deeper than reports may be: what is left of it is a broken one.
        return '{"protocol": "caesar.report/v1", '


def _may_hold(item: str) -> bool:
    return "caesar:report" in item or ("caesar.report" in item and "protocol" in item)


def _inner(item: str) -> object:
    """Return what a string that is itself wrapped JSON holds, unless it is a document."""
    stripped = item.strip()
    if not stripped.startswith(("{", "[", '"')):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return None if declares(value) else value


def declares(value: object) -> bool:
    """Say whether a value is itself a document of the contract."""
    protocol = value.get("protocol") if isinstance(value, dict) else None
    return isinstance(protocol, str) and protocol.startswith("caesar.")


def _names_others(item: dict[str, object]) -> bool:
    for name in _SPEAKERS:
        value = item.get(name)
        if isinstance(value, str) and not _OTHERS.isdisjoint(_WORDS.findall(value[:80].lower())):
            return True
    return False


def _is_other_field(name: str) -> bool:
    return not _OTHER_FIELDS.isdisjoint(_WORDS.findall(name[:80].lower()))
