"""Comparing a run with its snapshot, where the patch is large."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measuring import Row, interleave
from pytest_caesar.agents.target import FunctionAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.reporting.difference import compare
from pytest_caesar.runs.run import Run
from pytest_caesar.snapshots.normalisation import Normaliser
from pytest_caesar.snapshots.serialisation import serialise
from pytest_caesar.workspace.repository import Repository

AGENT = """
def main(agent):
    line = f"{agent.workspace} 2026-08-09T10:00:00Z\\n"
    text = "".join(f"{number}: {line}" for number in range(1024 * 1024 // (len(line) + 6)))
    (agent.workspace / "much.txt").write_text(text)
    agent.file_changed("much.txt", "created")
    return agent.success("Wrote much.")
"""
"""Writes lines that hold paths and times, for a patch of some 1 MB."""


def _run(folder: Path) -> tuple[Run, Normaliser]:
    (folder / "bench_writer.py").write_text(AGENT)
    repository = Repository.create(folder / "repo")
    repository.commit({"a.txt": "a\n"})
    orchestrator = Orchestrator(
        FunctionAgent(id="writer", target="bench_writer:main", import_root=str(folder)),
        project=repository.path,
    )
    run = orchestrator.delegate("Write much")
    roots = {str(run.workspace): "<workspace>", str(run.task_dir): "<task-dir>"}
    return run, Normaliser(roots, commits=[run.task.base_ref or ""])


def rows() -> list[Row]:
    """Normalise and compare a run with a 1 MB patch: equal, and changed in one line."""
    with tempfile.TemporaryDirectory() as name:
        run, normaliser = _run(Path(name))
        recorded = serialise(run, normaliser)
        changed = recorded.replace(b"+5000: ", b"+five thousand: ", 1)
        other = bytes(reversed(recorded))
        plain = bytes(run.patch)
        page, equal, one, all_of_it = interleave(
            lambda: serialise(run, normaliser),
            lambda: plain == plain[:-1] + plain[-1:],
            lambda: compare(recorded, changed),
            lambda: compare(recorded, other),
            rounds=5,
        )
    size = f"{len(plain) / 1024 / 1024:.1f} MB"
    return [
        Row(f"page of a run with a patch of {size}", f"{page * 1000:.1f} ms"),
        Row(f"comparing patches of {size}, as bytes", f"{equal * 1000:.1f} ms"),
        Row("naming one line that differs in such a page", f"{one * 1000:.1f} ms"),
        Row("naming what differs when all of it does", f"{all_of_it * 1000:.1f} ms"),
    ]
