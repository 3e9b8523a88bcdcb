"""Known failures, listed beside the agent: what is not listed fails, what is stale fails too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from caesar_agent.errors import CaesarError
from pytest_caesar.conformance.requirements import EVERY, RETIRED

BASELINE_NAME = "caesar-conformance-baseline.txt"
"""Looked for where pytest was started, and above up to its rootdir; one id a line, and why behind a #."""

_LINE = re.compile(r"([A-Z]+-\d+)(?:\[([^\]]+)\])?\s*(?:#\s*(.*))?")


class KnownFailuresError(CaesarError):
    """A line of the baseline is not understood.

    Attributes:
        path: the file.
        line: its number, from 1.
        problem: what was found and what is expected.
    """

    path: str
    line: int
    problem: str

    def message(self) -> str:
        """Name the line and the problem."""
        return f"{self.path}:{self.line}: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFailures:
    """Failures that are known.

    Attributes:
        reasons: why, by id and by ``id[agent]``; "" where nobody said.
    """

    reasons: Mapping[str, str] = field(default_factory=dict)

    def knows(self, requirement: str, agent: str) -> str | None:
        """Return why a failure is known, or None when it is not."""
        for name in (f"{requirement}[{agent}]", requirement):
            if name in self.reasons:
                return self.reasons[name]
        return None


def load_known_failures(folder: Path) -> KnownFailures:
    """Read the baseline in a folder; an empty one where there is none.

    Raises:
        KnownFailuresError: on the first line that is not understood.
    """
    path = folder / BASELINE_NAME
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return KnownFailures()
    except (OSError, UnicodeDecodeError) as error:
        raise KnownFailuresError(
            path=str(path), line=1, problem=f"cannot be read: {error}"
        ) from error
    return parse_known_failures(text, path=path)


def parse_known_failures(text: str, *, path: Path) -> KnownFailures:
    """Read the text of a baseline.

    Raises:
        KnownFailuresError: as ``load_known_failures``.
    """
    reasons: dict[str, str] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        problem = _problem(match, line, reasons)
        if match is None or problem:
            raise KnownFailuresError(path=str(path), line=number, problem=problem)
        reasons[_name(match)] = match[3] or ""
    return KnownFailures(reasons=reasons)


def _name(match: re.Match[str]) -> str:
    return f"{match[1]}[{match[2]}]" if match[2] else match[1]


def _problem(match: re.Match[str] | None, line: str, known: Mapping[str, str]) -> str:
    if match is None:
        return f"{line!r} is no line of a baseline: expected an id such as REPORT-003, and # why"
    requirement = match[1]
    if requirement in RETIRED:
        return f"{requirement} was withdrawn: remove the line"
    if requirement not in EVERY:
        return f"{requirement} is no requirement"
    if EVERY[requirement].kind == "advisory":
        return f"{requirement} is advisory and never fails: remove the line"
    if _name(match) in known:
        return f"{_name(match)} is listed twice"
    return ""
