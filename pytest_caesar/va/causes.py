"""Why a run is not completed; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from caesar_agent.console import one_line
from caesar_agent.va.task_unit import FailureType
from pytest_caesar.runs.judgement import gate_ending, missing_outputs
from pytest_caesar.supervision.time_left import format_seconds

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run


class Cause(NamedTuple):
    """Why a run is not completed.

    Attributes:
        kind: in the words of the protocol.
        text: in a sentence.
    """

    kind: FailureType
    text: str


def cause_of(run: Run) -> Cause | None:
    """Return why a run is not completed, the gravest cause first; None when there is none.

    Gates that only gave a warning are none.
    """
    return _of_the_process(run) or _of_the_work(run) or _of_the_report(run)


def _of_the_process(run: Run) -> Cause | None:
    outcome = run.outcome
    if outcome.timed_out:
        return Cause("timeout", f"the deadline of {format_seconds(run.task.deadline_ms)} passed")
    if outcome.status == "cancelled":
        return Cause("unknown", "the task was cancelled")
    if outcome.signal and not outcome.killed_after_report:
        return Cause("crash", f"the agent was ended by {outcome.signal}")
    if run.source != "synthesized":
        return None
    if outcome.exit_code:
        return Cause("crash", f"the agent left no report, and exit code {outcome.exit_code}")
    return Cause("unknown", "the agent left no report that can be read")


def _of_the_work(run: Run) -> Cause | None:
    if "read-only-violation" in run.codes:
        return Cause("acceptance", "the task is read-only, and files were changed")
    if run.task.mode == "read-only" and "workspace-unverified" in run.codes:
        return Cause("acceptance", "the task is read-only, and nobody can say that it was kept")
    failed = [gate for gate in run.gates if gate.failed]
    if failed:
        told = "; ".join(f"{one_line(gate.gate, limit=120)} {gate_ending(gate)}" for gate in failed)
        return Cause("gate", told)
    return None


_SAID: dict[str, Cause] = {
    "failed": Cause("unknown", "the agent reports that it did not succeed"),
    "partial": Cause("acceptance", "the agent reports that only some of the work is done"),
    "blocked": Cause("unknown", "the agent reports that it is blocked"),
}


def _of_the_report(run: Run) -> Cause | None:
    if run.report.status != "success":
        return _SAID[run.report.status]
    if run.outcome.status != "succeeded":
        code = run.outcome.exit_code
        return Cause("crash", f"the report says success, and the exit code is {code}")
    missing = missing_outputs(run.report, run.promised)
    if missing:
        keys = ", ".join(one_line(key, limit=60) for key in missing)
        return Cause("acceptance", f"promised outputs are missing: {keys}")
    return None
