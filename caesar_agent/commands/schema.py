"""``caesar-agent schema``: print the JSON Schema of a document."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caesar_agent.dispatcher import Subparsers

NAMES = ("task", "report", "event", "question", "answer")


def add_parser(subparsers: Subparsers) -> None:
    """Add ``schema`` to the command line."""
    parser = subparsers.add_parser(
        "schema",
        help="print the JSON Schema of a document",
        description="Print the JSON Schema (draft 2020-12) of a document.",
    )
    parser.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument(
        "--strict",
        action="store_true",
        help="the variant for native structured outputs: closed objects, every property "
        "required, optional ones nullable",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the schema; always 0."""
    from caesar_agent.documents.schema import schema_text  # noqa: PLC0415 - slow

    sys.stdout.write(schema_text(args.name, strict=args.strict))
    return 0
