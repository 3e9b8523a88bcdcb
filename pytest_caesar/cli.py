"""``pytest-caesar``: delegate, recover, show and apply without pytest."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from caesar_agent.commands.dispatcher import HELD_BACK, Dispatcher

COMMANDS = (
    "init",
    "doctor",
    "run",
    "recover",
    "diff",
    "apply",
    "clean",
    "agents",
    "model",
    "html",
    "merge",
    "compare",
    "gate-check",
)
"""Subcommands in the order of the help, each a module of its own."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; exit codes as ``Dispatcher.main`` gives them."""
    if "run" in (sys.argv[1:2] if argv is None else argv[:1]):
        # Its answer to Ctrl-C is one JSON object, also while it is still being imported.
        signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)
    return Dispatcher(
        name="pytest-caesar",
        description="Delegate tasks to agents that speak OACP, and look at what came of them.",
        package="pytest_caesar.commands",
        commands=COMMANDS,
    ).main(argv)


if __name__ == "__main__":
    sys.exit(main())
