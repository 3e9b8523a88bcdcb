"""``caesar-agent``: the command line of the SDK, a dispatcher over ``caesar_agent.commands``."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType
    from typing import TypeAlias

    # argparse has no public name for what add_subparsers returns.
    Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

COMMANDS = ("schema", "validate", "events", "questions", "answer", "channel")
"""Subcommands in the order of the help; each is the module of that name in ``caesar_agent.commands``."""

USAGE_ERROR = 2
"""Exit code of a command line that cannot be understood, and of a file that cannot be read."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells count it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Args:
        argv: arguments without the program name; None for those of this process.

    Returns:
        The exit code: 0 for yes, 1 for no, 2 for a usage error or an unreadable
        file, 130 after an interruption.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character shows its escape, and nothing fails.
            stream.reconfigure(errors="backslashreplace")
    parser = _build_parser(arguments)
    args = parser.parse_args(arguments)
    if args.version:
        print(_version())
        return 0
    if args.run is None:
        parser.print_help(sys.stderr)
        return USAGE_ERROR
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (``caesar-agent events … | head``): nothing is left to
        # say, and the interpreter must not say it again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _build_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="caesar-agent", description="Tools for agents that speak OACP."
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.set_defaults(run=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    # Only the module that is asked for is imported; help and mistakes need them all.
    named = next((word for word in arguments if not word.startswith("-")), None)
    wanted = (named,) if named in COMMANDS else COMMANDS
    for name in wanted:
        module = _command(name)
        if module is not None:
            module.add_parser(subparsers)
    return parser


def _command(name: str) -> ModuleType | None:
    """Return the module of a subcommand, or None when this installation has none."""
    full = f"caesar_agent.commands.{name}"
    if importlib.util.find_spec(full) is None:
        return None
    return importlib.import_module(full)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely asked for

    return f"caesar-agent {version('pytest-caesar')}"
