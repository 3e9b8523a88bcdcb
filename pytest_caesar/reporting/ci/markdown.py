"""Markdown of GitHub and GitLab in which nothing that an agent wrote acts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from caesar_agent.console import one_line

_ACTIVE: Final = re.compile(r"([\\`*_{}\[\]()<>#+!|~$-])")
_MENTION: Final = re.compile(r"(?<=[@#:])(?=\w)|(?<=\bhttp)(?=s?:)|(?<=\bwww)(?=\.)")


def escaped(text: str, *, limit: int = 300) -> str:
    """Return a text on one line that shows as it is: no markup, no mention, no link.

    Args:
        text: from anybody.
        limit: characters of it at most.
    """
    line = one_line(text, limit=limit)
    # A word joiner would be invisible in what people copy; an empty comment is not in it.
    return _MENTION.sub("<!-- -->", _ACTIVE.sub(r"\\\1", line.replace("&", "&amp;")))


def code(text: str, *, limit: int = 300) -> str:
    """Return a text as code; back-ticks in it become quotes."""
    line = one_line(text, limit=limit).replace("`", "'").replace("|", "\\|")
    return f"`{line}`" if line else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; cells are markdown already."""
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
