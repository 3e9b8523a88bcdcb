"""How the end of an agent is told: from what a monitor saw to an outcome."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.supervision.monitors.monitor import KILL_WAIT, MAX_LEFT
from pytest_caesar.supervision.outcome import LeakedProcess, Outcome
from pytest_caesar.supervision.processes import readable

Asked = Literal["", "cancelled", "lingering", "abandoned"]
"""Why the harness had an agent ended."""

_HOW = {
    "group": "in its process group",
    "descendant": "among its descendants",
    "environment": "by its environment",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """What a monitor saw.

    Attributes:
        code: exit code, or None.
        number: of the signal that ended the agent, or None.
        why: ``deadline``, ``asked`` or ``orphaned``; "" when it ended by itself.
        left: process id, command line and whether it was of the agent's group.
        survivors: process id and command line of what could not be ended.
    """

    code: int | None
    number: int | None
    why: str
    left: Sequence[tuple[int, bytes, bool]] = ()
    survivors: Sequence[tuple[int, bytes]] = ()


def outcome_of(
    ending: Ending,
    *,
    asked: Asked,
    delivered: bool,
    duration_ms: int,
    strangers: Sequence[LeakedProcess],
    diagnostics: Sequence[Diagnostic],
) -> Outcome:
    """Make the outcome of a run.

    Args:
        ending: what the monitor saw.
        asked: why the harness had the agent ended, if it had.
        delivered: the report was there before the deadline.
        duration_ms: until the whole tree was gone.
        strangers: what was found by its environment.
        diagnostics: what else was found.
    """
    cancelled = ending.why == "asked" and asked == "cancelled"
    after_report = delivered and bool(ending.why) and not cancelled
    leaked = [
        LeakedProcess(pid=pid, name=readable(name), found_by="group" if group else "descendant")
        for pid, name, group in ending.left
    ]
    leaked += strangers
    return Outcome(
        status=_status(ending, cancelled=cancelled, after_report=after_report),
        exit_code=ending.code,
        signal=signal_name(ending.number),
        timed_out=ending.why == "deadline",
        killed_after_report=after_report,
        duration_ms=duration_ms,
        leaked=tuple(leaked),
        diagnostics=(
            *ending_findings(ending.why, delivered=after_report),
            *leaked_findings(leaked),
            *(unkillable_finding(pid, readable(name)) for pid, name in ending.survivors),
            *diagnostics,
        ),
    )


def _status(
    ending: Ending, *, cancelled: bool, after_report: bool
) -> Literal["succeeded", "failed", "timed_out", "cancelled"]:
    if cancelled:
        return "cancelled"
    if after_report:
        return "succeeded"
    if ending.why == "deadline":
        return "timed_out"
    if ending.why:
        return "cancelled"
    return "succeeded" if ending.code == 0 else "failed"


def signal_name(number: int | None) -> str | None:
    """Return a name such as ``SIGKILL``, also for signals that have only a number."""
    if number is None:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        first = getattr(signal, "SIGRTMIN", None)
        return f"SIGRTMIN+{number - first}" if first and number >= first else f"signal {number}"


def ending_findings(why: str, *, delivered: bool) -> list[Diagnostic]:
    """Say why an agent did not end by itself, or nothing."""
    if delivered:
        text = "the agent delivered its report but did not exit, and was ended; the report stands"
        return [Diagnostic(code="killed-after-report", message=text)]
    if why == "deadline":
        text = "the agent still ran at its deadline and was ended"
        return [Diagnostic(code="deadline-exceeded", message=text)]
    return []


def leaked_findings(leaked: Sequence[LeakedProcess]) -> list[Diagnostic]:
    """Name what an agent left behind."""
    more = "the agent left more processes behind than are named; they were ended"
    rest = [Diagnostic(code="process-leaked", message=more)] if len(leaked) >= MAX_LEFT else []
    named = [
        Diagnostic(
            code="process-leaked",
            message=(
                f"the agent left process {process.pid} behind ({process.name or 'name unknown'}), "
                f"found {_HOW[process.found_by]}; it was ended"
            ),
        )
        for process in leaked
    ]
    return named + rest


def unkillable_finding(pid: int, name: str) -> Diagnostic:
    """Name a process that could not be ended."""
    return Diagnostic(
        code="process-unkillable",
        message=(
            f"process {pid} ({name or 'name unknown'}) did not end within {KILL_WAIT:g} s of SIGKILL; "
            "what is observed now may still change"
        ),
    )


def lost_finding() -> Diagnostic:
    """Say that nobody saw the agent end."""
    return Diagnostic(
        code="supervision-lost",
        message=(
            "the process that watched over the agent was ended from outside, "
            "so how the agent ended is unknown; what could be found of its processes was ended"
        ),
    )


def doubt_of(outcome: Outcome) -> str:
    """Say why a process of an agent may still be at work after its end, or ""."""
    codes = {found.code for found in outcome.diagnostics}
    if "supervision-lost" in codes:
        return (
            "What changed cannot be verified: the process that watched over the agent is gone, "
            "and a process of the agent that nobody found may still write."
        )
    if "process-unkillable" in codes:
        return (
            "What changed cannot be verified: a process of the agent could not be ended, "
            "and may still write."
        )
    return ""
