"""The first screen: the verdict in a sentence, where it comes from, and the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from pytest_caesar.reporting.page.changes import usage
from pytest_caesar.reporting.page.text import (
    anchor,
    dollars,
    line,
    plural,
    seconds,
    thousands,
)
from pytest_caesar.reporting.results.cases import KIT, Case
from pytest_caesar.reporting.results.fields import (
    as_int,
    as_list,
    as_mapping,
    as_mappings,
    as_number,
    as_text,
    as_texts,
)

GLYPHS: Final = {
    "passed": "✓", "met": "✓", "failed": "✗", "error": "!", "missed": "✗", "incomplete": "…",
    "undecided": "?", "pending": "…", "skipped": "\N{EN DASH}", "rated": "%", "rerun": "↻", "xfailed": "✓", "xpassed": "!",
}  # fmt: skip
"""The sign that stands beside each outcome."""

TONES: Final = {
    "passed": "good", "met": "good", "xfailed": "good", "failed": "bad", "error": "bad",
    "missed": "bad", "incomplete": "bad", "undecided": "warn", "xpassed": "warn",
    "pending": "warn", "rated": "good", "rerun": "warn",
}  # fmt: skip
"""How an outcome is coloured, beside its sign."""

WORDS: Final = {"xfailed": "failed as expected", "xpassed": "passed unexpectedly"}
"""Outcomes that are said in other words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One test with one agent, as the table shows it.

    Attributes:
        link: the fragment of its details.
        outcome, glyph, tone: what became of it: the word, its sign, its colour.
        report: status and source of the last run, or "".
        trials: rate and verdict of its trials, or "".
        changes: of all its runs, or "" where there was none.
        tokens, cost, time: of all its runs; "" where not known.
        cause: why it failed, or "".
        beside: what a baseline had, where it differs, or "".
    """

    link: str
    outcome: str
    glyph: str
    tone: str
    report: str
    trials: str
    changes: str
    tokens: str
    cost: str
    time: str
    cause: str
    beside: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: a test, and a cell for each agent that it ran with."""

    test: str
    module: str
    name: str
    cells: tuple[tuple[str, Cell | None], ...]

    @property
    def words(self) -> str:
        """Outcomes, by which the table is filtered."""
        return " ".join(sorted({cell.tone or "none" for _, cell in self.cells if cell}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Tests by agents, failures first.

    Attributes:
        agents: columns of a matrix; empty where each row says its agent.
        rows: one for each test of a matrix, else one for each test and agent.
        columns: names of the columns that hold something.
    """

    agents: tuple[str, ...]
    rows: tuple[Row, ...]
    columns: frozenset[str]


def table(cases: Sequence[Case], beside: Mapping[tuple[str, str], str]) -> Table:
    """Return the table of a session.

    Args:
        cases: n tests with their agents, in the order of the table.
        beside: what a baseline had, in a few words, by test and agent.
    """
    agents = tuple(dict.fromkeys(case.agent for case in cases))
    tests = dict.fromkeys(case.test for case in cases)
    cells = {case.key: cell(case, beside.get(case.key, "")) for case in cases}
    # Worth it only where most of its fields are filled.
    matrix = 2 <= len(agents) <= 6 and 3 * len(cells) > 2 * len(agents) * len(tests)
    if matrix:
        rows = [
            _row(test, tuple((agent, cells.get((test, agent))) for agent in agents))
            for test in tests
        ]
    else:
        rows = [_row(case.test, ((case.agent, cells[case.key]),)) for case in cases]
    columns = {
        name
        for name in ("report", "trials", "changes", "tokens", "cost", "time", "beside")
        if any(getattr(one, name) for one in cells.values())
    }
    if len(agents) > 1:
        columns.add("agent")
    return Table(
        agents=tuple(line(agent, limit=40) for agent in agents) if matrix else (),
        rows=tuple(rows),
        columns=frozenset(columns),
    )


def _row(test: str, cells: tuple[tuple[str, Cell | None], ...]) -> Row:
    module, _, name = test.partition("::")
    return Row(
        test=line(test, limit=400),
        module=line(module if name else "", limit=200),
        name=line(name or module, limit=300),
        cells=tuple((line(agent, limit=40), one) for agent, one in cells),
    )


def cell(case: Case, beside: str = "") -> Cell:
    """Return one test with one agent for the table."""
    runs = case.runs
    last = runs[-1] if runs else {}
    report = " · ".join(filter(None, (as_text(last.get("status")), as_text(last.get("source")))))
    used = [usage(run) for run in runs]
    known = [one.tokens for one in used if one.tokens is not None]
    costs = [one.cost for one in used if one.cost is not None]
    more = "≥ " if any(one.at_least for one in used) or 0 < len(known) < len(runs) else ""
    count = sum(len(as_list(run.get("changes"))) for run in runs)
    took = [_took(run) for run in runs]
    return Cell(
        link=anchor(case.test, case.agent),
        outcome=WORDS.get(case.outcome, case.outcome or "not known"),
        glyph=GLYPHS.get(case.outcome, "·"),
        tone=TONES.get(case.outcome, ""),
        report=line(report, limit=60),
        trials=rate_words(case.verdict),
        changes=str(count) if runs else "",
        tokens=f"{more}{thousands(sum(known))}" if known else "",
        cost=f"{more}{dollars(sum(costs))}" if costs else "",
        time=seconds(sum(took) if took else case.attempts[-1].duration),
        cause=line(case.cause, limit=240) if case.broken else "",
        beside=line(beside, limit=120),
    )


def _took(run: Mapping[str, Any]) -> float:
    return (as_number(as_mapping(run.get("outcome")).get("duration_ms")) or 0.0) / 1000


def rate_words(verdict: Mapping[str, Any]) -> str:
    """Return ``17 of 20, 85 % (64 to 95)`` for the trials of a test, or ""."""
    passed, counted = as_int(verdict.get("passed")), as_int(verdict.get("counted"))
    if passed is None or not counted:
        return ""
    words = f"{passed} of {counted}, {100 * passed / counted:.0f} %"
    bounds = [as_number(bound) for bound in as_list(verdict.get("interval"))]
    if len(bounds) == 2 and bounds[0] is not None and bounds[1] is not None:
        words += f" ({100 * bounds[0]:.0f} to {100 * bounds[1]:.0f})"
    return words


def sentence(cases: Sequence[Case], document: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdict in a sentence, and its tone."""
    counts = Counter(case.outcome for case in cases)
    total = len(cases)
    broken = sum(case.broken for case in cases)
    code = as_int(document.get("exit_status"))
    gaps = [as_text(gap) for gap in as_list(document.get("incomplete"))]
    if gaps:
        start = f"Incomplete: {line(gaps[0], limit=200)}"
        if broken:
            start += f"; {broken} of {plural(total, 'test')} failed"
        return f"{start}.", "bad"
    if broken:
        return f"{broken} of {plural(total, 'test')} failed{_apart(counts)}.", "bad"
    if code not in (None, 0, 5):
        tests = plural(total, "test")
        return f"The session ended with exit code {code}, though none of its {tests} failed.", "bad"
    if not total:
        return "No test delegated anything.", "warn"
    good = sum(counts[name] for name in ("passed", "met", "rated", "xfailed"))
    if good == total:
        return ("The test passed." if total == 1 else f"All {total} tests passed."), "good"
    if counts[""] == total:
        return f"{plural(total, 'test')} ran; what became of them is not in the file.", "warn"
    return f"{good} of {plural(total, 'test')} passed{_apart(counts)}.", "good" if good else "warn"


def _apart(counts: Counter[str]) -> str:
    words = [
        f"{counts[name]} {word}"
        for name, word in (
            ("missed", "below the rate"),
            ("undecided", "undecided"),
            ("incomplete", "incomplete"),
            ("pending", "pending"),
            ("skipped", "skipped"),
            ("xpassed", "passed unexpectedly"),
        )
        if counts[name]
    ]
    return f" ({', '.join(words)})" if words else ""


def totals(cases: Sequence[Case]) -> str:
    """Return ``33 runs: 20 success, 9 failed · 41.2k tokens, $0.18``."""
    runs = [run for case in cases for run in case.runs]
    if not runs:
        return ""
    by_status = Counter(line(as_text(run.get("status")) or "no report", limit=20) for run in runs)
    words = ", ".join(f"{count} {status}" for status, count in by_status.most_common())
    used = [usage(run) for run in runs]
    tokens = [one.tokens for one in used if one.tokens is not None]
    if not tokens:
        return f"{plural(len(runs), 'run')}: {words}"
    costs = [one.cost for one in used if one.cost is not None]
    unknown = len(runs) - len(tokens)
    spent = f"{thousands(sum(tokens))} tokens" + (f", {dollars(sum(costs))}" if costs else "")
    rest = f" ({plural(unknown, 'run')} unknown)" if unknown else ""
    return f"{plural(len(runs), 'run')}: {words} · {spent}{rest}"


def facts(document: Mapping[str, Any], cases: Sequence[Case]) -> tuple[tuple[str, str], ...]:
    """Return where the results come from: pairs of a name and a value."""
    session = as_mapping(document.get("session"))
    versions = as_mapping(session.get("versions"))
    agents = as_mappings(session.get("agents"))
    names = [f"{as_text(one.get('id'))} ({as_text(one.get('origin'))})" for one in agents]
    shards = as_mappings(document.get("shards"))
    found = (
        ("runs", totals(cases)),
        ("agents", ", ".join(names or as_texts(document.get("agents")))),
        ("commit", as_text(session.get("commit"))[:12] + (" and uncommitted work" if session.get("uncommitted") is True else "")),
        ("started", as_text(session.get("started_at")).replace("T", " ").partition(".")[0].removesuffix("Z") + " UTC" if session.get("started_at") else ""),
        ("took", seconds(as_number(session.get("duration")))),
        ("with", ", ".join(f"{name} {version}" for name, version in versions.items())),
        ("sessions", ", ".join(_short([as_text(one.get("name")) for one in shards]))),
        ("other tests", _others(document, cases)),
    )  # fmt: skip
    return tuple((name, line(value, limit=600)) for name, value in found if value)


def _short(names: Sequence[str]) -> list[str]:
    """Return names of files without the folders that they have in common."""
    parts = [PurePosixPath(name).parts for name in names]
    common = 0
    while all(len(one) > common + 1 for one in parts) and len({one[common] for one in parts}) == 1:
        common += 1
    return ["/".join(one[common:]) for one in parts]


def _others(document: Mapping[str, Any], cases: Sequence[Case]) -> str:
    """Count the tests of the session that delegated nothing and did not fail."""
    shown = {attempt.test for case in cases for attempt in case.attempts}
    rest = [
        entry
        for entry in as_mappings(document.get("tests"))
        if as_text(entry.get("test")) not in shown
        and not as_text(entry.get("test")).startswith(f"{KIT}::")
    ]
    return f"{plural(len(rest), 'test')} without a delegation, none failed" if rest else ""
