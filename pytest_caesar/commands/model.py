"""``pytest-caesar model SCRIPT.json``: serve a scripted model outside of pytest."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from caesar_agent.console import one_line
from pytest_caesar.model.player import MAX_REQUESTS
from pytest_caesar.model.script import ScriptedModelError
from pytest_caesar.model.script_file import read_script
from pytest_caesar.model.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "model",
        help="serve a scripted model on 127.0.0.1",
        description="Answer a coding CLI from a script, as caesar_model does in a test, until "
        "Ctrl-C. The address is printed first. Exit code 1 when the script did not fit.",
    )
    parser.add_argument("script", metavar="SCRIPT.json", type=Path)
    parser.add_argument("--port", type=int, default=0, help="port (default: a free one)")
    parser.add_argument(
        "--max-requests",
        type=int,
        default=MAX_REQUESTS,
        metavar="N",
        help=f"requests of one conversation before the CLI is told to stop ({MAX_REQUESTS})",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM; 1 when the script did not fit what was asked for."""
    try:
        script = read_script(args.script.read_bytes())
    except OSError as error:
        raise ScriptedModelError(problem=f"{args.script}: {error.strerror}") from error
    except ScriptedModelError as error:
        raise ScriptedModelError(problem=f"{args.script}: {error.problem}") from error
    with ScriptedModel(script, max_requests=args.max_requests, port=args.port) as model:
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, _stop)
            _serve(model)
        except _Stopped:
            problem = model.judge()
    for request in model.requests:
        told = "beside the script" if request.side else f"turn {request.turn}"
        name = one_line(request.model, limit=80)
        sys.stderr.write(f"{request.api} {name}: {told}\n")
    if problem is None:
        return 0
    sys.stderr.write(f"{problem}\n")
    return 1


def _serve(model: ScriptedModel) -> NoReturn:
    sys.stderr.write(
        f"OPENAI_BASE_URL={model.url}/v1 ANTHROPIC_BASE_URL={model.url} "
        f"GOOGLE_VERTEX_BASE_URL={model.url} (any key); Ctrl-C ends it\n"
    )
    # Last, since whoever reads it may go on at once.
    sys.stdout.write(f"{model.url}\n")
    sys.stdout.flush()
    while True:
        signal.pause()


class _Stopped(Exception):  # noqa: N818 - what happened
    """Somebody ended the command."""


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler
    raise _Stopped
