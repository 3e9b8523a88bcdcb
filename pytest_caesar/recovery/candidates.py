"""The texts in which a report may stand, and the places in them that were looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_caesar.recovery.decoding import Reading
from pytest_caesar.recovery.evidence import Form

Kind = Literal["report", "broken", "version", "foreign", "echo", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text in which a report may stand.

    Attributes:
        text: UTF-8, bad bytes and all.
        start, end: where it stands in the log, in bytes.
        verbatim: it stands there byte for byte, so that offsets in it are offsets in the log.
        excluded: starts and ends, by turns, of lines in which objects do not count.
    """

    text: bytes
    start: int
    end: int
    verbatim: bool = False
    excluded: Sequence[int] = ()

    def excludes(self, offset: int) -> bool:
        """Say whether objects at this offset do not count."""
        return bisect_right(self.excluded, offset) % 2 == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One place that was looked at.

    Attributes:
        kind: what it turned out to be.
        form: how it was written.
        reading: its content, as far as it could be read.
        order: sorts places by where they stand.
        passage: the text it stands in.
        offset: where it begins in that text.
        start, end: where it stands in the log, in bytes.
    """

    kind: Kind
    form: Form
    reading: Reading
    order: tuple[int, int]
    passage: Passage
    offset: int
    start: int
    end: int

    @property
    def place(self) -> str:
        """Where it stands, for a message: the line where that is known, else the byte."""
        if self.passage.verbatim and self.passage.start == 0:
            line = self.passage.text.count(b"\n", 0, self.offset) + 1
            return f"line {line}"
        return f"byte {self.start}"
