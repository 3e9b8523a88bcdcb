"""``caesar-agent channel TASK_DIR``: serve the return channel of a task on stdio."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.channel.boot import serve

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers

OUTPUT_VARIABLE = "CAESAR_CHANNEL_OUTPUT"
"""Descriptor of the real stdout, where the command was started through a shell."""


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
