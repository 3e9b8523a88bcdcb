"""The parameter that makes an item one trial of its test, and the test's name without it."""

from __future__ import annotations

import re
from typing import Final

import pytest

PARAMETER: Final = "_caesar_trial"
"""Fixture whose parameter is the number of the trial; nobody asks for it."""

_LABEL = re.compile(r"(?:-(trial\d+)\]|\[(trial\d+)\])\Z")


def trial_number(item: pytest.Item) -> int | None:
    """Return which trial of its test an item is, from 1; None for a test that runs once."""
    callspec = getattr(item, "callspec", None)
    number = callspec.params.get(PARAMETER) if callspec is not None else None
    return number if isinstance(number, int) else None


def without_trial(item: pytest.Item, text: str) -> str:
    """Return an id or a name of an item as it would be without its trial, which comes last."""
    found = _LABEL.search(text)
    if trial_number(item) is None or found is None:
        return text
    return text[: found.start()] + ("]" if found[1] else "")
