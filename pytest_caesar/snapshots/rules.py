"""The user's own rules for what varies from run to run; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError

Rules: TypeAlias = Sequence[tuple[str, str]]
"""Pairs of a regular expression and a replacement, as ``re.sub`` takes them."""


class RuleError(CaesarError):
    """A rule for snapshots cannot be used.

    Attributes:
        where: who gave the rules.
        number: which of them, from 1; 0 for all.
        problem: what was found, and what was expected.
    """

    where: str
    number: int
    problem: str

    def message(self) -> str:  # noqa: D102  (see the base)
        which = f"rule {self.number} of {self.where}" if self.number else self.where
        return f"{which}: {self.problem}"


def checked_rules(rules: object, *, where: str) -> tuple[tuple[str, str], ...]:
    """Return rules that can be used.

    Raises:
        RuleError: one of them is no pair, no regular expression, or has a replacement
            that names a group which is not there.
    """
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise RuleError(
            where=where,
            number=0,
            problem="expected a list of pairs of a regular expression and a replacement, "
            f"found {one_line(repr(rules), limit=80)}",
        )
    for number, rule in enumerate(rules, 1):
        problem = _problem(rule)
        if problem:
            raise RuleError(where=where, number=number, problem=problem)
    return tuple((pattern, replacement) for pattern, replacement in rules)


def _problem(rule: object) -> str:
    shown = one_line(repr(rule), limit=80)
    if isinstance(rule, str) or not isinstance(rule, Sequence) or len(rule) != 2:
        return (
            f"{shown} is no pair of a regular expression and a replacement, such as "
            '(r"build-\\d+", "<build>")'
        )
    pattern, replacement = rule
    try:
        compiled = re.compile(pattern)
    except (re.error, TypeError) as error:
        return f"{one_line(repr(pattern), limit=80)} is no regular expression: {error}"
    try:
        compiled.sub(replacement, "")
    except (re.error, TypeError, IndexError, AttributeError) as error:
        return f"{one_line(repr(replacement), limit=80)} cannot replace anything: {error}"
    return ""
