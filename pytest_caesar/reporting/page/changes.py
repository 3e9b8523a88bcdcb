"""Declared beside observed: files, commands and usage, each difference with a word and a sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pytest_caesar.reporting.page.text import dollars, line, seconds, thousands
from pytest_caesar.reporting.results.fields import (
    as_int,
    as_mapping,
    as_mappings,
    as_number,
    as_text,
    as_texts,
)

SHOWN: Final = 500
"""Paths or commands of a run that the page holds."""

SIGNS: Final = {
    "as declared": "=",
    "undeclared": "+",
    "phantom": "\N{MINUS SIGN}",
    "wrong action": "\N{NOT EQUAL TO}",
    "unverified": "?",
    "confirmed": "=",
    "contradicted": "\N{NOT EQUAL TO}",
    "unseen": "?",
}
"""The sign that stands beside each word."""

TONES: Final = {
    "undeclared": "bad", "phantom": "bad", "wrong action": "bad", "contradicted": "bad",
    "as declared": "good", "confirmed": "good",
}  # fmt: skip
"""How a word is coloured, beside its sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One file or command of either side.

    Attributes:
        name: the path, or the command line.
        declared, observed: what each side says; "" where it says nothing.
        verdict: how the two compare, in words.
        sign, tone: the verdict once more.
        note: anything else to know.
    """

    name: str
    declared: str
    observed: str
    verdict: str
    sign: str
    tone: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Files or commands, and how many more there are."""

    pairs: tuple[Pair, ...] = ()
    more: int = 0


def _pair(name: str, declared: str, observed: str, verdict: str, note: str = "") -> Pair:
    return Pair(
        name=line(name, limit=400),
        declared=line(declared, limit=80),
        observed=line(observed, limit=80),
        verdict=verdict,
        sign=SIGNS.get(verdict, "·"),
        tone=TONES.get(verdict, ""),
        note=line(note, limit=400) if note else "",
    )


def _bounded(pairs: list[Pair]) -> Pairs:
    # What differs comes first where not all is shown.
    if len(pairs) > SHOWN:
        pairs.sort(key=lambda pair: pair.tone != "bad")
    return Pairs(pairs=tuple(pairs[:SHOWN]), more=max(0, len(pairs) - SHOWN))


def files(run: Mapping[str, Any]) -> Pairs:
    """Return one entry for each path that is declared or observed, in path order."""
    declared = {as_text(one.get("path")): one for one in as_mappings(run.get("declared"))}
    observed = {as_text(one.get("path")): one for one in as_mappings(run.get("changes"))}
    words = {
        **dict.fromkeys(as_texts(run.get("undeclared")), "undeclared"),
        **dict.fromkeys(as_texts(run.get("phantom")), "phantom"),
        **dict.fromkeys(as_texts(run.get("wrong_action")), "wrong action"),
        **dict.fromkeys(as_texts(run.get("unverified")), "unverified"),
    }
    verified = run.get("changes_verified_by") == "git"
    found = []
    for path in sorted({*declared, *observed, *words}):
        here, there = as_mapping(declared.get(path)), as_mapping(observed.get(path))
        action = as_text(there.get("action"))
        if old := as_text(there.get("old_path")):
            action = f"{action} from {line(old, limit=60)}"
        note = as_text(there.get("note")) or as_text(here.get("summary"))
        if there.get("outside") is True:
            note = f"outside the folder of the task. {note}"
        found.append(
            _pair(
                path,
                as_text(here.get("action")),
                action,
                words.get(path, "as declared" if verified or there else "unverified"),
                note,
            )
        )
    return _bounded(found)


def commands(run: Mapping[str, Any]) -> Pairs:
    """Return the commands of either side in order; those of the report where none was observed."""
    entries = run.get("commands")
    if isinstance(entries, list):
        return _bounded([_command(entry) for entry in as_mappings(entries)])
    declared = as_mappings(as_mapping(run.get("report")).get("commands_run"))
    return _bounded(
        [
            _pair(
                as_text(one.get("command")), _code(one.get("exit_code")), "", "unseen",
                as_text(one.get("note")),
            )
            for one in declared
        ]
    )  # fmt: skip


def _command(entry: Mapping[str, Any]) -> Pair:
    witnesses = as_texts(entry.get("witnesses"))
    notes = [f"seen by {', '.join(witnesses)}"] if witnesses else []
    if (duration := as_number(entry.get("duration"))) is not None:
        notes.append(seconds(duration))
    after = as_texts(entry.get("changed_after"))
    if after:
        more = f" and {len(after) - 3} more" if len(after) > 3 else ""
        notes.append(f"changed afterwards: {', '.join(after[:3])}{more}")
    return _pair(
        as_text(entry.get("command")),
        _code(entry.get("declared_exit_code")),
        _code(entry.get("observed_exit_code")),
        as_text(entry.get("verdict")) or "unseen",
        "; ".join(notes),
    )


def _code(value: object) -> str:
    code = as_int(value)
    return "" if code is None else f"exit code {code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and cost, as numbers to add up and as rows to show; None where not known."""

    tokens: float | None = None
    cost: float | None = None
    turns: float | None = None
    at_least: bool = False
    rows: tuple[tuple[str, str], ...] = ()


_ROWS: Final = (
    ("input_tokens", "input"),
    ("cached_input_tokens", "of it cached"),
    ("cache_write_tokens", "written to the cache"),
    ("output_tokens", "output"),
    ("reasoning_tokens", "of it reasoning"),
)


def usage(run: Mapping[str, Any]) -> Usage:
    """Return what a run used, with all below it where that is known."""
    known = as_mapping(run.get("total_usage")) or as_mapping(run.get("usage"))
    given = as_number(known.get("input_tokens")), as_number(known.get("output_tokens"))
    tokens = None if given == (None, None) else (given[0] or 0) + (given[1] or 0)
    cost, turns = as_number(known.get("cost_usd")), as_number(known.get("turns"))
    rows = [
        (word, f"{thousands(value)} tokens")
        for key, word in _ROWS
        if (value := as_number(known.get(key))) is not None
    ]
    if cost is not None:
        rows.append(("cost", dollars(cost)))
    if turns is not None:
        rows.append(("turns", f"{turns:.0f}"))
    for model, part in as_mapping(known.get("by_model")).items():
        sums = [as_number(as_mapping(part).get(name)) for name in ("input_tokens", "output_tokens")]
        rows.append(
            (f"model {line(str(model), limit=80)}", f"{thousands(sum(filter(None, sums)))} tokens")
        )
    if rows and (source := as_text(known.get("source"))):
        rows.append(("known from", line(source, limit=40)))
    at_least = known.get("at_least") is True
    if at_least:
        rows.append(("mind", "at least this: something hides the rest"))
    return Usage(tokens=tokens, cost=cost, turns=turns, at_least=at_least, rows=tuple(rows))
