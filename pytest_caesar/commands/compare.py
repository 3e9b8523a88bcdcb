"""``pytest-caesar compare BEFORE.json AFTER.json``: what changed between two sessions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_caesar.commands.results_files import read_results, write_result
from pytest_caesar.reporting.ci.comparison_text import comparison_lines, comparison_markdown
from pytest_caesar.reporting.page.page import render
from pytest_caesar.reporting.results.comparison import compare
from pytest_caesar.trials.comparison import chances

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "compare",
        help="compare the JSON of two sessions",
        description="Say for each test and agent what changed: outcome, status, source, changes, "
        "commands, usage, and rates with their significance. Exit code 1 when something broke.",
    )
    parser.add_argument("before", metavar="BEFORE.json", type=Path)
    parser.add_argument("after", metavar="AFTER.json", type=Path)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print it for a pull request")
    form.add_argument(
        "--html", metavar="PATH", type=Path, help="write the page of AFTER.json with the baseline"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare; 1 when something broke."""
    before, after = read_results(args.before), read_results(args.after)
    found = compare(before, after, significance=chances)
    if args.html is not None:
        write_result(args.html, render(after, comparison=found))
    elif args.markdown:
        sys.stdout.write(comparison_markdown(found))
    else:
        sys.stdout.write("\n".join(comparison_lines(found)) + "\n")
    return 1 if found.broken else 0
