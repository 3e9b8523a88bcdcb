"""``pytest-caesar html RUNS.json``: the page of ``--caesar-html``, made afterwards."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_caesar.commands.results_files import read_results, write_result
from pytest_caesar.reporting.page.page import render
from pytest_caesar.reporting.results.comparison import compare
from pytest_caesar.trials.comparison import chances

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "html",
        help="make a page from the JSON of a session",
        description="Make the page of --caesar-html from what --caesar-json or the command merge "
        "wrote: one file that is opened from disk and loads nothing.",
    )
    parser.add_argument("results", metavar="RUNS.json", type=Path)
    parser.add_argument(
        "-o", "--output", metavar="PATH", type=Path, default=Path("caesar.html"),
        help="where to write the page (default: caesar.html)",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", metavar="RUNS.json", type=Path, help="show what this session had beside it"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    document = read_results(args.results)
    comparison = None
    if args.baseline is not None:
        comparison = compare(read_results(args.baseline), document, significance=chances)
    write_result(args.output, render(document, comparison=comparison))
    return 0
