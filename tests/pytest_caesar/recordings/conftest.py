"""What the tests of recordings share."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.fake_agent.agent import FakeAgents
from tests.pytest_caesar.recordings.staging import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Return a place for executions of one test."""
    return Stage(
        root=tmp_path,
        folder=tmp_path / "__caesar__" / "test_x" / "test_it.recording",
        fake=FakeAgents(tmp_path / "agents"),
        files={"a.txt": "one\ntwo\nthree\n", "b.bin": b"\0\1\2"},
    )
