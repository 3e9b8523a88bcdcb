"""What is wrong with a recording, and what to do about it."""

from __future__ import annotations

from pathlib import Path

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError

ANEW = "record anew with --caesar-record=all"


class RecordingError(CaesarError):
    """A delegation cannot be played back, or cannot be recorded.

    Attributes:
        folder: the recording.
        problem: what was found and what was expected.
        remedy: what to do.
    """

    __module__ = "pytest_caesar"

    folder: Path
    problem: str
    remedy: str = ANEW

    def message(self) -> str:
        """Name the recording, what is wrong with it, and what to do."""
        return f"{self.folder}: {self.problem}; {self.remedy}"


class RecordingMissingError(RecordingError):
    """There is no recording that could be played back."""


class RecordingBrokenError(RecordingError):
    """The files of a recording are not what was written there."""


class RecordingUnfitError(RecordingError):
    """What came of a delegation cannot be kept."""


class RecordingMismatchError(RecordingError):
    """The task is not the one that was recorded.

    Attributes:
        differences: for each field that differs: its name, what was recorded, what it is now.
    """

    differences: tuple[tuple[str, object, object], ...]

    def message(self) -> str:
        """Lay the first fields that differ side by side."""
        names = ", ".join(name for name, _, _ in self.differences)
        lines = [f"{self.folder}: {self.problem}: {names}"]
        for name, recorded, now in self.differences[:3]:
            old, new = _beside(recorded, now)
            lines += [f"  {name}, as recorded: {old}", f"  {name}, now:         {new}"]
        return "\n".join([*lines, f"Where that is meant, {self.remedy}."])


def _beside(recorded: object, now: object) -> tuple[str, str]:
    """Return two values on a line each; where they begin alike, from where they differ."""
    old, new = repr(recorded), repr(now)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    cut = start - 40 if start > 80 else 0
    lead = "…" if cut else ""
    return lead + one_line(old[cut:], limit=160), lead + one_line(new[cut:], limit=160)
