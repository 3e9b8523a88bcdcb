"""Agents made from steps, in a repository of their own."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import pytest_caesar.gates.judging
import pytest_caesar.gates.messages  # noqa: F401

# Imported here once: each inner run forgets what it imported itself.
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository


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
