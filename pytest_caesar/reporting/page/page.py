"""A document of ``--caesar-json`` as one HTML file."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from caesar_agent.diagnostics import CODES
from pytest_caesar.reporting.page.case import CaseView, case_view
from pytest_caesar.reporting.page.conformance import AgentConformance, conformance
from pytest_caesar.reporting.page.overview import TONES, Table, facts, sentence, table
from pytest_caesar.reporting.page.run import RunView
from pytest_caesar.reporting.page.text import line, plural
from pytest_caesar.reporting.remedies import REMEDIES
from pytest_caesar.reporting.results.cases import KIT, Case, cases_of
from pytest_caesar.reporting.results.fields import as_texts

if TYPE_CHECKING:
    import jinja2
    import markupsafe

    from pytest_caesar.reporting.results.comparison import Comparison

ASSETS: Final = resources.files(__package__) / "assets"
"""The template, its style and its script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a code of a finding means, and what to do about it."""

    code: str
    meaning: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """Everything that the page shows.

    Attributes:
        verdict, tone: the sentence at the top, and its colour.
        facts: where the results come from.
        gaps: what is missing of a session in several shards.
        bar: outcomes as shares of the whole: tone, start and width in 1/1000.
        counts: outcomes by tone, in words, for the filter.
        table: tests by agents.
        cases: the details of each.
        kit: runs of the conformance kit.
        conformance: its results, for each agent.
        comparison: what a baseline had beside it, or None.
        instructions: texts on how to report that briefs share, by number.
        explanations: of the codes that occur.
    """

    verdict: str
    tone: str
    facts: tuple[tuple[str, str], ...]
    gaps: tuple[str, ...]
    bar: tuple[tuple[str, int, int], ...]
    counts: tuple[tuple[str, str, int], ...]
    table: Table
    cases: tuple[CaseView, ...]
    kit: tuple[CaseView, ...]
    conformance: tuple[AgentConformance, ...]
    comparison: Comparison | None
    instructions: Mapping[str, int]
    explanations: tuple[Explanation, ...]


def render(document: Mapping[str, Any], *, comparison: Comparison | None = None) -> str:
    """Return the page as HTML: one file, which loads nothing.

    Args:
        document: as ``--caesar-json`` writes it, or ``merge`` makes it of several.
        comparison: what a baseline had beside it.
    """
    style = (ASSETS / "page.css").read_text("utf-8")
    script = (ASSETS / "page.js").read_text("utf-8")
    return _template().render(
        page=page_view(document, comparison=comparison),
        policy=policy(style, script),
        style=style,
        script=script,
        remedies=REMEDIES,
    )


def policy(style: str, script: str) -> str:
    """Return the content security policy: nothing but this style and this script.

    Source: Content Security Policy Level 3, "hash-source"; the hash is of the element's text.
    """
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@functools.cache
def _template() -> jinja2.Template:
    import jinja2  # noqa: PLC0415 - only where a page is made

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (ASSETS / name).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["plural"] = plural
    environment.filters["marked"] = _marked
    environment.filters["line"] = line
    return environment.get_template("page.html.jinja")


def _marked(text: str) -> markupsafe.Markup:
    """Set what is between back-ticks as code; for texts of our own."""
    import markupsafe  # noqa: PLC0415 - comes with jinja2

    parts = [markupsafe.escape(part) for part in text.split("`")]
    inside = (f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
    return markupsafe.Markup("").join(map(markupsafe.Markup, inside))


def page_view(document: Mapping[str, Any], *, comparison: Comparison | None = None) -> PageView:
    """Return what the page shows of a document."""
    everything = cases_of(document)
    kit = [case for case in everything if case.test.startswith(f"{KIT}::")]
    shown = [
        case
        for case in everything
        if (case.runs or case.broken) and not case.test.startswith(f"{KIT}::")
    ]
    beside = comparison.words() if comparison is not None else {}
    cases = tuple(case_view(case, beside.get(case.key, "")) for case in shown)
    of_kit = tuple(case_view(case) for case in kit if case.runs)
    judged = conformance(document, kit)
    verdict, tone = sentence(shown or kit, document)
    missed = sum(one.missed for one in judged)
    if missed and shown:
        verdict = f"{verdict.rstrip('.')}; {plural(missed, 'requirement')} not met."
        tone = "bad"
    runs = [run for case in (*cases, *of_kit) for run in case.views]
    return PageView(
        verdict=verdict,
        tone=tone,
        facts=facts(document, shown),
        gaps=tuple(line(text, limit=400) for text in as_texts(document.get("incomplete"))),
        bar=_bar(shown),
        counts=_counts(cases),
        table=table(shown, beside),
        cases=cases,
        kit=of_kit,
        conformance=judged,
        comparison=comparison,
        instructions=_instructions(runs),
        explanations=_explanations(runs),
    )


def _all(runs: Sequence[RunView]) -> list[RunView]:
    return [one for run in runs for one in (run, *_all(run.children))]


def _instructions(runs: Sequence[RunView]) -> dict[str, int]:
    texts = dict.fromkeys(run.instructions for run in _all(runs) if run.instructions)
    return {text: number for number, text in enumerate(texts, 1)}


def _explanations(runs: Sequence[RunView]) -> tuple[Explanation, ...]:
    codes = {entry.code for run in _all(runs) for entry in run.diagnostics}
    return tuple(
        Explanation(code=code, meaning=CODES[code], remedy=REMEDIES.get(code, ""))
        for code in sorted(codes)
        if code in CODES
    )


_TONES: Final = (("bad", "failed"), ("warn", "open"), ("good", "passed"), ("none", "skipped"))


def _counts(cases: Sequence[CaseView]) -> tuple[tuple[str, str, int], ...]:
    found = [
        (tone, word, sum((case.cell.tone or "none") == tone for case in cases))
        for tone, word in _TONES
    ]
    return tuple(entry for entry in found if entry[2])


def _bar(cases: Sequence[Case]) -> tuple[tuple[str, int, int], ...]:
    total = len(cases)
    parts: list[tuple[str, int, int]] = []
    seen = 0
    for tone, _ in _TONES:
        count = sum((TONES.get(case.outcome) or "none") == tone for case in cases)
        if count:
            start, end = 1000 * seen // total, 1000 * (seen + count) // total
            parts.append((tone, start, max(end - start, 4)))
            seen += count
    return tuple(parts)
