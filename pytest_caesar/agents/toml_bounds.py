"""What a TOML file may hold at most: its reader takes quadratic time, or none too little, for more.

A configuration comes with a repository, and so from anybody.
"""

from __future__ import annotations

import re
from typing import Final

MAX_KEY_PARTS: Final = 32
"""Parts of one dotted key."""

MAX_KEY_WORK: Final = 200_000
"""Sum of the squares of the parts of all dotted keys: the reader takes that many steps."""

MAX_NESTING: Final = 64
"""Brackets and braces inside each other."""

MAX_DIGITS: Final = 400
"""Characters of one number."""

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""'
    r"|'''.*?'''"
    r'|"(?:[^"\\\n]|\\[^\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[A-Za-z0-9_+-]+"
    r"|[.\[\]{}\n]"
    r"|[^\S\n]+"
    r"|.",
    re.DOTALL,
)


class TomlBoundError(ValueError):
    """A text is TOML perhaps, but no configuration.

    Attributes:
        line: 1-based line on which a bound is passed.
        problem: what was found, and what is the most that is read.
    """

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


def check_bounds(text: str) -> None:
    """Refuse a text that its reader would take too long for, or not survive. O(n).

    Raises:
        TomlBoundError: with the line.
    """
    line, depth = 1, 0
    keys = _Keys()
    for match in _TOKEN.finditer(text):
        word = match[0]
        problem = ""
        if word == ".":
            keys.dotted = True
        elif (word[0] in "\"'" and len(word) > 1) or word[0].isalnum() or word[0] in "_+-":
            problem = keys.part(word)
        elif not word.isspace() or word == "\n":
            keys.end()
            depth = max(0, depth + (word in "[{") - (word in "]}"))
            if depth > MAX_NESTING:
                problem = f"more than {MAX_NESTING} brackets inside each other"
        if problem:
            raise TomlBoundError(line, problem)
        line += word.count("\n")


class _Keys:
    """Counts the parts of dotted keys, whatever they are written in."""

    def __init__(self) -> None:
        self.dotted = False
        self._parts = 0
        self._work = 0

    def part(self, word: str) -> str:
        """Take one part; return which bound is passed, or ""."""
        if len(word) > MAX_DIGITS and word[0] in "+-0123456789":
            return f"a number of {len(word)} characters; at most {MAX_DIGITS} are read"
        self._parts = self._parts + 1 if self.dotted else 1
        self._work += 2 * self._parts - 1 if self.dotted else 0
        self.dotted = False
        if self._parts > MAX_KEY_PARTS:
            return f"a key of more than {MAX_KEY_PARTS} parts"
        return "more dotted keys than any configuration needs" if self._work > MAX_KEY_WORK else ""

    def end(self) -> None:
        """Take what is no part of a key."""
        self.dotted, self._parts = False, 0
