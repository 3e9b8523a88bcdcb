"""A variable that a failing agent names in its last words, and that was kept from it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.supervision.environment import refusal

LAST_WORDS = 2048
"""Last bytes of a log that are looked at: what an agent says before it gives up."""

MAX_NAMES = 3
"""Variables that are named at most."""

_NAME = re.compile(rb"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![A-Za-z0-9_])")
"""Names with an underscore: ``USER`` or ``PATH`` may be a word of a sentence."""

_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


def missing_variables(
    *logs: bytes, around: Mapping[str, str], given: Mapping[str, str]
) -> list[Diagnostic]:
    """Return which variables logs name at their ends that are set here and were not passed on.

    Names alone are told, never values.

    Args:
        logs: the ends of what the agent printed.
        around: the environment of the harness.
        given: the environment of the agent.
    """
    return [
        Diagnostic(
            code="variable-not-passed",
            message=f"{name} is set here and was not passed on: --caesar-pass-env={name}",
        )
        for name in list(dict.fromkeys(_kept_back(logs, around, given)))[:MAX_NAMES]
    ]


def _kept_back(
    logs: tuple[bytes, ...], around: Mapping[str, str], given: Mapping[str, str]
) -> Iterator[str]:
    for log in logs:
        for found in _NAME.findall(_COLOUR.sub(b" ", log[-LAST_WORDS:])):
            name = found.decode("ascii")
            if name in around and name not in given and refusal(name) is None:
                yield name
