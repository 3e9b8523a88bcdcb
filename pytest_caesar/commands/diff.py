"""``pytest-caesar diff TASK_DIR``: show what a delegation changed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import printable
from pytest_caesar.commands.apply import left_out
from pytest_caesar.runs.record import read_record

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "diff",
        help="show what a delegation changed",
        description="Print the recorded patch of a delegation, without what was placed. "
        "The worktree is not needed.",
    )
    parser.add_argument("task_dir", metavar="TASK_DIR", type=Path)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the patch: byte for byte to a file or pipe, control characters escaped to a terminal."""
    record = read_record(args.task_dir)
    if not record.verified:
        sys.stderr.write("pytest-caesar: git could not verify what this delegation changed\n")
        return 1
    if sys.stdout.isatty():
        sys.stdout.write(printable(record.patch.decode(errors="replace"), keep="\n\t"))
    else:
        sys.stdout.buffer.write(record.patch)
    if record.unpatched:
        sys.stdout.flush()
        sys.stderr.write(f"pytest-caesar: not all of it is shown: {left_out(record)}\n")
    return 0
