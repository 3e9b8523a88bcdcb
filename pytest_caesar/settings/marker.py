"""What ``@pytest.mark.caesar`` and ``caesar_allow`` may say."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line
from pytest_caesar.agents.errors import near_miss
from pytest_caesar.runs.budget import Limits, problem_of_limits
from pytest_caesar.settings.finding_codes import problem_of_codes
from pytest_caesar.settings.settings import MAX_TRIALS, RECORD_MODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

LIMITS = ("max_tokens", "max_cost_usd", "max_turns")
"""What a test may use at most."""

ARGUMENTS = (
    "strict",
    "allow",
    "record",
    "trials",
    "min_rate",
    "confidence",
    "undecided",
    "stop",
    *LIMITS,
)
"""What the marker takes."""

_TAKES = f"{', '.join(f'{name}=' for name in ARGUMENTS[:-1])} and {ARGUMENTS[-1]}="


def problem_of_marker(mark: pytest.Mark) -> str:
    """Say what is wrong with a marker ``caesar``, or return ""."""
    unknown = [*map(repr, mark.args), *sorted(set(mark.kwargs) - set(ARGUMENTS))]
    if unknown:
        hint = near_miss(unknown[0], ARGUMENTS) or "."
        found = one_line(", ".join(unknown), limit=120)
        return f"the marker caesar has {found}{hint} It takes {_TAKES}"
    strict, record = mark.kwargs.get("strict"), mark.kwargs.get("record")
    if strict not in (None, True, False):
        return f"the marker caesar has strict={_shown(strict)}, expected True or False"
    if record is not None and record not in RECORD_MODES:
        return (
            f"the marker caesar has record={_shown(record)}, expected one of "
            f"{', '.join(RECORD_MODES)}{near_miss(str(record), RECORD_MODES)}"
        )
    allow = mark.kwargs.get("allow", ())
    codes = [allow] if isinstance(allow, str) else allow
    if not isinstance(codes, list | tuple | set | frozenset) or not all(
        isinstance(code, str) for code in codes
    ):
        return f"the marker caesar has allow={_shown(allow)}, expected a list of codes"
    problem = problem_of_codes(codes)
    if problem:
        return f"the marker caesar has allow={problem}"
    problem = problem_of_limits({name: mark.kwargs.get(name) for name in LIMITS})
    if problem:
        return f"the marker caesar has {problem}"
    return _problem_of_trials(mark.kwargs)


def _problem_of_trials(asked: Mapping[str, Any]) -> str:
    """Say what is wrong with what a marker asks of trials, or return ""."""
    checks = (
        ("trials", _is_count, f"a whole number from 2 to {MAX_TRIALS}"),
        ("min_rate", _is_rate, "a rate above 0 and at most 1, such as 0.8"),
        ("confidence", _is_confidence, "a number from 0.5 up to below 1, such as 0.95"),
        ("undecided", lambda value: value in ("fail", "skip"), "'fail' or 'skip'"),
        ("stop", lambda value: isinstance(value, bool), "True or False"),
    )
    for name, holds, expected in checks:
        if asked.get(name) is not None and not holds(asked[name]):
            return f"the marker caesar has {name}={_shown(asked[name])}, expected {expected}"
    return ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 2 <= value <= MAX_TRIALS


def _is_rate(value: object) -> bool:
    return value is not True and isinstance(value, int | float | Fraction) and 0 < value <= 1


def _is_confidence(value: object) -> bool:
    return isinstance(value, float) and 0.5 <= value < 1


def limits_of(item: pytest.Item) -> Limits:
    """Return what a test may use at most: of several markers the closest one counts."""
    found: dict[str, Any] = {}
    for mark in item.iter_markers("caesar"):
        for name in LIMITS:
            if mark.kwargs.get(name) is not None:
                found.setdefault(name, mark.kwargs[name])
    return Limits(**found)


def _shown(value: Any) -> str:
    return one_line(repr(value), limit=80)
