"""Rates, verdicts and comparisons as lines for the terminal; pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from caesar_agent.console import one_line
from pytest_caesar.trials.causes import Cause, FailedTrial, grouped
from pytest_caesar.trials.comparison import (
    Counts,
    difference,
    fisher,
    holm,
    mcnemar,
    stratified,
)
from pytest_caesar.trials.intervals import newcombe
from pytest_caesar.trials.pass_at import pass_all
from pytest_caesar.trials.rate_gate import Verdict

LEVEL = 0.05
"""Below this p-value two agents are called different."""

ATTEMPTS = 3
"""Attempts of the chance that all of them succeed, which is shown beside a rate."""

CAUSES = 3
"""Causes of failures that are named under a test; the others are counted."""

SUITE = 2
"""Tests from which on two agents are compared over all of them."""

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The trials of one test with one agent.

    Attributes:
        nodeid: id of the test without the trial.
        family: id of the test without agent and trial.
        agent: its id, or None.
        verdict: what the trials say.
        failed: the trials that did not succeed.
        usage: what each trial used, by its number; where it is not known, it is missing.
    """

    nodeid: str
    family: str
    agent: str | None
    verdict: Verdict
    failed: Sequence[FailedTrial] = ()
    usage: Mapping[int, Mapping[str, float]] = field(default_factory=dict)

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Its failures, grouped: the most frequent cause first."""
        return grouped(self.failed)


def percent(rate: float) -> str:
    """Write a rate as ``85 %``; one that is not quite 0 or 100 never looks so."""
    whole = round(100 * rate)
    if whole == 100 and rate < 1:
        return f"{min(99.9, int(1000 * rate) / 10):g} %"
    if whole == 0 and rate > 0:
        return f"{max(0.1, round(1000 * rate) / 10):g} %"
    return f"{whole} %"


def rate_words(verdict: Verdict) -> str:
    """Write ``17 of 20, 85 % (64 to 95)``."""
    if verdict.rate is None:
        return "none counted"
    return f"{verdict.successes} of {verdict.counted}, {_rate(verdict)} {_interval(verdict)}"


def verdict_words(verdict: Verdict) -> str:
    """Write the verdict and what weakens it: ``met (could be chance)``."""
    words: str = "" if verdict.state == "rated" else verdict.state
    if verdict.could_be_chance:
        words += " (could be chance)"
    if verdict.decided_after is not None:
        words += f" after {verdict.decided_after}"
    return ", ".join(filter(None, (words, *_uncounted(verdict))))


def _uncounted(verdict: Verdict) -> list[str]:
    """Say which trials are in no rate."""
    errors = "error" if verdict.errors == 1 else "errors"
    counts = {
        f"{errors} of the harness": verdict.errors,
        "skipped": verdict.skipped,
        "in other shards" if verdict.state == "pending" else "never ran": verdict.missing,
        "not needed": verdict.stopped,
    }
    return [f"{count} {what}" for what, count in counts.items() if count]


def headline(verdict: Verdict) -> str:
    """Write the verdict for someone who sees this line alone: the verdict first, then why."""
    gate = _gate(verdict)
    chance = ["could be chance"] if verdict.could_be_chance else []
    return ", ".join(
        filter(
            None,
            (f"{verdict.state}: {rate_words(verdict)}", gate, *chance, *_uncounted(verdict)),
        )
    )


def lines(judged: Sequence[Judged]) -> list[str]:
    """Return the table of a session: a line for each test and agent, causes, comparisons.

    Args:
        judged: n entries, in the order of the tests.
    """
    if not judged:
        return []
    shared = _shared_path(judged)
    rows = [[_name(one, shared), *_cells(one)] for one in judged]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    found = ["trials"]
    for one, row in zip(judged, rows, strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)]
        shown = [cell for cell, width in zip(cells, [*widths, 1], strict=True) if width]
        found.append("  " + "   ".join(shown).rstrip())
        found += [f"    {line}" for line in cause_lines(one.causes, CAUSES)]
    return [*found, *(f"  {line}" for line in comparison_lines(judged))]


def cause_lines(causes: Sequence[Cause], limit: int) -> list[str]:
    """Say how often and in which trials each cause was seen, the most frequent first."""
    found = []
    for cause in causes[:limit]:
        first = cause.first
        numbers = ", ".join(str(trial.number) for trial in cause.trials[:8])
        more = f" and {len(cause.trials) - 8} more" if len(cause.trials) > 8 else ""
        word = "trial" if len(cause.trials) == 1 else "trials"
        kind = "error of the harness, " if first.outcome == "error" else ""
        message = one_line(first.message.strip().partition("\n")[0], limit=120) or "no message"
        codes = f" [{', '.join(first.codes[:3])}]" if first.codes else ""
        found.append(
            f"{len(cause.trials)} \N{MULTIPLICATION SIGN} {kind}{message}{codes} ({word} {numbers}{more})"
        )
    if len(causes) > limit:
        rest = sum(len(cause.trials) for cause in causes[limit:])
        found.append(f"… and {rest} more, of {len(causes) - limit} other causes")
    return found


def comparison_lines(judged: Sequence[Judged]) -> list[str]:
    """Say which agents are shown to be better than others, on each test and over all."""
    tests: dict[str, list[Judged]] = {}
    for one in judged:
        if one.agent is not None and one.verdict.counted:
            tests.setdefault(one.family, []).append(one)
    found = []
    for family, entries in tests.items():
        pairs = list(itertools.combinations(entries, 2))
        p_values = holm([fisher(_counts(one, other)) for one, other in pairs])
        how = "Fisher" if len(pairs) == 1 else "Fisher, Holm"
        where = "" if len(tests) == 1 else f"{family.rpartition('::')[2]}: "
        found += [
            f"{where}{_compared(one, other, p, how)}"
            for (one, other), p in zip(pairs, p_values, strict=True)
        ]
    return [*found, *_over_the_suite(tests)]


def _over_the_suite(tests: Mapping[str, Sequence[Judged]]) -> list[str]:
    """Compare two agents over every test that both of them ran."""
    agents = list(dict.fromkeys(str(one.agent) for entries in tests.values() for one in entries))
    pairs = []
    for first, second in itertools.combinations(agents, 2):
        tables = []
        for entries in tests.values():
            by_agent = {one.agent: one for one in entries}
            if first in by_agent and second in by_agent:
                tables.append(_counts(by_agent[first], by_agent[second]))
        if len(tables) >= SUITE:
            pairs.append((first, second, tables))
    raw, hows = [], []
    for _, _, tables in pairs:
        single = all(table.first_trials == table.second_trials == 1 for table in tables)
        hows.append("McNemar" if single else "exact, within each test")
        raw.append(_paired(tables) if single else stratified(tables))
    found = []
    for (first, second, tables), p, how in zip(pairs, holm(raw), hows, strict=True):
        points = round(100 * (difference(tables) or 0.0))
        how_all = how if len(pairs) == 1 else f"{how}, Holm"
        found.append(
            f"over {len(tables)} tests, {first} over {second}: {_points(points)} points, "
            f"p = {_p(p)} ({how_all}): {_conclusion(p, points)}"
        )
    return found


def _paired(tables: Sequence[Counts]) -> float:
    first_only = sum(table.first > table.second for table in tables)
    return mcnemar(first_only, sum(table.first < table.second for table in tables))


def _counts(one: Judged, other: Judged) -> Counts:
    return Counts(
        one.verdict.successes, one.verdict.counted, other.verdict.successes, other.verdict.counted
    )


def _compared(one: Judged, other: Judged, p: float, how: str) -> str:
    counts = _counts(one, other)
    points = round(100 * (difference([counts]) or 0.0))
    low, high = newcombe(counts[:2], counts[2:])
    return (
        f"{one.agent} over {other.agent}: {_points(points)} points "
        f"({_points(round(100 * low))} to {_points(round(100 * high))}), p = {_p(p)} ({how}): "
        f"{_conclusion(p, points)}"
    )


def _conclusion(p: float, points: int) -> str:
    if p > LEVEL:
        return (
            "not shown to be different"
            if points == 0
            else (f"not shown to be {'better' if points > 0 else 'worse'}")
        )
    return "better" if points > 0 else "worse"


def _points(value: int) -> str:
    return f"+{value}" if value > 0 else f"{MINUS}{-value}" if value < 0 else "0"


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 0.001 else "below 0.001"


def _cells(one: Judged) -> list[str]:
    verdict = one.verdict
    if verdict.rate is None:
        return ["none counted", "", "", _gate(verdict), verdict_words(verdict), "", ""]
    together = pass_all(ATTEMPTS, verdict.successes, verdict.counted)
    return [
        f"{verdict.successes} of {verdict.counted}",
        _rate(verdict),
        _interval(verdict),
        _gate(verdict),
        verdict_words(verdict),
        "" if together is None else f"{ATTEMPTS} of {ATTEMPTS}: {percent(together)}",
        _usage(one.usage.values()),
    ]


def _rate(verdict: Verdict) -> str:
    return percent(float(verdict.rate or 0))


def _interval(verdict: Verdict) -> str:
    low, high = verdict.interval
    return f"({round(100 * low)} to {round(100 * high)})"


def _gate(verdict: Verdict) -> str:
    gate = verdict.gate
    if gate.min_rate is None:
        return ""
    sure = "" if gate.confidence is None else f" at {percent(gate.confidence)}"
    return f"min {100 * float(gate.min_rate):g} %{sure}"


def _usage(trials: object) -> str:
    entries = [one for one in trials if one]  # type: ignore[attr-defined]
    words = []
    tokens = [one["tokens"] for one in entries if "tokens" in one]
    costs = [one["cost_usd"] for one in entries if "cost_usd" in one]
    if tokens:
        mean = sum(tokens) / len(tokens)
        words.append(f"{mean / 1000:.0f}k tokens" if mean >= 10_000 else f"{mean:.0f} tokens")
    if costs:
        words.append(f"${sum(costs) / len(costs):.2f}")
    known = max(len(tokens), len(costs))
    if not words:
        return ""
    partly = f" (known of {known})" if known < len(list(trials)) else ""  # type: ignore[call-overload]
    return f"{', '.join(words)} a trial{partly}"


def _name(one: Judged, shared: str) -> str:
    name = one_line(one.nodeid.removeprefix(shared), limit=100)
    return name if one.agent is None or one.nodeid != one.family else f"{name} ({one.agent})"


def _shared_path(judged: Sequence[Judged]) -> str:
    """Return the module that all tests are in, or ""."""
    modules = {one.family.partition("::")[0] for one in judged}
    return f"{modules.pop()}::" if len(modules) == 1 else ""
