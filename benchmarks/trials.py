"""Many agents at once: what the harness costs while they wait."""

from __future__ import annotations

import shlex
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Row
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.trials.side_by_side import side_by_side
from pytest_caesar.workspace.repository import Repository

AGENTS, AT_ONCE, WAIT = 64, 32, 3.0
LONG = 6.0
REPORT = '{"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}'


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        wall, short = _session(Path(folder) / "short", agents=AGENTS, wait=WAIT)
        _, brief = _session(Path(folder) / "brief", agents=AT_ONCE, wait=WAIT)
        _, long = _session(Path(folder) / "long", agents=AT_ONCE, wait=WAIT + LONG)
    ideal = AGENTS / AT_ONCE * WAIT
    waiting = (long - brief) / (AT_ONCE * LONG)
    return [
        Row(
            f"{AGENTS} agents that wait {WAIT:.0f} s each, {AT_ONCE} at once, over {ideal:.0f} s",
            f"{wall / ideal:.2f} x",
            f"{ideal:.0f} s",
            "1.3 x",
            wall / ideal <= 1.3,
        ),
        Row(
            "CPU of the harness for each second that an agent waits, 32 at once",
            f"{1000 * waiting:.1f} ms",
            "",
            "3 ms",
            waiting <= 0.003,
        ),
        Row(
            "CPU of the harness for each of these trials, its own process alone",
            f"{1000 * short / AGENTS:.0f} ms",
            "",
            "60 ms",
            short / AGENTS <= 0.06,
        ),
    ]


def _session(folder: Path, *, agents: int, wait: float) -> tuple[float, float]:
    """Return the wall time and the CPU of this process for some trials."""
    script = f'sleep {wait}; printf %s {shlex.quote(REPORT)} > "$CAESAR_REPORT_PATH"'
    agent = ProcessAgent(id="waiting", origin="path", argv=("/bin/sh", "-c", script))
    orchestrators = {}
    for number in range(agents):
        repository = Repository.create(folder / str(number))
        repository.commit({"a.txt": "a\n"})
        orchestrators[number] = Orchestrator(agent, project=repository.path)
    began, cpu = time.monotonic(), time.process_time()
    found = side_by_side(
        orchestrators, lambda number: orchestrators[number].start("Wait"), jobs=AT_ONCE
    )
    assert all(run.succeeded for run in found.runs.values()), found.errors
    return time.monotonic() - began, time.process_time() - cpu
