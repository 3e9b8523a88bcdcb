"""Many agents at once: what the harness costs while they wait."""

from __future__ import annotations

import importlib
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import Row
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.trials.remote.dask import DaskCarrier
from pytest_caesar.trials.remote.dispatch import dispatched
from pytest_caesar.trials.remote.parcel import Parcel, bundle_of, own_version
from pytest_caesar.trials.side_by_side import side_by_side
from pytest_caesar.workspace.repository import Repository

AGENTS, AT_ONCE, WAIT = 64, 32, 3.0
LONG = 6.0
FAR, SLOTS, SLOW = 256, 64, 10.0
REPORT = '{"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}'


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        wall, short = _session(Path(folder) / "short", agents=AGENTS, wait=WAIT)
        _, brief = _session(Path(folder) / "brief", agents=AT_ONCE, wait=WAIT)
        far = _elsewhere(Path(folder))
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
        *far,
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


def _elsewhere(folder: Path) -> list[Row]:
    """Trials on a cluster of this machine, as on others: 256 agents over 64 slots."""
    distributed: Any = importlib.import_module("distributed")
    repository = Repository.create(folder / "repo")
    repository.commit({"a.txt": "a\n"})
    bundle, head = bundle_of(repository)
    script = f'sleep {SLOW}; printf %s {shlex.quote(REPORT)} > "$CAESAR_REPORT_PATH"'
    agent = ProcessAgent(id="waiting", origin="path", argv=("/bin/sh", "-c", script))
    parcels = {
        number: Parcel(
            number=number,
            task_id=f"t_{number:04d}",
            version=own_version(),
            bundle=bundle,
            head=head,
            agent=agent,
            files={},
            python=sys.executable,
            objective="Wait",
            fields={},
            answers=None,
        )
        for number in range(FAR)
    }
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=SLOTS // 2, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        began, cpu = time.monotonic(), _cpu(client)
        found = dispatched(parcels, DaskCarrier(client), folder=folder / "back")
        took, used = time.monotonic() - began, _cpu(client) - cpu
    assert len(found.runs) == FAR, found.errors
    ideal = FAR / SLOTS * SLOW
    return [
        Row(
            f"{FAR} agents that wait {SLOW:.0f} s each, over {SLOTS} slots of a dask cluster",
            f"{took / ideal:.2f} x",
            f"{ideal:.0f} s",
            "1.5 x",
            took / ideal <= 1.5,
        ),
        Row(
            "CPU of the harness for each of these trials, in all its processes but git's",
            f"{1000 * used / FAR:.0f} ms",
            "",
            "60 ms",
            used / FAR <= 0.06,
        ),
    ]


def _cpu(client: Any) -> float:
    """Return the CPU that this process and the workers have used."""
    return time.process_time() + sum(client.run(time.process_time).values())
