"""How a figure is taken: candidates interleaved in one run, the median of each."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes:
        what: what was measured.
        measured: the figure, with its unit.
        beside: what was measured beside it, with its unit.
        bound: what the design allows, or "told" when nothing is promised.
        held: whether the bound was held in this run, or None without a bound.
    """

    what: str
    measured: str
    beside: str = ""
    bound: str = "told"
    held: bool | None = None


def interleave(*candidates: Callable[[], object], rounds: int) -> list[float]:
    """Run candidates in turn and return the median seconds of each.

    One warm-up round is thrown away; the order alternates, so that neither
    candidate always runs on a warm cache.
    """
    times: list[list[float]] = [[] for _ in candidates]
    for number in range(rounds + 1):
        order = range(len(candidates)) if number % 2 else reversed(range(len(candidates)))
        for index in order:
            start = time.perf_counter()
            candidates[index]()
            if number:
                times[index].append(time.perf_counter() - start)
    return [statistics.median(series) for series in times]


def ratio(what: str, measured: float, floor: float, bound: float) -> Row:
    """A figure that may be at most ``bound`` times the one beside it."""
    return Row(
        what,
        f"{measured / floor:.2f} x ({measured * 1000:.1f} ms)",
        f"{floor * 1000:.1f} ms",
        f"{bound:g} x",
        measured / floor <= bound,
    )


def difference(what: str, measured: float, floor: float, bound_ms: float) -> Row:
    """A figure that may be at most ``bound_ms`` milliseconds above the one beside it."""
    extra = (measured - floor) * 1000
    return Row(
        what,
        f"+ {extra:.1f} ms ({measured * 1000:.1f} ms)",
        f"{floor * 1000:.1f} ms",
        f"+ {bound_ms:g} ms",
        extra <= bound_ms,
    )


def absolute(what: str, measured: float, bound_ms: float) -> Row:
    """A figure that may be at most ``bound_ms`` milliseconds."""
    return Row(
        what, f"{measured * 1000:.1f} ms", "", f"{bound_ms:g} ms", measured * 1000 <= bound_ms
    )


def table(rows: list[Row]) -> str:
    """Return rows as a Markdown table."""
    lines = ["| what | measured | beside it | at most | held |", "|---|---|---|---|---|"]
    words = {True: "yes", False: "NO", None: ""}
    lines += [
        f"| {row.what} | {row.measured} | {row.beside} | {row.bound} | {words[row.held]} |"
        for row in rows
    ]
    return "\n".join(lines)
