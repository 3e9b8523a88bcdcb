"""What differs between a snapshot and what was received: short, and in time; pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from caesar_agent.console import printable

CONTEXT = 3
"""Unchanged lines shown around a difference."""

COMPARED = 2000
"""Lines of either side that are laid beside each other: the time grows with their square."""

SHOWN = 400
"""Lines of the whole difference that a section shows."""

WIDTH = 200
"""Characters of a line that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How two texts differ.

    Attributes:
        line: number of the first line that differs, from 1.
        lines: the difference, marked ``-`` (recorded), ``+`` (received) or blank.
        changed: how many lines are marked; at least, when ``cut``.
        cut: the texts differ in more than was laid beside each other.
    """

    line: int
    lines: tuple[str, ...]
    changed: int
    cut: bool

    def first(self, count: int) -> tuple[str, ...]:
        """Return the first marked lines."""
        return tuple(line for line in self.lines if line[:1] in "+-")[:count]


def compare(recorded: bytes, received: bytes) -> Difference:
    """Lay two texts beside each other; O(n) but for the lines that really differ."""
    old, new = _lines(recorded), _lines(received)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    cut = max(len(left), len(right)) > COMPARED
    body = _body(left[:COMPARED], right[:COMPARED])
    before = old[max(0, start - CONTEXT) : start]
    after = old[len(old) - end :][:CONTEXT] if not cut else []
    lines = [*(f"  {line}" for line in before), *body, *(f"  {line}" for line in after)]
    return Difference(
        line=start + 1,
        lines=tuple(_shown(line) for line in lines),
        changed=sum(line[:1] in "+-" for line in body),
        cut=cut,
    )


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "backslashreplace")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    elif lines:
        lines[-1] += " (no newline at the end)"
    return lines


def _body(left: Sequence[str], right: Sequence[str]) -> list[str]:
    lines: list[str] = []
    matcher = difflib.SequenceMatcher(None, left, right)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            lines += [f"  {line}" for line in left[a:b]]
        else:
            lines += [f"- {line}" for line in left[a:b]]
            lines += [f"+ {line}" for line in right[c:d]]
    return _without_long_contexts(lines)


def _without_long_contexts(lines: list[str]) -> list[str]:
    near = [False] * len(lines)
    for number, line in enumerate(lines):
        if line[0] in "+-":
            low, high = max(0, number - CONTEXT), number + CONTEXT + 1
            near[low:high] = [True] * len(near[low:high])
    kept: list[str] = []
    for line, wanted in zip(lines, near, strict=True):
        if wanted:
            kept.append(line)
        elif not kept or kept[-1] != "  …":
            kept.append("  …")
    return kept


def _shown(line: str) -> str:
    safe = printable(line, keep="\t")
    return safe if len(safe) <= WIDTH else safe[: WIDTH - 1] + "…"
