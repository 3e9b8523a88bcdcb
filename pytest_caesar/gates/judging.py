"""Gates asked: commands run, judges heard, in the workspace that the agent left."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.clock import monotonic
from caesar_agent.console import one_line
from caesar_agent.task_directory import TaskDirectory
from caesar_agent.va.evidence import DimensionFeedback, GateResult
from pytest_caesar.agents.executables import path_folders
from pytest_caesar.gates.gates import (
    CommandGate,
    Evaluation,
    Gate,
    GateError,
    ModelGate,
    check_score,
)
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.environment import build_environment, make_home, task_environment
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.printed import Printed
from pytest_caesar.supervision.start_errors import AgentStartError
from pytest_caesar.supervision.supervisor import ProcessSpec, supervise
from pytest_caesar.supervision.time_left import fit

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run
    from pytest_caesar.sandboxes.enclosure import Enclosure
    from pytest_caesar.supervision.program_settings import ProgramSettings


def judge_run(
    run: Run,
    gates: tuple[Gate, ...],
    *,
    tree: Path,
    settings: ProgramSettings,
    cancelled: Cancellation,
    enclosure: Enclosure | None = None,
) -> Run:
    """Ask every gate in turn, and return the run with what they say.

    Commands get the environment of an agent: the same variables of the task, a
    fresh ``HOME``, nothing else inherited. What they write into the workspace is not
    the agent's work: it was observed before.

    Args:
        run: as the agent left it; judges see it so.
        gates: asked in this order; none of them once ``cancelled`` is set.
        tree: where the workspace really lay before the agent; no command runs elsewhere.
        settings: of the orchestrator.
        cancelled: set to end the gate that runs.
        enclosure: the sandbox of the task, in which commands run too; or None.

    Raises:
        GateError: a judge raised an error, or gave no score.
    """
    results: list[GateResult] = []
    dimensions: dict[str, DimensionFeedback] = {}
    with _environment(run, settings) as environment:
        for gate in gates:
            if cancelled.is_set():
                break
            if isinstance(gate, CommandGate):
                # Looked at each time: a gate runs the agent's code, which may move it too.
                moved = _moved(run.workspace, tree)
                results.append(
                    _command_result(gate, passed=False, output=moved)
                    if moved
                    else _run_command(gate, run, environment, settings, cancelled, enclosure)
                )
            else:
                result, sides = _ask_judge(gate, run)
                results.append(result)
                dimensions.update(sides)
    return replace(run, gates=tuple(results), dimensions=dimensions).judged()


@contextmanager
def _environment(run: Run, settings: ProgramSettings) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="caesar-gates-", ignore_cleanup_errors=True) as folder:
        environment = build_environment(
            parent=os.environ,
            task_environment=task_environment(run.task, TaskDirectory(run.task_dir)),
            home=make_home(Path(folder)),
            pass_env=settings.pass_env,
            path_first=settings.path_first,
        )
        # What is relative would mean the workspace, whose programs are the agent's.
        path = os.pathsep.join(map(str, path_folders(environment["PATH"])))
        yield {**environment, "PATH": path}


def _moved(workspace: Path, tree: Path) -> str:
    """Say where a workspace leads that is no more the folder that it was, or ""."""
    now = os.path.realpath(workspace)
    if now == os.fspath(tree):
        return ""
    return f"the gate was not asked: the workspace was replaced by a symbolic link to {now}"


def _run_command(
    gate: CommandGate,
    run: Run,
    environment: Mapping[str, str],
    settings: ProgramSettings,
    cancelled: Cancellation,
    enclosure: Enclosure | None,
) -> GateResult:
    timeout, grace = fit(gate.timeout, settings.grace, settings.seconds_left())
    begun = monotonic()
    with Printed.capture() as printed:
        spec = ProcessSpec(
            argv=gate.argv,
            cwd=run.workspace,
            env=environment,
            stdout=printed.fd,
            stderr=printed.fd,
            task_directory=run.task_dir,
        )
        if enclosure is not None:
            home = Path(environment["HOME"])
            spec = enclosure.around(spec, writable=(home,), tree_only=True)
        try:
            outcome = supervise(
                spec,
                timeout=timeout,
                grace=grace,
                cancelled=cancelled,
                on_poll=printed.drop_surplus,
            )
        except AgentStartError as error:
            # A program on PATH was looked for before: this one is of the workspace.
            duration_ms = round((monotonic() - begun) * 1000)
            note = f"the gate could not be started: {error.reason.removeprefix('agent ')}"
            return _command_result(gate, passed=False, output=note, duration_ms=duration_ms)
        output = printed.text()
    note = _note(outcome, timeout)
    return _command_result(
        gate,
        passed=outcome.status == "succeeded" and outcome.exit_code == 0,
        output="\n".join(filter(None, (output.rstrip("\n"), note))),
        duration_ms=outcome.duration_ms,
        exit_code=outcome.exit_code,
    )


def _command_result(
    gate: CommandGate,
    *,
    passed: bool,
    output: str,
    duration_ms: int | None = None,
    exit_code: int | None = None,
) -> GateResult:
    return GateResult(
        gate=gate.name,
        type="command",
        command=gate.line,
        exit_code=exit_code,
        passed=passed,
        output=output or None,
        duration_ms=duration_ms,
        severity=None if passed else "error",
    )


def _note(outcome: Outcome, timeout: float) -> str:
    """Say how a gate ended where its exit code does not."""
    if outcome.timed_out:
        return f"(the gate still ran after {timeout:g} s and was ended)"
    if outcome.status == "cancelled":
        return "(the task was cancelled, and the gate was ended)"
    return f"(the gate was ended by {outcome.signal})" if outcome.signal else ""


def _ask_judge(gate: ModelGate, run: Run) -> tuple[GateResult, Mapping[str, DimensionFeedback]]:
    begun = monotonic()
    try:
        said = gate.judge(run)
    except Exception as error:
        raise GateError(
            gate=gate.name,
            problem=f"the judge raised {type(error).__name__}: {one_line(str(error), limit=300)}",
        ) from error
    duration_ms = round((monotonic() - begun) * 1000)
    evaluation = said if isinstance(said, Evaluation) else Evaluation(score=said)
    score = check_score(gate.name, "the score", evaluation.score)
    passed = score >= gate.threshold
    soft = gate.soft_threshold is not None and score >= gate.soft_threshold
    result = GateResult(
        gate=gate.name,
        type="model-evaluation",
        passed=passed,
        duration_ms=duration_ms,
        evaluator=gate.evaluator,
        score=score,
        threshold=gate.threshold,
        soft_threshold=gate.soft_threshold,
        severity=None if passed else "warning" if soft else "error",
        rationale=evaluation.rationale or None,
    )
    return result, evaluation.dimensions
