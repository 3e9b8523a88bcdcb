"""What the plugin and the SDK cost those who have them installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

from benchmarks.measuring import Row, difference, interleave

ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def _command(folder: str, *argv: str) -> Callable[[], object]:
    def run() -> object:
        return subprocess.run(
            [sys.executable, *argv], cwd=folder, env=ENVIRONMENT, capture_output=True, check=False
        )

    return run


def rows() -> list[Row]:
    """Idle tax of the plugin, and the import of the SDK."""
    with tempfile.TemporaryDirectory() as folder:
        # Hypothesis imports itself at the end of each run: several times what is looked for here.
        quiet = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
        collect = ("-m", "pytest", "--collect-only", "-q", *quiet)
        plugin, without, neither = interleave(
            _command(folder, *collect),
            _command(folder, *collect, "-p", "no:caesar"),
            _command(folder, *collect, "-p", "no:caesar", "-p", "no:syrupy"),
            rounds=21,
        )
        imported, bare = interleave(
            _command(folder, "-c", "import caesar_agent"),
            _command(folder, "-c", "pass"),
            rounds=21,
        )
    return [
        difference("pytest --collect-only, empty folder, over -p no:caesar", plugin, without, 5),
        Row(
            "syrupy's own share of the same",
            f"+ {(without - neither) * 1000:.1f} ms",
            f"{neither * 1000:.1f} ms",
        ),
        difference("import caesar_agent, over bare Python", imported, bare, 15),
    ]
