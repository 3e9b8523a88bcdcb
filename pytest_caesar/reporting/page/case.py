"""The details of one test with one agent: its failure, its trials, its runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from pytest_caesar.reporting.page.overview import GLYPHS, TONES, WORDS, Cell, cell, rate_words
from pytest_caesar.reporting.page.run import RunView, run_view
from pytest_caesar.reporting.page.text import Passage, anchor, first_bytes, line, plural
from pytest_caesar.reporting.results.cases import Attempt, Case
from pytest_caesar.reporting.results.fields import as_int, as_list, as_mapping, as_mappings, as_text

CAUSES: Final = 20
"""Causes of failed trials that are named, and trials of one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One trial in the strip."""

    number: str
    glyph: str
    tone: str
    word: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptView:
    """One execution of the test.

    Attributes:
        title: which one, or "" where there is one alone.
        outcome, glyph, tone: what became of it.
        failure: what pytest showed, or nothing.
        runs: pairs of a fragment and a delegation.
    """

    title: str
    outcome: str
    glyph: str
    tone: str
    failure: Passage
    runs: tuple[tuple[str, RunView], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """A test with an agent.

    Attributes:
        test, agent: which.
        module, name: the parts of the test's id.
        cell: as in the table.
        where: file and line of the test, or "".
        again: the command that runs it again, or "".
        rate: what the trials came to, or "".
        strip: one mark for each trial.
        causes: why trials failed, the most frequent first.
        attempts: its executions, or trials.
    """

    test: str
    agent: str
    module: str
    name: str
    cell: Cell
    where: str
    again: str
    rate: str
    strip: tuple[Mark, ...]
    causes: tuple[str, ...]
    attempts: tuple[AttemptView, ...]

    @property
    def views(self) -> tuple[RunView, ...]:
        """All its delegations."""
        return tuple(run for attempt in self.attempts for _, run in attempt.runs)


def case_view(case: Case, beside: str = "") -> CaseView:
    """Return what the page shows of a test with an agent."""
    module, _, name = case.test.partition("::")
    first = case.attempts[0]
    several = len(case.attempts) > 1
    trials = any(attempt.trial is not None for attempt in case.attempts)
    numbers: dict[int, int] = {}
    attempts = []
    marks = []
    for attempt in case.attempts:
        trial = attempt.trial or 1
        links = []
        for _ in attempt.runs:
            numbers[trial] = number = numbers.get(trial, 0) + 1
            links.append(_run_link(case, trial, number))
        if trials:
            marks.append(_mark(attempt, links[0] if links else anchor(case.test, case.agent)))
        attempts.append(
            AttemptView(
                title=_title(attempt) if several else "",
                outcome=WORDS.get(attempt.outcome, attempt.outcome or "not known"),
                glyph=GLYPHS.get(attempt.outcome, "·"),
                tone=TONES.get(attempt.outcome, ""),
                failure=first_bytes(attempt.details or attempt.cause),
                runs=tuple(zip(links, map(run_view, attempt.runs), strict=True)),
            )
        )
    again = next((one.again for one in case.attempts if one.again), "")
    return CaseView(
        test=line(case.test, limit=400),
        agent=line(case.agent, limit=60),
        module=line(module if name else "", limit=200),
        name=line(name or module, limit=300),
        cell=cell(case, beside),
        where=line(f"{first.path}:{first.line}" if first.line else first.path, limit=400),
        again=line(again, limit=2000),
        rate=_rate(case.verdict),
        strip=tuple(marks),
        causes=tuple(map(_cause, as_mappings(case.verdict.get("causes"))))[:CAUSES],
        attempts=tuple(attempts),
    )


def _run_link(case: Case, trial: int, number: int) -> str:
    parts = [case.test, case.agent, str(trial)]
    return anchor(*parts, *([str(number)] if number > 1 else []))


def _title(attempt: Attempt) -> str:
    words = [f"trial {attempt.trial}"] if attempt.trial is not None else []
    if attempt.execution > 1 or not words:
        words.append(f"execution {attempt.execution}")
    return ", ".join(words)


def _mark(attempt: Attempt, link: str) -> Mark:
    word = WORDS.get(attempt.outcome, attempt.outcome or "not known")
    return Mark(
        number=str(attempt.trial or ""),
        glyph=GLYPHS.get(attempt.outcome, "·"),
        tone=TONES.get(attempt.outcome, "none"),
        word=word,
        link=link,
    )


def _cause(cause: Mapping[str, Any]) -> str:
    """Return ``3 trials: assert 1 == 2 (2, 5, 7)``."""
    numbers = [str(number) for number in as_list(cause.get("trials"))]
    more = ", …" if len(numbers) > CAUSES else ""
    message = line(as_text(cause.get("message")), limit=300)
    return f"{plural(len(numbers), 'trial')}: {message} ({', '.join(numbers[:CAUSES])}{more})"


def _percent(fraction: str) -> str:
    """Return ``4/5`` as ``80 %``."""
    try:
        return f"{100 * float(Fraction(fraction)):g} %"
    except (ValueError, ZeroDivisionError, OverflowError):
        return fraction


def _rate(verdict: Mapping[str, Any]) -> str:
    words = [rate_words(verdict)]
    asked = as_text(as_mapping(verdict.get("gate")).get("min_rate"))
    if asked:
        words.append(f"at least {_percent(asked)} asked for")
    state = as_text(verdict.get("verdict"))
    words.append(f"{state} (could be chance)" if verdict.get("could_be_chance") is True else state)
    for name, word in (
        ("errors", "error of the harness"),
        ("not_needed", "not needed"),
        ("missing", "never ran"),
    ):
        if count := as_int(verdict.get(name)):
            words.append(f"{count} {word}")
    return line("; ".join(filter(None, words)), limit=400)
