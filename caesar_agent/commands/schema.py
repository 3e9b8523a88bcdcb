"""``caesar-agent schema``: print the JSON Schema of a document."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers

NAMES = ("task", "report", "event", "question", "answer")
VA_NAMES = ("va-task-unit", "va-evidence", "va-lifecycle", "va-message")
"""Documents of va-agent-protocol; ``va-lifecycle`` is one execution of a task."""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``schema`` to the command line."""
    parser = subparsers.add_parser(
        "schema",
        help="print the JSON Schema of a document",
        description="Print the JSON Schema (draft 2020-12) of a document.",
    )
    parser.add_argument(
        "name", choices=(*NAMES, *VA_NAMES), metavar="NAME", help=", ".join((*NAMES, *VA_NAMES))
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="the variant for native structured outputs: closed objects, every property "
        "required, optional ones nullable",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the schema; 2 for a strict one that cannot be."""
    if args.name in VA_NAMES and args.strict:
        sys.stderr.write(
            f"there is no strict variant of {args.name}: its documents hold fields of any name, "
            "which structured outputs do not take\n"
        )
        return 2
    from caesar_agent.documents import schema as documents  # noqa: PLC0415 - slow

    if args.name in VA_NAMES:
        from caesar_agent.va import schema as va  # noqa: PLC0415 - as above

        found = va.schema(args.name)
    else:
        found = documents.schema(args.name, strict=args.strict)
    sys.stdout.write(documents.schema_text(found))
    return 0
