"""``caesar-agent questions TASK_DIR``: what was asked, and what became of it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.commands.events import no_task
from caesar_agent.console import printable
from caesar_agent.mailbox.mailbox import Mailbox
from caesar_agent.mailbox.reader import AskedQuestion

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers

UNREADABLE = 2


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "questions",
        help="list the questions of a task",
        description="List the questions that the agent of a task has asked, and their answers. "
        "`caesar-agent answer` answers one.",
    )
    parser.add_argument("task_dir", metavar="TASK_DIR", type=Path, help="the task directory")
    parser.add_argument("--pending", action="store_true", help="only those that wait for an answer")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List the questions; 2 when the folder is not there or cannot be read."""
    if not args.task_dir.is_dir():
        print(
            f"caesar-agent questions: {printable(str(args.task_dir))} is not a folder; "
            "expected the directory of a task ($CAESAR_TASK_DIR)",
            file=sys.stderr,
        )
        return UNREADABLE
    names = ("task.json", "questions", "answers")
    if not any(os.path.lexists(args.task_dir / name) for name in names):
        print(f"caesar-agent questions: {no_task(args.task_dir)}", file=sys.stderr)
        return UNREADABLE
    mailbox = Mailbox(args.task_dir)
    questions = mailbox.questions(final=True)
    if args.pending:
        questions = tuple(question for question in questions if question.state == "pending")
    if args.json:
        found = {
            "questions": [question.as_dict() for question in questions],
            "diagnostics": [diagnostic.as_dict() for diagnostic in mailbox.diagnostics],
        }
        print(json.dumps(found, indent=2))
    else:
        for question in questions:
            print(_describe(question))
        for diagnostic in mailbox.diagnostics:
            print(f"{diagnostic.code}: {diagnostic.message}", file=sys.stderr)
    unsafe = ("mailbox-unsafe", "mailbox-unreadable")
    return UNREADABLE if any(found.code in unsafe for found in mailbox.diagnostics) else 0


def _describe(question: AskedQuestion) -> str:
    lines = [f"{question.id}  {question.state}", f"  {printable(question.question)}"]
    lines += [f"  - {printable(option)}" for option in question.options]
    if question.answer is not None:
        lines.append(f"  = {printable(question.answer)}")
    return "\n".join(lines)
