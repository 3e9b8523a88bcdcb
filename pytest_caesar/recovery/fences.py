"""The opening lines of report blocks, and where in a block the report begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE_NAME = b"caesar:report"
_FENCE_HEAD = re.compile(rb" {0,3}(`{3,}|~{3,})[ \t]*json[ \t]+")
_FENCE_TAIL = re.compile(rb"[ \t]*\r?(?:\n|\Z)")
_LINE_LIMIT = 256
"""Bytes looked at before and after the name of a block; an opening line is short."""

_PROSE_LIMIT = 4096
"""Bytes between the opening line of a block and its first brace."""

_CLOSING_LINE = re.compile(rb"^ {0,3}(?:`{3,}|~{3,})[ \t]*\r?$", re.MULTILINE)


def opening_lines(text: bytes) -> Iterator[int]:
    """Yield where the back-ticks or tildes of each opening line begin.

    CommonMark's rules: up to three blanks, at least three back-ticks or tildes, and
    as information exactly ``json caesar:report``.
    """
    position = text.find(_FENCE_NAME)
    while position >= 0:
        low = max(0, position - _LINE_LIMIT)
        after = position + len(_FENCE_NAME)
        line = text.rfind(b"\n", low, position) + 1
        if line or low == 0:
            head = _FENCE_HEAD.fullmatch(text, line, position)
            tail = _FENCE_TAIL.match(text, after, after + _LINE_LIMIT)
            if head and tail and (tail.group().endswith(b"\n") or tail.end() == len(text)):
                yield head.start(1)
        position = text.find(_FENCE_NAME, after)


def first_brace(text: bytes, body: int, barrier: int) -> int:
    """Return the first brace of a block, or -1 when it holds none."""
    window = text[body : min(barrier, body + _PROSE_LIMIT)]
    brace = window.find(b"{")
    if brace < 0:
        return -1
    closing = _CLOSING_LINE.search(window)
    return -1 if closing and closing.start() < brace else body + brace
