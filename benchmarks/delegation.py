"""What one delegation costs beside the bare floor it stands on."""

from __future__ import annotations

import itertools
import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks.measuring import Row, absolute, interleave, ratio
from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository

SCRIPT = """#!/bin/sh
printf '{"protocol":"caesar.report/v1","status":"success","summary":"done"}' > "$CAESAR_REPORT_PATH"
"""
FUNCTION = """
def main(agent):
    return agent.success("done")
"""


def rows() -> list[Row]:
    """Delegation over the floor, delegation in this process, a temporary repository."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        script = base / "agent.sh"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        (base / "bench_agent.py").write_text(FUNCTION)
        files = {f"src/f{n}.txt": f"{n}\n" for n in range(3)}
        ours = Repository.create(base / "ours")
        ours.commit(files)
        floor = Repository.create(base / "floor")
        floor.commit(files)
        orchestrator = Orchestrator(
            ProcessAgent(id="bench", origin="path", argv=(str(script),)), project=ours.path
        )
        numbers = itertools.count()

        def delegate() -> None:
            run = orchestrator.delegate("Do nothing.")
            assert run.succeeded, run

        def bare() -> None:
            tree = base / f"tree{next(numbers)}"
            subprocess.run(
                ["git", "worktree", "add", "-q", "-b", tree.name, str(tree), "HEAD"],
                cwd=floor.path, check=True, capture_output=True,
            )  # fmt: skip
            report = base / "report.json"
            subprocess.run(
                [str(script)], cwd=tree, env={**os.environ, "CAESAR_REPORT_PATH": str(report)},
                check=True,
            )  # fmt: skip
            subprocess.run(
                ["git", "status", "--porcelain"], cwd=tree, check=True, capture_output=True
            )

        ours_s, floor_s = interleave(delegate, bare, rounds=30)
        in_process = Orchestrator(
            FunctionAgent(id="bench", target="bench_agent:main", import_root=folder),
            project=ours.path,
        )

        def call() -> None:
            run = in_process.delegate("Do nothing.", isolation="inplace")
            assert run.succeeded, run

        def call_worktree() -> None:
            run = in_process.delegate("Do nothing.")
            assert run.succeeded, run

        inplace_s, worktree_s = interleave(call, call_worktree, rounds=30)

        def repository() -> None:
            Repository.create(base / f"repository{next(numbers)}").commit({"a.txt": "a\n"})

        (repository_s,) = interleave(repository, rounds=50)
    return [
        ratio("one delegation in a worktree, over the bare floor", ours_s, floor_s, 2),
        absolute("one delegation to a function in this process, in place", inplace_s, 25),
        absolute("the same in a worktree", worktree_s, 25),
        absolute("a temporary repository with one commit", repository_s, 5),
    ]
