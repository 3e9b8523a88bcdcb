"""What reading front matter line by line did to it."""

from __future__ import annotations

import re

from pytest_caesar.agents.front_matter import FrontMatter

_READ = frozenset(
    {"name", "description", "tools", "spawns", "model", "thinkingLevel", "output", "blocking"}
)
_KEY = re.compile(r"[A-Za-z0-9_-]+:")
_QUOTES = frozenset("\"'")
_MARKS = _QUOTES | frozenset("[{|>")


def fallback_damage(front: FrontMatter) -> tuple[str, ...]:
    """Name what the line fallback changed in the fields that are read.

    Args:
        front: front matter with ``fallback`` true; otherwise nothing was changed.

    Returns:
        One phrase for each damaged field, then one for lines that were lost.
    """
    if not front.fallback:
        return ()
    hurt = [
        f"{name} keeps its {'quotes' if value[0] in _QUOTES else 'brackets or block sign'}"
        for name, value in front.fields.items()
        if name in _READ and isinstance(value, str) and value[:1] in _MARKS
    ]
    lines = front.metadata.split("\n")
    lost = sum(1 for line in lines if _means_something(line) and not _KEY.match(line))
    if lost:
        word = "lines that start no key are" if lost > 1 else "line that starts no key is"
        hurt.append(f"{lost} {word} lost")
    return tuple(hurt)


def _means_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
