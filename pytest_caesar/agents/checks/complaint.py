"""One complaint about a definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from caesar_agent.console import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What is wrong, what the host does with it, and how it is mended.

    Attributes:
        code: stable, kebab-case.
        severity: ``error`` fails a test; ``note`` is worth knowing and fails nothing.
        path: the file, as it was given.
        line: 1-based line in that file, or None for the file as a whole.
        field: key of the front matter it is about, or "".
        found: what is there.
        effect: what the host does with it.
        mend: what to write instead.
    """

    code: str
    severity: Literal["error", "note"] = "error"
    path: str
    line: int | None = None
    field: str = ""
    found: str
    effect: str
    mend: str

    def as_text(self) -> str:
        """Return three lines: place and finding, effect, mend; control characters escaped."""
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        lines = (f"{place}: {self.found}", f"  the host: {self.effect}", f"  mend: {self.mend}")
        return "\n".join(printable(line) for line in lines)

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "code": self.code,
            "severity": self.severity,
            "path": self.path,
            "line": self.line,
            "field": self.field,
            "found": self.found,
            "effect": self.effect,
            "mend": self.mend,
        }
