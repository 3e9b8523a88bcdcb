"""A comparison of two sessions for a terminal, and for a pull request."""

from __future__ import annotations

from typing import Final

from caesar_agent.console import one_line
from pytest_caesar.reporting.ci.markdown import code, escaped, table
from pytest_caesar.reporting.results.comparison import Comparison

SHOWN: Final = 100
"""Differences that are shown; a comment of GitHub holds 65 536 characters."""

MARKER: Final = "<!-- pytest-caesar compare -->"
"""First line of the markdown, by which a pipeline finds its own comment again."""

WIDE: Final = 160
"""Characters of one side of a difference."""


def comparison_lines(found: Comparison) -> list[str]:
    """Return lines for a terminal: the counts, then one or two lines for each difference."""
    lines = [found.sentence()]
    for one in found.differences:
        agent = f" ({one_line(one.agent, limit=60)})" if one.agent else ""
        lines.append(f"{one.word:<8} {one_line(one.test, limit=300)}{agent}")
        before, after = (one_line(", ".join(side), limit=WIDE) for side in (one.before, one.after))
        if before and after:
            lines.append(f"         {before} -> {after}")
        elif before or after:
            lines.append(f"         {before or after}")
    return lines


def comparison_markdown(found: Comparison) -> str:
    """Return the comparison as a comment of a pull request; at most ``SHOWN`` rows."""
    rows = [
        (
            f"{one.sign} {one.word}",
            code(one.test),
            escaped(one.agent, limit=60),
            escaped(", ".join(one.before), limit=WIDE) or "—",
            escaped(", ".join(one.after), limit=WIDE) or "—",
        )
        for one in found.differences[:SHOWN]
    ]
    lines = [MARKER, "### Agents, against the base branch", "", escaped(found.sentence())]
    if rows:
        lines += ["", *table(("", "test", "agent", "before", "now"), rows)]
    if len(found.differences) > SHOWN:
        lines += ["", f"and {len(found.differences) - SHOWN} more."]
    return "\n".join(lines) + "\n"
