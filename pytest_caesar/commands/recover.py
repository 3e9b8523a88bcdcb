"""``pytest-caesar recover TASK_DIR``: what an orchestrator would have made of a folder."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line, printable
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from pytest_caesar.extensions.commands import take_up_plugins
from pytest_caesar.recovery.contradictions import speaks_against
from pytest_caesar.recovery.evidence import Recovered
from pytest_caesar.recovery.passages import PLAIN
from pytest_caesar.recovery.sources import recover
from pytest_caesar.recovery.streams.dialects import DIALECTS
from pytest_caesar.runs.kept_task import read_folder

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers


class BriefFileError(CaesarError):
    """A file that was given as the brief cannot be read.

    Attributes:
        path: what was given.
        problem: what the system said.
    """

    path: Path
    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return (
            f"{self.path}: {self.problem}; expected a file with the brief as it was sent "
            "(without --brief it is rendered from task.json)"
        )


class DialectError(CaesarError):
    """There is no dialect of that name.

    Attributes:
        dialect: what was given.
    """

    dialect: str

    def message(self) -> str:
        """Name it, and those that there are."""
        return (
            f"--dialect {one_line(self.dialect, limit=120)}: there is no such stream; expected "
            f"one of {', '.join((*DIALECTS, PLAIN))}"
        )


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "recover",
        help="recover the report from the folder of a task",
        description="Recover the report from what a delegation left in its folder, as an "
        "orchestrator does. Exit code: 0 when the agent reported, 1 when the report had to be "
        "synthesized, 2 for usage.",
    )
    parser.add_argument("task_dir", metavar="TASK_DIR", type=Path)
    parser.add_argument(
        "--brief", type=Path, metavar="FILE",
        help="the brief as it was sent (default: rendered from task.json)",
    )  # fmt: skip
    parser.add_argument(
        "--dialect", metavar="NAME",
        help=f"native stream of the log: {', '.join(DIALECTS)}, one that a plugin adds, or {PLAIN} "
        "(default: detected)",
    )  # fmt: skip
    parser.add_argument(
        "--exit-code", type=int, metavar="N",
        help="how the process ended (default: what the folder says)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Recover, and print the verdict."""
    take_up_plugins()
    if args.dialect not in (None, PLAIN, *DIALECTS):
        raise DialectError(dialect=args.dialect)
    folder = read_folder(args.task_dir)
    evidence = folder.evidence
    if args.brief is not None:
        evidence = replace(evidence, brief=_brief(args.brief))
    if args.dialect is not None:
        evidence = replace(evidence, dialect=args.dialect)
    if args.exit_code is not None:
        evidence = replace(evidence, exit_code=args.exit_code, signal=None, timed_out=False)
    recovered = recover(evidence)
    told = (*folder.diagnostics, *recovered.diagnostics, *speaks_against(recovered, evidence))
    if args.json:
        sys.stdout.write(json.dumps(_as_json(recovered, told), indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _as_lines(recovered, told)))
    return 1 if recovered.source == "synthesized" else 0


def _brief(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        problem = f"cannot be read as a brief: {error.strerror}"
        raise BriefFileError(path=path, problem=problem) from None


def _as_json(recovered: Recovered, told: tuple[Diagnostic, ...]) -> dict[str, Any]:
    return {
        "source": recovered.source,
        "form": recovered.form,
        "report": recovered.report.dump(),
        "diagnostics": [diagnostic.as_dict() for diagnostic in told],
        "offsets": list(recovered.offsets) if recovered.offsets else None,
    }


def _as_lines(recovered: Recovered, told: tuple[Diagnostic, ...]) -> list[str]:
    where = f", as {recovered.form}" if recovered.form else ""
    if recovered.offsets:
        where += f" at bytes {recovered.offsets[0]}-{recovered.offsets[1]} of raw.log"
    report = recovered.report
    lines = [
        f"source   {recovered.source}{where}",
        f"status   {report.status}",
        f"summary  {one_line(report.summary, limit=1000)}",
    ]
    lines += [f"next     {one_line(step, limit=300)}" for step in report.next_steps]
    lines += [f"{found.code}: {printable(found.message)}" for found in told]
    return lines
