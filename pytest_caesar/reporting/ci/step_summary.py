"""The summary of a step of GitHub Actions: the verdict, a table, failures with their cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from caesar_agent.console import printable
from pytest_caesar.reporting.ci.markdown import code, escaped, table
from pytest_caesar.reporting.page.overview import cell, sentence, totals
from pytest_caesar.reporting.page.text import plural
from pytest_caesar.reporting.results.cases import KIT, Case, cases_of
from pytest_caesar.reporting.results.fields import as_mapping, as_mappings, as_text

MAX_BYTES: Final = 1024 * 1024
"""Bytes of a step summary: GitHub refuses one that is larger, whole."""

ROWS: Final = 1000
"""Rows of the table; failures come first."""

DETAILS: Final = 20
"""Failures that are shown with what pytest says of them."""

_ENDING: Final = 100
"""Bytes that closing what is open, and saying that something is left out, take at most."""

DETAIL_LINES: Final = 40
"""Last lines of one of them."""


def step_summary(document: Mapping[str, Any], *, room: int = MAX_BYTES) -> str:
    """Return markdown about a session, at most ``room`` bytes of it.

    Args:
        document: as ``--caesar-json`` writes it.
        room: bytes that the step's summary has left.
    """
    everything = cases_of(document)
    kit = [case for case in everything if case.test.startswith(f"{KIT}::")]
    cases = [
        case
        for case in everything
        if (case.runs or case.broken) and not case.test.startswith(f"{KIT}::")
    ]
    verdict, tone = sentence(cases or kit, document)
    sign = {"good": "✅", "bad": "❌"}.get(tone, "⚠️")
    lines = [f"### {sign} {escaped(verdict, limit=400)}", ""]
    if cases:
        told = escaped(totals(cases), limit=400)
        lines += [told, ""] if told else []
    lines += _conformance(document)
    if cases:
        lines += _table(cases)
    broken = [case for case in (*cases, *kit) if case.broken]
    for case in broken[:DETAILS]:
        lines += _failure(case)
    if len(broken) > DETAILS:
        lines.append(f"and {plural(len(broken) - DETAILS, 'more failure')}.")
    return bounded(lines, room)


def bounded(lines: Sequence[str], room: int) -> str:
    """Return as many whole lines as there is room for, and say when some are left out.

    What is cut inside of a block of code or of a folded part is closed.
    """
    text = "\n".join(lines) + "\n"
    if len(text.encode()) <= room:
        return text
    left = room - _ENDING
    kept: list[str] = []
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            break
        kept.append(line)
    fenced = sum(line.startswith("```") for line in kept) % 2
    folded = sum(line.startswith("<details>") - line.startswith("</details>") for line in kept)
    closing = [*(["```"] if fenced else []), *(["", "</details>"] if folded else [])]
    told = ["", "The rest is left out: the summary is full.", ""]
    whole = "\n".join([*kept, *closing, *told])
    return whole if len(whole.encode()) <= room else ""


def _conformance(document: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{escaped(as_text(as_mapping(judged.get('agent')).get('id')), limit=60)}: "
        f"{escaped(as_text(judged.get('verdict')), limit=200)}"
        for judged in as_mappings(as_mapping(document.get("conformance")).get("agents"))
    ]
    return [*lines, ""] if lines else []


def _table(cases: Sequence[Case]) -> list[str]:
    cells = [cell(case) for case in cases[:ROWS]]
    optional = [
        (name, title)
        for name, title in (
            ("report", "report"),
            ("trials", "trials"),
            ("changes", "changes"),
            ("tokens", "tokens"),
            ("cost", "cost"),
            ("time", "time"),
        )
        if any(getattr(one, name) for one in cells)
    ]
    rows = [
        (
            f"{one.glyph} {escaped(one.outcome, limit=40)}",
            code(case.test),
            escaped(case.agent, limit=60),
            *(escaped(getattr(one, name), limit=80) for name, _ in optional),
        )
        for case, one in zip(cases, cells, strict=False)
    ]
    more = [f"and {len(cases) - ROWS} more.", ""] if len(cases) > ROWS else []
    return [*table(("", "test", "agent", *(title for _, title in optional)), rows), "", *more]


def _failure(case: Case) -> list[str]:
    cause = escaped(case.cause or case.outcome, limit=400)
    lines = [f"**{code(case.test)}** {escaped(case.agent, limit=60)}: {cause}", ""]
    details = next((one.details for one in reversed(case.attempts) if one.details), "")
    if details:
        shown = printable(details, keep="\n\t").rstrip().split("\n")[-DETAIL_LINES:]
        # An indented fence of an agent would end ours; a longer one does not.
        fenced = [line.replace("```", "'''") for line in shown]
        lines += ["<details><summary>What pytest says</summary>", "", "```text", *fenced, "```",
                  "", "</details>", ""]  # fmt: skip
    return lines
