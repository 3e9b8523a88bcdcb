"""``caesar-agent channel TASK_DIR``: serve the return channel of a task on stdio."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.channel import transport
from caesar_agent.task_directory import TaskDirectory

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - has no public name

USAGE_ERROR = 2

OUTPUT_VARIABLE = "CAESAR_CHANNEL_OUTPUT"
"""Descriptor of the real stdout, where the command was started through a shell."""

INSTALL = (
    "caesar-agent channel: the return channel needs the `mcp` package, version 2 or later{found}; "
    "install it with: pip install 'pytest-caesar[mcp]'"
)
"""What is said where the extra is missing."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "channel",
        help="serve the return channel of a task (MCP on stdio)",
        description="Serve the return channel of a task: an MCP server on stdio with the tools "
        "get_task, report_progress, ask_orchestrator and submit_report. It ends when its input does.",
    )
    parser.add_argument("task_dir", metavar="TASK_DIR", type=Path, help="the task directory")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until the client closes its end; 2 when that cannot begin."""
    return serve(args.task_dir, _kept_output())


def _kept_output() -> int | None:
    """Return the stdout that ``scripts/caesar-agent`` put aside before Python started."""
    number = os.environ.pop(OUTPUT_VARIABLE, "")
    if not number.isdecimal():
        return None
    try:
        os.set_inheritable(int(number), False)  # noqa: FBT003 - its only form
    except (OSError, OverflowError):
        return None
    return int(number)


def serve(task_dir: Path, output: int | None = None) -> int:
    """Serve a task directory.

    Args:
        task_dir: the task directory.
        output: a duplicate of stdout that was made before anything could print.
    """
    # First of all: whatever is imported from here on may print.
    wire = transport.claim(output)
    directory = task_dir.absolute()
    if not directory.is_dir():
        print(
            f"caesar-agent channel: {str(directory)!r} is not a folder; "
            "expected the directory of a task ($CAESAR_TASK_DIR)",
            file=sys.stderr,
        )
        return USAGE_ERROR
    try:
        channel = importlib.import_module("caesar_agent.channel.server")
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        print(INSTALL.format(found=_found()), file=sys.stderr)
        return USAGE_ERROR
    if os.isatty(wire.input):
        print(
            "caesar-agent channel: this is an MCP server and reads JSON-RPC from a client; "
            "Ctrl-D ends it",
            file=sys.stderr,
        )
    channel.serve(TaskDirectory(directory), wire)
    return 0


def _found() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - rarely needed

    try:
        return f" (found {version('mcp')})"
    except PackageNotFoundError:
        return ""
