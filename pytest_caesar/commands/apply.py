"""``pytest-caesar apply TASK_DIR``: take over what a delegation changed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import one_line, printable
from pytest_caesar.runs.record import Record, RecordError, read_record
from pytest_caesar.workspace.applying import MAX_NAMED, ApplyError, apply_patch
from pytest_caesar.workspace.naming import named

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers


LAYOUT = "\n\t"
"""What stays as it is in a message of several lines."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "apply",
        help="apply what a delegation changed to the repository, all or nothing",
        description="Apply the recorded patch of a delegation to the repository it was made for, "
        "all of it or nothing. The worktree is not needed.",
    )
    parser.add_argument("task_dir", metavar="TASK_DIR", type=Path)
    parser.add_argument("--repo", type=Path, metavar="DIR", help="apply to this repository instead")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Apply the patch; exit code 0 applied or there already, 1 refused, 2 nothing to apply from.

    Where nothing changed but what no patch can carry, nothing is taken over: exit code 1.
    """
    record = read_record(args.task_dir)
    if not record.verified:
        raise RecordError(
            task_dir=args.task_dir,
            problem="git could not verify what this delegation changed, so there is no patch",
        )
    repository = args.repo or record.repository
    if repository is None:
        raise RecordError(
            task_dir=args.task_dir, problem="the delegation ran outside git: name --repo DIR"
        )
    if not record.patch and record.unpatched:
        sys.stderr.write(f"pytest-caesar: nothing was applied: {left_out(record)}\n")
        return 1
    if not record.patch:
        sys.stdout.write("Nothing to apply: the delegation changed nothing.\n")
        return 0
    try:
        written = apply_patch(repository, record.patch)
    except ApplyError as error:
        sys.stderr.write(f"pytest-caesar: {printable(str(error), keep=LAYOUT)}\n")
        return 1
    where = printable(str(repository))
    if written:
        sys.stdout.write(f"Applied the changes of {record.task_id} to {where}.\n")
    else:
        sys.stdout.write(
            f"Nothing to apply: the changes of {record.task_id} are in {where} already.\n"
        )
    if record.unpatched:
        sys.stderr.write(f"pytest-caesar: not all of it was applied: {left_out(record)}\n")
    return 0


def left_out(record: Record) -> str:
    """Name what no patch can carry, and where it can be fetched by hand."""
    paths = named(record.unpatched, MAX_NAMED)
    where = printable(one_line(record.workspace, limit=400))
    return f"no patch can carry {paths}; it is in {where}, if that is still there"
