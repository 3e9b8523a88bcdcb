"""Results of the conformance kit as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_caesar.reporting.page.overview import GLYPHS, TONES
from pytest_caesar.reporting.page.text import anchor, line
from pytest_caesar.reporting.results.cases import Case
from pytest_caesar.reporting.results.fields import as_mapping, as_mappings, as_text

_GLYPHS: Final = {**GLYPHS, "known": "✗", "not claimed": "\N{EN DASH}", "not run": "·"}
_ORDER: Final = ("failed", "error", "known", "not run", "passed", "skipped", "not claimed")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRow:
    """One requirement with its outcome."""

    id: str
    level: str
    text: str
    outcome: str
    glyph: str
    tone: str
    message: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConformance:
    """The results of one agent: the verdict, and a row for each requirement."""

    agent: str
    verdict: str
    rows: tuple[RequirementRow, ...]
    missed: int


def conformance(document: Mapping[str, Any], kit: Sequence[Case]) -> tuple[AgentConformance, ...]:
    """Return the results for each agent, failures first.

    Args:
        document: its ``conformance`` has them.
        kit: cases of the kit, whose runs rows link to.
    """
    links = {}
    for case in kit:
        if case.runs:
            requirement = case.test.partition("::")[2].partition("[")[0]
            links[requirement, case.agent] = anchor(case.test, case.agent)
    found = []
    for judged in as_mappings(as_mapping(document.get("conformance")).get("agents")):
        agent = as_text(as_mapping(judged.get("agent")).get("id"))
        rows = [
            _row(entry, links.get((as_text(entry.get("id")), agent), ""))
            for entry in as_mappings(judged.get("requirements"))
        ]
        rows.sort(key=lambda row: _ORDER.index(row.outcome) if row.outcome in _ORDER else 2)
        found.append(
            AgentConformance(
                agent=line(agent, limit=60),
                verdict=line(as_text(judged.get("verdict")), limit=300),
                rows=tuple(rows),
                missed=sum(row.tone == "bad" for row in rows),
            )
        )
    return tuple(found)


def _row(entry: Mapping[str, Any], link: str) -> RequirementRow:
    outcome = as_text(entry.get("outcome"))
    if entry.get("known") is True and outcome in ("failed", "error"):
        outcome = "known"
    return RequirementRow(
        id=line(as_text(entry.get("id")), limit=40),
        level=line(as_text(entry.get("level")), limit=20),
        text=line(as_text(entry.get("text")), limit=400),
        outcome=line(outcome.replace("_", " "), limit=40),
        glyph=_GLYPHS.get(outcome, "·"),
        tone="warn" if outcome == "known" else TONES.get(outcome, ""),
        message=line(as_text(entry.get("message")), limit=1000),
        link=link,
    )
