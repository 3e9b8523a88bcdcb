"""``pytest-caesar run AGENT OBJECTIVE``: one delegation without pytest."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from caesar_agent.commands.dispatcher import HELD_BACK, INTERRUPTED, USAGE_ERROR
from caesar_agent.commands.events import describe, with_tool
from caesar_agent.console import one_line, printable, silence, tell
from caesar_agent.documents.event import Event
from caesar_agent.errors import CaesarError
from pytest_caesar.agents.config import parse_duration
from pytest_caesar.agents.selection import select
from pytest_caesar.commands.apply import LAYOUT
from pytest_caesar.commands.help_texts import in_options
from pytest_caesar.commands.run_page import describe_run, show_how_to_answer, width_of
from pytest_caesar.extensions.commands import take_up_plugins
from pytest_caesar.extensions.delegating import extensions_of, prices_of
from pytest_caesar.orchestrator.interrupted_run import InterruptedRun, interrupted_run_of
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.orchestrator.project_root import project_around
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.runs.failing_codes import is_refuted
from pytest_caesar.runs.prices import Prices
from pytest_caesar.runs.record import failure_as_json, run_as_json
from pytest_caesar.runs.run import Run
from pytest_caesar.supervision.cancellation import Interruption, stoppable
from pytest_caesar.supervision.supervisor import LINGER

if TYPE_CHECKING:
    import pluggy

    from caesar_agent.commands.dispatcher import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "run",
        help="delegate one task to one agent",
        description="Delegate one task to one agent and tell what came of it. "
        "Exit code: 0 when the process succeeded, the report says success, and neither a gate nor "
        "a broken promise to change nothing says otherwise; 1 otherwise, 2 for usage and "
        "configuration, 128 and the number of the signal after Ctrl-C, SIGTERM or SIGHUP, which "
        "end the agent within a second and a half.",
    )
    parser.add_argument("agent", metavar="AGENT", help="as for pytest --caesar-agent")
    parser.add_argument("objective", metavar="OBJECTIVE", help="what the agent is to do")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--repo", type=Path, metavar="DIR",
        help="repository to delegate on (default: the one around the current folder)",
    )  # fmt: skip
    where.add_argument(
        "--workspace", type=Path, metavar="DIR", help="a prepared workspace to adopt"
    )
    parser.add_argument(
        "--base-ref", metavar="SHA",
        help="with --workspace: the commit it started from; empty for the empty tree",
    )  # fmt: skip
    parser.add_argument(
        "--placed", action="append", default=[], metavar="PATH",
        help="with --workspace: a path that is not the agent's work; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--mode", choices=("write", "read-only"),
        help="default: as the role has it, else [policy], else write",
    )  # fmt: skip
    parser.add_argument(
        "--isolation", choices=("auto", "worktree", "inplace"),
        help="default: as the role has it, else [policy], else auto",
    )  # fmt: skip
    parser.add_argument(
        "--deadline",
        metavar="TIME",
        help="such as 90s, 10m, 1h; a bare number counts milliseconds (default: as the role has "
        "it, else [policy], else 10m)",
    )
    parser.add_argument(
        "--linger", metavar="TIME",
        help="how long the agent may go on after its report (default: 5s)",
    )  # fmt: skip
    parser.add_argument(
        "--context", default="", metavar="TEXT|@FILE", help="what the agent should know"
    )
    parser.add_argument(
        "--constraint", action="append", default=[], metavar="TEXT", help="may be repeated"
    )
    parser.add_argument(
        "--accept", action="append", default=[], metavar="TEXT",
        help="an acceptance criterion; may be repeated",
    )  # fmt: skip
    parser.add_argument("--role", metavar="NAME", help="the requested profile")
    parser.add_argument("--model", metavar="NAME", help="for agents that take one")
    parser.add_argument(
        "--runner", metavar="NAME", help="what runs agent definitions, as for --caesar-runner"
    )
    parser.add_argument(
        "--subprocess", action="store_true",
        help="give a function a process of its own, as --caesar-subprocess does",
    )  # fmt: skip
    parser.add_argument(
        "--sandbox", metavar="NAME",
        help="none, auto, bubblewrap, or one of a plugin; default: as [policy] has it",
    )  # fmt: skip
    parser.add_argument(
        "--network", choices=("auto", "on", "off"),
        help="default: as the role has it, else [policy], else auto",
    )  # fmt: skip
    parser.add_argument(
        "--channel",
        action="store_true",
        help="open the return channel: stderr says how to answer a question",
    )
    parser.add_argument(
        "--pass-env", action="append", default=[], metavar="NAME",
        help="let the agent see this variable too; may be repeated",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one object, also on failure")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Delegate, and tell what came of it."""
    with stoppable():
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)
            result = _delegate(args)
        except CaesarError as error:
            return _show_failure(args, error, USAGE_ERROR)
        except KeyboardInterrupt as error:
            return _show_interruption(args, error)
        code = 0 if result.succeeded and not is_refuted(result) else 1
        return _told(args, result, code)


def _spoken(run: Run) -> Run:
    """Return a run whose findings advise the options of this command."""
    return replace(
        run,
        diagnostics=tuple(
            replace(found, message=in_options(found.message)) for found in run.diagnostics
        ),
        children=tuple(map(_spoken, run.children)),
    )


def _told(args: argparse.Namespace, result: Run, code: int) -> int:
    result = _spoken(result)
    if args.json:
        return _print(_as_json(run_as_json(result)), code)
    return _print(describe_run(result, width=width_of(sys.stdout)), code)


def _show_failure(args: argparse.Namespace, error: CaesarError, code: int) -> int:
    if args.json:
        failure = failure_as_json(error, agent=args.agent)
        failure["error"]["message"] = in_options(failure["error"]["message"])
        return _print(_as_json(failure), code)
    tell(f"pytest-caesar: {printable(in_options(str(error)), keep=LAYOUT)}\n")
    return code


class DelegationInterruptedError(CaesarError):
    """Ctrl-C or a signal came, and there is no run to tell of.

    Attributes:
        left: where the work of the agent lies, or None when none was started.
    """

    left: InterruptedRun | None

    def message(self) -> str:
        """Say what is left, and where."""
        if self.left is None:
            return "interrupted before an agent was started"
        return (
            "interrupted; the agent was stopped\n"
            f"its work is in: {printable(str(self.left.workspace))}\n"
            f"task directory: {printable(str(self.left.task_dir))}"
        )


def _show_interruption(args: argparse.Namespace, error: KeyboardInterrupt) -> int:
    """Tell of the run as far as it came; ``diff``, ``apply`` and ``clean`` work on it."""
    code = INTERRUPTED
    if isinstance(error, Interruption):
        code = 128 + error.number
        if isinstance(error.result, Run):
            tell("pytest-caesar: interrupted; the agent was stopped\n")
            return _told(args, error.result, code)
    return _show_failure(args, DelegationInterruptedError(left=interrupted_run_of(error)), code)


def _project(args: argparse.Namespace) -> Path:
    """Return what is delegated on: what the options name, else where one stands."""
    named: Path | None = args.repo or args.workspace
    return named or project_around(Path.cwd())


def _delegate(args: argparse.Namespace) -> Run:
    project = _project(args)
    if not project.is_dir():
        _refuse(f"{project} is not a folder")
    plugins = take_up_plugins()
    deadline_ms = None if args.deadline is None else parse_duration(args.deadline)
    linger = LINGER if args.linger is None else parse_duration(args.linger) / 1000
    target = select(
        args.agent,
        project=project.absolute(),
        start=Path.cwd(),
        runner=args.runner,
        subprocess=args.subprocess,
    )
    orchestrator = Orchestrator(
        target,
        project=project,
        settings=OrchestratorSettings(
            pass_env=tuple(args.pass_env),
            on_event=_listener(args),
            runner=args.runner,
            linger=linger,
            extensions=None if plugins is None else extensions_of(plugins),
            prices=_prices(plugins),
        ),
    )
    return orchestrator.delegate(
        args.objective,
        context=_context(args.context),
        constraints=args.constraint,
        acceptance_criteria=args.accept,
        mode=args.mode,
        isolation=args.isolation,
        timeout=None if deadline_ms is None else deadline_ms / 1000,
        role=args.role,
        model=args.model,
        network=args.network,
        sandbox=args.sandbox,
        channel=args.channel or None,
        workspace=args.workspace,
        base_ref=args.base_ref,
        placed=args.placed,
    )


def _prices(plugins: pluggy.PluginManager | None) -> Prices | None:
    ask = None if plugins is None else prices_of(plugins)
    return None if ask is None else Prices({}, ask)


def _context(value: str) -> str:
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return _refuse(f"--context {value}: the file cannot be read: {error}")


def _refuse(problem: str) -> NoReturn:
    raise DelegationError(problem=problem)


def _as_json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _print(text: str, code: int) -> int:
    """Print what came of it; the exit code tells of the run, also where nobody reads the text."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        tell(f"pytest-caesar: the output cannot be written: {error.strerror}\n")
        return code or USAGE_ERROR
    return code


def _listener(args: argparse.Namespace) -> Callable[[Event], None] | None:
    """Return what tells of events on stderr: of all of them, or only of questions to answer."""
    if args.json and not args.channel:
        return None
    project = _project(args)

    tools: dict[str, str] = {}

    def listen(event: Event) -> None:
        event = with_tool(event, tools)
        if not args.json or event.type == "question":
            line = f"{one_line(event.type, limit=20):>12}  {one_line(describe(event))}\n"
            tell(line)
        if args.channel:
            show_how_to_answer(event, project)

    return listen
