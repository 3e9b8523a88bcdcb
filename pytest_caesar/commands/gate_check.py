"""``pytest-caesar gate-check``: how often the gates of a session would flip."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError
from pytest_caesar.trials.flips import flips
from pytest_caesar.trials.rate_gate import Gate
from pytest_caesar.trials.table import percent

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers

MAX_BYTES = 512 * 1024 * 1024
"""Bytes of a file of a session that is read."""

ADVICE = (
    "For an agent at its gate the observed rate flips about every second time, however many trials "
    "there are; @pytest.mark.caesar(confidence=0.95) judges only what is clear."
)
"""What to do about a gate that flips."""

OFTEN = 0.05
"""From here on a gate flips too often to be relied on."""


class RunsFileError(CaesarError):
    """A file is not what ``--caesar-json`` writes, or holds no trials.

    Attributes:
        path: of the file.
        problem: what is wrong with it.
    """

    path: Path
    problem: str

    def message(self) -> str:
        """Say what was found, and what was expected."""
        return f"{self.path}: {self.problem}; expected what pytest --caesar-json=PATH writes"


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "gate-check",
        help="say how often the gates of a session's trials would flip",
        description="Say how often each test with trials would get the other verdict if the "
        "same session were run again.",
    )
    parser.add_argument("runs", metavar="RUNS.json", type=Path, help="what --caesar-json wrote")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print a line for each test with a gate."""
    found = [entry for one in _read(args.runs) if (entry := _checked(args.runs, one))]
    text = json.dumps(found, indent=2) if args.json else "\n".join(_lines(found))
    sys.stdout.write(text + "\n")
    return 0


def _lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    if not found:
        return ["no test of this session has a gate (min_rate) that was met or missed"]
    lines = [_line(entry) for entry in found]
    if any(entry["worst"] > OFTEN for entry in found if entry["confidence"] is None):
        lines += ["", ADVICE]
    return lines


def _read(path: Path) -> list[Mapping[str, Any]]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RunsFileError(path=path, problem=f"it is larger than {MAX_BYTES >> 20} MiB")
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise RunsFileError(path=path, problem=error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise RunsFileError(path=path, problem="it is not JSON") from error
    trials = value.get("trials") if isinstance(value, dict) else None
    if not isinstance(trials, list) or not all(isinstance(one, dict) for one in trials):
        raise RunsFileError(path=path, problem="it holds no trials")
    return trials


def _checked(path: Path, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is printed of one test; None where nothing was judged."""
    passed, counted, verdict = (entry.get(name) for name in ("passed", "counted", "verdict"))
    gate_value = entry.get("gate")
    if (
        not isinstance(passed, int)
        or not isinstance(counted, int)
        or not 0 <= passed <= counted
        or not isinstance(gate_value, dict)
    ):
        raise RunsFileError(path=path, problem="an entry of its trials is not complete")
    try:
        gate = Gate.from_json(gate_value)
    except (ValueError, ZeroDivisionError) as error:
        raise RunsFileError(path=path, problem=one_line(str(error), limit=200)) from error
    if gate.min_rate is None or not counted or verdict not in ("met", "missed"):
        return None
    found = flips(gate, passed, counted, met=verdict == "met")
    return {
        "id": str(entry.get("id")),
        "verdict": verdict,
        "passed": passed,
        "counted": counted,
        "trials": gate.trials,
        "min_rate": float(gate.min_rate),
        "confidence": gate.confidence,
        "observed": found.observed,
        "worst": found.worst,
    }


def _line(entry: Mapping[str, Any]) -> str:
    other = "missed" if entry["verdict"] == "met" else "met"
    return (
        f"{one_line(entry['id'], limit=200)}: {entry['verdict']} ({entry['passed']} of "
        f"{entry['counted']}, min {100 * entry['min_rate']:g} %); run again, it would be {other} "
        f"in {percent(entry['observed'])} of all sessions, at worst {percent(entry['worst'])}"
    )
