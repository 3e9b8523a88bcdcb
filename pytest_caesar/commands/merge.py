"""``pytest-caesar merge SHARD.json …``: several sessions as one, or what is missing of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import printable
from pytest_caesar.commands.merged_folders import merge_kept, merge_recordings
from pytest_caesar.commands.results_files import read_results, write_result
from pytest_caesar.reporting.ci.junit import junit_xml
from pytest_caesar.reporting.page.page import render
from pytest_caesar.reporting.results.cases import cases_of
from pytest_caesar.reporting.results.document import as_bytes
from pytest_caesar.reporting.results.merging import merge
from pytest_caesar.trials.document import merged as merged_trials

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "merge",
        help="merge the JSON of shards into one",
        description="Merge what --caesar-json wrote in several sessions that ran parts of the "
        "same tests. A shard that is missing, came twice or is of another commit is named, and so "
        "is a test that no shard ran, or two. Exit code 0 only when nothing failed and nothing "
        "is missing.",
    )
    parser.add_argument("shards", metavar="SHARD.json", type=Path, nargs="+")
    parser.add_argument(
        "-o", "--output", metavar="PATH", type=Path, required=True, help="where to write it"
    )
    parser.add_argument("--expect", metavar="N", type=int, help="how many shards there should be")
    parser.add_argument("--html", metavar="PATH", type=Path, help="write the page too")
    parser.add_argument("--junit", metavar="PATH", type=Path, help="write JUnit XML too")
    parser.add_argument(
        "--kept", metavar="DIR", type=Path, nargs="+", default=[],
        help="folders of --caesar-keep to be merged into --kept-into",
    )  # fmt: skip
    parser.add_argument("--kept-into", metavar="DIR", type=Path, help="where they are copied to")
    parser.add_argument(
        "--recordings", metavar="DIR", type=Path, nargs="+", default=[],
        help="folders with new recordings (__caesar__ somewhere below) to be merged into "
        "--recordings-into",
    )  # fmt: skip
    parser.add_argument(
        "--recordings-into", metavar="DIR", type=Path, help="the project they are copied to"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Merge; 1 when something failed or is missing."""
    for name in ("kept", "recordings"):
        if bool(getattr(args, name)) != (getattr(args, f"{name}_into") is not None):
            sys.stderr.write(f"pytest-caesar: --{name} and --{name}-into belong together\n")
            return 2
    shards = [(str(path), read_results(path)) for path in args.shards]
    merged = merge(shards, judge=merged_trials, expect=args.expect)
    problems = list(merged.problems)
    if args.kept:
        problems += merge_kept(args.kept, args.kept_into)
    if args.recordings:
        problems += merge_recordings(args.recordings, args.recordings_into)
    document = {**merged.document, "incomplete": problems}
    if problems:
        document["exit_status"] = document["exit_status"] or 1
    write_result(args.output, as_bytes(document).decode())
    if args.html is not None:
        write_result(args.html, render(document))
    if args.junit is not None:
        write_result(args.junit, junit_xml(cases_of(document), problems))
    for problem in problems:
        sys.stderr.write(f"problem: {printable(problem)}\n")
    return 1 if document["exit_status"] else 0
