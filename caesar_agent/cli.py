"""``caesar-agent``: the command line of the SDK."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from caesar_agent.commands.dispatcher import Dispatcher

COMMANDS = ("schema", "validate", "events", "questions", "answer", "channel")
"""Subcommands in the order of the help, each a module of its own."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; exit codes as ``Dispatcher.main`` gives them."""
    return Dispatcher(
        name="caesar-agent",
        description="Tools for agents that speak OACP.",
        package="caesar_agent.commands",
        commands=COMMANDS,
    ).main(argv)


if __name__ == "__main__":
    sys.exit(main())
