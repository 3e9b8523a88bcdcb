"""Annotations of GitHub Actions: a failure at its test's line, with its cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from caesar_agent.console import one_line, printable
from pytest_caesar.reporting.results.cases import Case, cases_of

MAX_OF_A_KIND: Final = 10
"""Annotations of one kind that GitHub shows of a step."""


def annotation_lines(document: Mapping[str, Any], *, folder: str = "") -> list[str]:
    """Return one command for each broken test, and one for all that are not shown.

    A verdict on trials that was missed is one annotation; its trials are none.

    Args:
        document: as ``--caesar-json`` writes it.
        folder: where paths of the document start, from the root of the repository.
    """
    broken = [case for case in cases_of(document) if case.broken]
    warned = [case for case in cases_of(document) if case.outcome in ("undecided", "xpassed")]
    warned = [case for case in warned if case not in broken]
    return [*_of_kind("error", broken, folder), *_of_kind("warning", warned, folder)]


def _of_kind(kind: str, cases: Sequence[Case], folder: str) -> list[str]:
    shown = cases if len(cases) <= MAX_OF_A_KIND else cases[: MAX_OF_A_KIND - 1]
    lines = [_command(kind, case, folder) for case in shown]
    if len(cases) > len(shown):
        rest = f"{len(cases) - len(shown)} more tests: see the summary of the step"
        lines.append(f"::{kind} title=pytest-caesar::{_data(rest)}")
    return lines


def _command(kind: str, case: Case, folder: str) -> str:
    attempt = case.attempts[-1]
    agent = f" ({case.agent})" if case.agent else ""
    values = {
        "file": str(PurePath(folder, attempt.path)) if attempt.path else "",
        "line": str(attempt.line) if attempt.line and attempt.path else "",
        "title": one_line(case.test.rpartition("::")[2] + agent, limit=200),
    }
    properties = ",".join(f"{name}={_property(value)}" for name, value in values.items() if value)
    cause = case.cause or case.outcome
    return f"::{kind} {properties}::{_data(one_line(cause, limit=400))}"


def _data(text: str) -> str:
    """Escape the message of a command; nothing in it begins a command of its own.

    Source: actions/toolkit, packages/core/src/command.ts, ``escapeData``.
    """
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a property of a command.

    Source: as above, ``escapeProperty``.
    """
    return _data(text).replace(":", "%3A").replace(",", "%2C")
