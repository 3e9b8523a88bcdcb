"""What the tests of this room share."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_caesar.workspace.isolation import prepare
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.values import Observation, Workspace, WorkspaceRequest

Agent = Callable[[Path], object]


def ask(repo: Repository | Path, *, task_id: str = "t_0001", **changes: Any) -> WorkspaceRequest:
    """Return a request as an orchestrator makes it for a project."""
    project = repo.path if isinstance(repo, Repository) else repo
    facts: dict[str, Any] = {
        "task_id": task_id,
        "project": project,
        "objective": "Fix the parser",
        "task_directory": project / ".caesar" / "tasks" / task_id,
        **changes,
    }
    return WorkspaceRequest(**facts)


def work(repo: Repository | Path, agent: Agent, **changes: Any) -> tuple[Workspace, Observation]:
    """Prepare a workspace, let the agent work in it, and observe."""
    workspace = prepare(ask(repo, **changes))
    agent(workspace.path)
    return workspace, observe(workspace)


def observed(repo: Repository | Path, agent: Agent, **changes: Any) -> Observation:
    """Return a verified observation of what the agent did."""
    _, observation = work(repo, agent, **changes)
    assert observation.verified, observation.diagnostics
    return observation


def actions(observation: Observation) -> dict[str, str]:
    """Return the action of each observed path."""
    return {change.path: change.action for change in observation.changes}


def codes(value: Workspace | Observation) -> set[str]:
    """Return the codes of the diagnostics."""
    return {diagnostic.code for diagnostic in value.diagnostics}


def sh(command: str, folder: Path, **variables: str) -> str:
    """Run a shell command as an agent would, with an identity for git."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Agent",
        "GIT_AUTHOR_EMAIL": "agent@example.invalid",
        "GIT_COMMITTER_NAME": "Agent",
        "GIT_COMMITTER_EMAIL": "agent@example.invalid",
        **variables,
    }
    done = subprocess.run(
        ["/bin/sh", "-ec", command], cwd=folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, os.fsdecode(done.stderr)
    return os.fsdecode(done.stdout)


def script(command: str, **variables: str) -> Agent:
    """Return an agent that runs a shell command."""
    return lambda folder: sh(command, folder, **variables)


def apply_to_clean_checkout(repo: Repository, base: str, patch: bytes, room: Path) -> str:
    """Apply a patch to a clean checkout of ``base`` and return the id of the resulting tree."""
    clean = room / "clean"
    sh(
        f"git clone -q --no-checkout '{repo.path}' '{clean}' && git -C '{clean}' checkout -q {base}",
        room,
    )
    (room / "it.patch").write_bytes(patch)
    sh("git apply --binary ../it.patch && git add -A -f .", clean)
    return sh("git write-tree", clean).strip()
