"""Find the line of a key in a TOML file: the reader of the standard library tells none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple["str | int", ...]

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
_KEY = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=\s*(.*)$")
_PARTS = re.compile(_PART)


class Lines:
    """The lines of all keys and tables of a valid TOML text, looked up once.

    Args:
        text: the file.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._index: dict[Path, int] | None = None

    def of(self, path: Path) -> int | None:
        """Return the 1-based line on which a key or table is.

        Args:
            path: keys and, for arrays of tables, indices: ``("agent", 1, "bin")``.

        Returns:
            The line of the key (of its first entry, where it is an array of tables), else
            of the nearest table around it, else None.
        """
        if self._index is None:
            self._index = {}
            for line, found in _places(self._text):
                for depth in range(len(found) + 1):
                    self._index.setdefault(found[:depth], line)
        for depth in range(len(path), 0, -1):
            if path[:depth] in self._index:
                return self._index[path[:depth]]
        return None


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
