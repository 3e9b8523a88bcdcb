"""Reading JSON that somebody else wrote: what has another type than expected is absent."""

from __future__ import annotations

import json
from typing import Any


def items(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: object) -> dict[str, Any]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """Return a text, or an empty one."""
    return value if isinstance(value, str) else ""


def content_text(value: object) -> str:
    """Return the text of a message, whose content is a text or a list of parts with texts."""
    if isinstance(value, str):
        return value
    return "\n".join(found for part in items(value) if (found := text(part.get("text"))))


def arguments(value: object) -> dict[str, Any] | str:
    """Return the arguments of a call: an object, from its JSON where that is what there is."""
    if isinstance(value, dict):
        return value
    try:
        read = json.loads(text(value) or "{}")
    except (ValueError, RecursionError):
        return text(value)
    return read if isinstance(read, dict) else text(value)


def compact(value: object) -> str:
    """Return JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sse(value: object, *, event: str | None = None) -> bytes:
    """Return one server-sent event."""
    head = f"event: {event}\n" if event else ""
    data = value if isinstance(value, str) else compact(value)
    return f"{head}data: {data}\n\n".encode("utf-8", "surrogatepass")
