"""What ``@pytest.mark.caesar`` and ``caesar_allow`` may say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line
from pytest_caesar.agents.errors import near_miss
from pytest_caesar.settings.finding_codes import problem_of_codes
from pytest_caesar.settings.settings import RECORD_MODES

if TYPE_CHECKING:
    import pytest

ARGUMENTS = ("strict", "allow", "record")
"""What the marker takes."""


def problem_of_marker(mark: pytest.Mark) -> str:
    """Say what is wrong with a marker ``caesar``, or return ""."""
    unknown = [*map(repr, mark.args), *sorted(set(mark.kwargs) - set(ARGUMENTS))]
    if unknown:
        hint = near_miss(unknown[0], ARGUMENTS) or "."
        found = one_line(", ".join(unknown), limit=120)
        return f"the marker caesar has {found}{hint} It takes strict=, allow= and record="
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
    return f"the marker caesar has allow={problem}" if problem else ""


def _shown(value: Any) -> str:
    return one_line(repr(value), limit=80)
