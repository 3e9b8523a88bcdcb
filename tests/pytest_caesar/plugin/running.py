"""Inner test runs: the plugin as a user meets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

Runs: TypeAlias = Callable[..., pytest.RunResult]

QUIET = (
    "-p",
    "no:anyio",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-W",
    "error",
    # syrupy 6 (the last for Python 3.10) warns of --snapshot-update with workers.
    "-W",
    "ignore:syrupy:pytest.PytestWarning",
    "--strict-markers",
)
"""Options of every inner run: what is only in the way is left out."""

AGENT = """\
#!/bin/sh
printf '{"protocol": "caesar.report/v1", "status": "success", "summary": "Said hello."}' \\
    > "$CAESAR_REPORT_PATH"
"""
"""The smallest agent there is."""


def agent_script(pytester: pytest.Pytester, name: str = "agent.sh", text: str = AGENT) -> None:
    """Put an executable script."""
    path = pytester.path / name
    path.write_text(text)
    path.chmod(0o755)
