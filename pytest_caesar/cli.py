"""``pytest-caesar``: delegate, recover, show and apply without pytest."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence

from caesar_agent.errors import CaesarError

COMMANDS = ("run", "recover", "diff", "apply", "agents")
"""Each is a module of ``pytest_caesar.commands`` with ``add_parser`` and ``run``."""

USAGE = 2
"""Exit code for usage and configuration, as argparse gives it."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every command."""
    parser = argparse.ArgumentParser(
        prog="pytest-caesar",
        description="Delegate tasks to agents that speak OACP, and look at what came of them.",
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = f"pytest_caesar.commands.{name}"
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module).add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1, or 2 for usage and configuration."""
    args = build_parser().parse_args(argv)
    try:
        return int(args.run(args))
    except CaesarError as error:
        sys.stderr.write(f"pytest-caesar: {error}\n")
        return USAGE
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
