"""A definition as its author sees it: lines of the file, and where each key stands."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from pytest_caesar.agents.front_matter import FrontMatter, camel, parse_front_matter

_KEY = re.compile(r"([A-Za-z0-9_-]+)[ \t]*:(?:\s|$)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that is checked.

    Attributes:
        path: as it was given.
        data: its bytes.
        text: its text, line ends normalised; a byte-order mark is its first character.
        front: what the host reads.
        keys: key in camel case, key as written, 1-based line; in the order of the file.
    """

    path: str
    data: bytes
    text: str
    front: FrontMatter
    keys: tuple[tuple[str, str, int], ...]

    def line_of(self, field: str) -> int | None:
        """Return the line of the last key of that name, which is the one that counts."""
        lines = [line for name, _, line in self.keys if name == field]
        return lines[-1] if lines else None


def read_source(data: bytes, *, path: str) -> SourceFile:
    """Read a file for checking; never raises."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    front = parse_front_matter(text)
    return SourceFile(path=path, data=data, text=text, front=front, keys=_keys(text, front))


def original_lines(text: str) -> list[int]:
    """Return, for each line of the text without comments, its 1-based line in the text."""
    lines = [1]
    current = 1
    end = text.rfind("-->") + 3
    position = 0
    for comment in _COMMENT.finditer(text, 0, max(end, 0)):
        kept = text[position : comment.start()]
        for _ in range(kept.count("\n")):
            current += 1
            lines.append(current)
        current += comment[0].count("\n")
        position = comment.end()
    for _ in range(text.count("\n", position)):
        current += 1
        lines.append(current)
    return lines


def _keys(text: str, front: FrontMatter) -> tuple[tuple[str, str, int], ...]:
    if not front.present:
        return ()
    first = 2 if text[3:4] == "\n" else 1
    lines = original_lines(text)
    found = _top_keys(front.metadata) if not front.fallback else None
    if found is None:
        found = [
            (match[1], number)
            for number, line in enumerate(front.metadata.split("\n"))
            if (match := _KEY.match(line + " "))
        ]
    return tuple(
        (camel(key), key, lines[min(number + first, len(lines)) - 1]) for key, number in found
    )


def _top_keys(metadata: str) -> list[tuple[str, int]] | None:
    """Return the keys of the outermost mapping with their 0-based lines."""
    try:
        node = yaml.compose(metadata.replace("\t", "  ") + "\n", Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(str(key.value), key.start_mark.line) for key, _ in node.value]
