"""Agents made from steps in a repository of their own, and processes under supervision."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_caesar.gates.judging
import pytest_caesar.gates.messages  # noqa: F401

# Imported here once: each inner run forgets what it imported itself.
from pytest_caesar.agents.config_values import PolicyConfig
from pytest_caesar.agents.target import FunctionAgent
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.sandboxes.choice import proof_of
from pytest_caesar.sandboxes.sandbox import SandboxError
from pytest_caesar.supervision.logs import Log
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.sandboxes.otherwise import OTHERWISE_INSIDE
from tests.pytest_caesar.supervision.supervising import SANDBOX, Bench

if SANDBOX:
    for kind, given in (
        (PolicyConfig, {"sandbox": SANDBOX}),
        (FunctionAgent, {"subprocess": True}),
    ):
        kind.__init__.__kwdefaults__.update(given)  # type: ignore[union-attr]


@pytest.hookimpl
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what cannot be the same in a sandbox, where tests run in one."""
    if not SANDBOX:
        return
    unusable = ""
    try:
        proof_of(SANDBOX)
    except SandboxError as error:
        unusable = str(error)
    for item in items:
        if unusable:
            item.add_marker(pytest.mark.skip(reason=unusable))
        name = getattr(item, "originalname", item.name)
        if name in OTHERWISE_INSIDE:
            item.add_marker(pytest.mark.skip(reason=OTHERWISE_INSIDE[name]))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    return repository


@pytest.fixture
def fake(tmp_path: Path) -> FakeAgents:
    return FakeAgents(tmp_path / "agents")


@pytest.fixture
def orchestrator(repository: Repository) -> Orchestrator:
    numbers = itertools.count(1)
    return Orchestrator(project=repository.path, new_id=lambda: f"t_{next(numbers):04d}")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    task_directory = tmp_path / "task"
    workspace = tmp_path / "workspace"
    task_directory.mkdir()
    workspace.mkdir()
    with Log.create(task_directory / "raw.log") as log:
        yield Bench(task_directory, workspace, log)
