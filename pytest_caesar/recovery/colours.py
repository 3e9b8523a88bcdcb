"""A log without its terminal colours, and where its bytes stood.

An escape character is never part of JSON, so nothing that a report says is lost.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

_SEQUENCE = re.compile(
    rb"\x1b\[[0-9;:?]{0,32}[ -/]{0,8}[@-~]"  # colours, cursor
    rb"|\x1b[\]P_^X][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)"  # titles, links, device strings
    rb"|\x1b[ #%()*+\-./][0-Z]"  # character sets, as ``tput sgr0`` names them
    rb"|\x1b[0-9=>Mc]"  # saved cursor, keypad, reset
)

MAX_SEQUENCES = 1_000_000
"""Sequences that are taken out; a log with more is read as it is, so that memory stays bounded."""


class Colourless:
    """A log without terminal sequences.

    Attributes:
        text: what is left.
    """

    def __init__(self, log: bytes) -> None:
        self.text = log
        self._cuts: array[int] = array("q")
        self._removed: array[int] = array("q")
        if b"\x1b" not in log or log.count(b"\x1b") > MAX_SEQUENCES:
            return
        removed = 0
        for match in _SEQUENCE.finditer(log):
            self._cuts.append(match.start() - removed)
            removed += match.end() - match.start()
            self._removed.append(removed)
        if removed:
            self.text = _SEQUENCE.sub(b"", log)

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return where a piece of the text stood in the log."""
        return self._locate(start), self._locate(end - 1) + 1

    def _locate(self, offset: int) -> int:
        before = bisect_right(self._cuts, offset)
        return offset + (self._removed[before - 1] if before else 0)
