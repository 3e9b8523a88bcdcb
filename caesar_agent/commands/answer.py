"""``caesar-agent answer TASK_DIR ID TEXT``: play the orchestrator for one question."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.console import one_line, printable
from caesar_agent.errors import CaesarError
from caesar_agent.mailbox.errors import InvalidQuestionIdError, InvalidTextError
from caesar_agent.mailbox.mailbox import Mailbox

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers
    from caesar_agent.documents.question import QuestionFile

REFUSED = 1
UNUSABLE = 2


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "answer",
        help="answer a question of a task",
        description="Answer a question that the agent of a task has asked. The first answer "
        "stands: a question that was answered, has expired or was withdrawn is refused with "
        "exit code 1.",
    )
    parser.add_argument("task_dir", metavar="TASK_DIR", type=Path, help="the task directory")
    parser.add_argument(
        "question_id", metavar="ID", help="id of the question, from `caesar-agent questions`"
    )
    parser.add_argument("text", metavar="TEXT", help="the answer")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Answer; 1 when the question is not open, 2 when the arguments or the folder are unusable."""
    if not args.task_dir.is_dir():
        return _refuse(f"{args.task_dir} is not a folder; expected a task directory", UNUSABLE)
    try:
        mailbox = Mailbox(args.task_dir)
        question = mailbox.answer(args.question_id, args.text)
    except (InvalidQuestionIdError, InvalidTextError) as error:
        return _refuse(str(error), UNUSABLE)
    except CaesarError as error:
        return _refuse(str(error), REFUSED)
    except OSError as error:
        return _refuse(f"the answer cannot be written: {error}", UNUSABLE)
    if question.options and args.text not in question.options:
        offered = ", ".join(one_line(option, limit=80) for option in question.options[:20])
        print(f"caesar-agent answer: none of the options ({offered})", file=sys.stderr)
    problem = _tell(mailbox, question, args.text)
    if problem:
        print(
            f"caesar-agent answer: answered, but not told in the event log: {printable(problem)}",
            file=sys.stderr,
        )
    return 0


def _tell(mailbox: Mailbox, question: QuestionFile, text: str) -> str:
    from caesar_agent.mailbox.question_events import MailboxEvents  # noqa: PLC0415 - only when answered

    events = MailboxEvents(mailbox.directory, task_id=mailbox.task_id)
    problem = events.add_question(question.id, question.question, question.options)
    return problem or events.add_answer(question.id, text)


def _refuse(text: str, code: int) -> int:
    print(f"caesar-agent answer: {printable(text)}", file=sys.stderr)
    return code
