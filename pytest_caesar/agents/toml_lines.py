"""Find the line of a key in a TOML file: the reader of the standard library tells none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple["str | int", ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
_KEY = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=\s*(.*)$")
_PARTS = re.compile(_PART)


def line_of(text: str, path: Path) -> int | None:
    """Return the 1-based line on which a key or table of a valid TOML text stands.

    Args:
        text: the file.
        path: keys and, for arrays of tables, indices: ``("agent", 1, "bin")``.

    Returns:
        The line of the key (of its first entry, where it is an array of tables), else
        of the nearest table around it, else None.
    """
    best: tuple[int, int] | None = None
    for line, found in _places(text):
        depth = min(len(found), len(path))
        if path[:depth] == found[:depth] and (best is None or depth > best[0]):
            best = (depth, line)
    return best[1] if best else None


def _places(text: str) -> Iterator[tuple[int, Path]]:
    table: Path = ()
    counts: dict[str, int] = {}
    closing: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if closing is not None:
            closing = None if closing in line else closing
            continue
        if header := _HEADER.match(line):
            names = tuple(_bare(part) for part in _PARTS.findall(header[2]))
            if header[1] == "[[" and len(names) == 1:
                index = counts.get(names[0], -1) + 1
                counts[names[0]] = index
                table = (names[0], index)
            else:
                table = names
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *(_bare(part) for part in _PARTS.findall(key[1])))
            closing = _open_string(key[2])


def _bare(part: str) -> str:
    return part[1:-1] if part[0] in "\"'" else part


def _open_string(value: str) -> str | None:
    for quotes in ('"""', "'''"):
        if value.count(quotes) % 2:
            return quotes
    return None
