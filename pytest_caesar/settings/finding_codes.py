"""Codes of findings that a user names: in the marker, and in the ini file."""

from __future__ import annotations

from collections.abc import Iterable

from caesar_agent.console import one_line
from caesar_agent.diagnostics import CODES
from pytest_caesar.agents.errors import near_miss


def problem_of_codes(codes: Iterable[str]) -> str:
    """Say which codes there are not, or return ""."""
    # Those with a prefix are a plugin's, which nobody can list.
    unknown = sorted(code for code in set(codes) - set(CODES) if "/" not in code)
    if not unknown:
        return ""
    found = one_line(", ".join(unknown), limit=120)
    near = near_miss(unknown[0], CODES)
    return f"{found}, which is no code of a finding{near or '; docs/diagnostics.md lists them'}"
