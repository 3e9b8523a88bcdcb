"""Two sessions side by side: what is new, gone, fixed, broken or otherwise, for test and agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pytest_caesar.reporting.results.cases import Case, cases_of
from pytest_caesar.reporting.results.fields import (
    as_int,
    as_mapping,
    as_mappings,
    as_number,
    as_text,
)

LEVEL: Final = 0.05
"""A rate is called worse or better where chance alone does so less often than this."""

USAGE: Final = 0.2
"""Share by which tokens must differ to be told."""

Rates: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""Successes and trials before, and the same now."""

Significance: TypeAlias = Callable[[Sequence[Rates]], Sequence[float]]
"""Gives the p-value of each pair of rates, corrected for how many there are."""

ORDER: Final = ("broken", "worse", "gone", "fixed", "better", "new", "changed")
"""Kinds of differences, in the order they are told."""

_SIGNS: Final = {
    "broken": ("✗", "bad"), "worse": ("↓", "bad"), "gone": ("\N{MINUS SIGN}", "warn"),
    "fixed": ("✓", "good"), "better": ("↑", "good"), "new": ("+", ""), "changed": ("~", ""),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A test with an agent that is not as before.

    Attributes:
        test, agent: which.
        word: one of ``ORDER``.
        before, after: what differs, in words; as many as the other side has.
    """

    test: str
    agent: str
    word: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def sign(self) -> str:
        """The word as a sign."""
        return _SIGNS[self.word][0]

    @property
    def tone(self) -> str:
        """``bad``, ``warn``, ``good`` or ""."""
        return _SIGNS[self.word][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between two sessions.

    Attributes:
        differences: in the order of ``ORDER``.
        alike: how many tests with an agent are as before.
    """

    differences: tuple[Difference, ...]
    alike: int

    @property
    def broken(self) -> bool:
        """Something broke, or its rate became worse than chance explains."""
        return any(one.word in ("broken", "worse") for one in self.differences)

    def sentence(self) -> str:
        """Say how many of each kind there are."""
        counts = [
            f"{count} {word}"
            for word in ORDER
            if (count := sum(one.word == word for one in self.differences))
        ]
        alike = f"{self.alike} as before"
        return f"{', '.join([*counts, alike])}." if counts else f"Nothing changed: {alike}."

    def words(self) -> dict[tuple[str, str], str]:
        """Return what the first session had, in a few words, by test and agent."""
        return {
            (one.test, one.agent): ", ".join(one.before) or one.word for one in self.differences
        }


def compare(
    before: Mapping[str, Any], after: Mapping[str, Any], *, significance: Significance
) -> Comparison:
    """Compare two documents of ``--caesar-json``.

    Args:
        before: the baseline.
        after: what is looked at.
        significance: gives p-values for the rates of tests with trials on both sides.
    """
    first = {case.key: case for case in cases_of(before) if _counts(case)}
    second = {case.key: case for case in cases_of(after) if _counts(case)}
    both = [key for key in second if key in first]
    rates = {
        key: (here, there)
        for key in both
        if (here := rate(first[key])) is not None and (there := rate(second[key])) is not None
    }
    chances = dict(zip(rates, significance(list(rates.values())), strict=True))
    found = [
        *(_alone(case, "gone") for key, case in first.items() if key not in second),
        *(_alone(case, "new") for key, case in second.items() if key not in first),
    ]
    alike = 0
    for key in both:
        difference = _difference(first[key], second[key], rates.get(key), chances.get(key))
        if difference is None:
            alike += 1
        else:
            found.append(difference)
    found.sort(key=lambda one: ORDER.index(one.word))
    return Comparison(differences=tuple(found), alike=alike)


def _counts(case: Case) -> bool:
    """Tell whether a case has to do with agents: a plain test of the project does not."""
    return bool(case.runs) or case.broken or bool(case.verdict)


def _alone(case: Case, word: str) -> Difference:
    said = (_outcome(case),)
    gone = word == "gone"
    return Difference(
        test=case.test,
        agent=case.agent,
        word=word,
        before=said if gone else (),
        after=() if gone else said,
    )


def _outcome(case: Case) -> str:
    counted = rate(case)
    if counted is None:
        return case.outcome or "not known"
    return f"{case.outcome or 'not judged'}, {counted[0]} of {counted[1]}"


def rate(case: Case) -> tuple[int, int] | None:
    """Return successes and counted trials of a case that was repeated, else None."""
    passed, counted = as_int(case.verdict.get("passed")), as_int(case.verdict.get("counted"))
    if passed is not None and counted:
        return passed, counted
    outcomes = [one.outcome for one in case.attempts if one.trial is not None]
    told = [outcome for outcome in outcomes if outcome in ("passed", "failed")]
    return (told.count("passed"), len(told)) if len(told) > 1 else None


def _difference(
    before: Case, after: Case, rates: Rates | None, chance: float | None
) -> Difference | None:
    here, there = [], []

    def differs(name: str, old: str, new: str) -> None:
        if old != new:
            here.append(f"{name} {old or '—'}")
            there.append(f"{name} {new or '—'}")

    word = "changed" if before.broken == after.broken else "broken" if after.broken else "fixed"
    if before.outcome != after.outcome:
        here.append(before.outcome or "not known")
        there.append(after.outcome or "not known")
    if rates is not None and chance is not None and rates[0] != rates[1]:
        old, new = (f"{passed} of {count}" for passed, count in rates)
        here.append(old)
        there.append(f"{new} (p = {chance:.2g}{'' if chance < LEVEL else ', may be chance'})")
        if word == "changed":
            word = _direction(rates, chance)
    elif rates is None:
        last, now = _last(before), _last(after)
        for name in ("status", "source"):
            differs(name, as_text(last.get(name)), as_text(now.get(name)))
        differs("changes", _changes(before), _changes(after))
        differs("commands", _commands(before), _commands(after))
    old_tokens, new_tokens = _tokens(before), _tokens(after)
    if old_tokens and new_tokens and abs(new_tokens - old_tokens) > USAGE * old_tokens:
        differs("tokens", f"{old_tokens:.0f}", f"{new_tokens:.0f}")
    if not here and word == "changed":
        return None
    return Difference(
        test=after.test, agent=after.agent, word=word, before=tuple(here), after=tuple(there)
    )


def _direction(rates: Rates, chance: float) -> str:
    """Return whether a rate became better or worse, where it is no chance; as whole numbers."""
    (before, of), (after, of_after) = rates
    rises = after * of - before * of_after
    if chance >= LEVEL or not rises:
        return "changed"
    return "better" if rises > 0 else "worse"


def _last(case: Case) -> Mapping[str, Any]:
    return case.runs[-1] if case.runs else {}


def _changes(case: Case) -> str:
    told = [
        f"{as_text(change.get('path'))} {as_text(change.get('action'))}"
        for run in case.runs
        for change in as_mappings(run.get("changes"))
    ]
    more = f" and {len(told) - 5} more" if len(told) > 5 else ""
    return ", ".join(told[:5]) + more or "none"


def _commands(case: Case) -> str:
    told = []
    for run in case.runs:
        for entry in as_mappings(run.get("commands")):
            code = as_int(entry.get("observed_exit_code"))
            known = code if code is not None else as_int(entry.get("declared_exit_code"))
            # Arguments hold temporary paths, which are never the same twice.
            program = as_text(entry.get("command")).partition(" ")[0].rpartition("/")[2]
            told.append(f"{program} ({'?' if known is None else known})")
    more = f" and {len(told) - 5} more" if len(told) > 5 else ""
    return ", ".join(told[:5]) + more


def _tokens(case: Case) -> float | None:
    """Return the tokens of one run on average, or None where one is not known."""
    sums = []
    for run in case.runs:
        used = as_mapping(run.get("total_usage")) or as_mapping(run.get("usage"))
        parts = [as_number(used.get("input_tokens")), as_number(used.get("output_tokens"))]
        if parts[0] is None or parts[1] is None:
            return None
        sums.append(parts[0] + parts[1])
    return sum(sums) / len(sums) if sums else None
