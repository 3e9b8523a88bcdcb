"""What it costs to see what an agent changed in a large repository."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from benchmarks.measuring import Row, interleave, ratio
from pytest_caesar.workspace.isolation import prepare, remove
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.values import WorkspaceRequest

FILES = 20_000
CHANGES = 100


def rows() -> list[Row]:
    """Observation of 20 000 files with 100 changes, over ``git status`` and ``git diff``."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        repository = Repository.create(base / "repository")
        repository.commit({f"d{n % 200}/f{n}.txt": f"{n}\n" * 20 for n in range(FILES)})
        task = repository.path / ".caesar" / "tasks" / "t_1"
        task.mkdir(parents=True)
        workspace = prepare(
            WorkspaceRequest(
                task_id="t_1", project=repository.path, task_directory=task, objective="Change."
            )
        )
        for number in range(CHANGES):
            (workspace.path / f"d{number}" / f"f{number}.txt").write_text("changed\n")

        def ours() -> None:
            observation = observe(workspace)
            assert len(observation.changes) == CHANGES, observation

        def bare() -> None:
            for command in (["git", "status", "--porcelain"], ["git", "diff", "HEAD"]):
                subprocess.run(command, cwd=workspace.path, check=True, capture_output=True)

        ours_s, bare_s = interleave(ours, bare, rounds=9)
        remove(workspace, task_id="t_1", recorded=observe(workspace))
    name = f"observing {FILES} files with {CHANGES} changes, over git status + git diff"
    return [ratio(name, ours_s, bare_s, 1.5)]
