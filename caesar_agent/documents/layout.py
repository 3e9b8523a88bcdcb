"""JSON as people read it, also where a document is large; pure."""

from __future__ import annotations

import json
from typing import Any, Final

LARGE: Final = 2000
"""Entries of a list from which on each stands on one line: indenting is some ten times slower."""


def readable(value: Any, **options: Any) -> str:
    """Return JSON with an indent of two; long lists have an entry a line.

    Args:
        value: JSON types.
        options: of ``json.dumps``.

    Raises:
        ValueError: as ``json.dumps``.
    """
    if not _is_large(value, 3):
        return json.dumps(value, indent=2, **options)
    return _laid_out(value, "", options)


def _is_large(value: Any, depth: int) -> bool:
    if isinstance(value, dict):
        inner: Any = value.values()
    elif isinstance(value, list):
        if len(value) >= LARGE:
            return True
        inner = value
    else:
        return False
    return depth > 0 and any(_is_large(one, depth - 1) for one in inner)


def _laid_out(value: Any, margin: str, options: dict[str, Any]) -> str:
    inner = margin + "  "
    if isinstance(value, dict) and value:
        parts = [
            f"{json.dumps(str(name), **options)}: {_laid_out(one, inner, options)}"
            for name, one in value.items()
        ]
        brackets = "{}"
    elif isinstance(value, list) and len(value) >= LARGE:
        parts = [json.dumps(one, **options) for one in value]
        brackets = "[]"
    elif isinstance(value, list) and value and _is_large(value, 3):
        parts = [_laid_out(one, inner, options) for one in value]
        brackets = "[]"
    else:
        return json.dumps(value, indent=2, **options).replace("\n", f"\n{margin}")
    lines = f",\n{inner}".join(parts)
    return f"{brackets[0]}\n{inner}{lines}\n{margin}{brackets[1]}"
