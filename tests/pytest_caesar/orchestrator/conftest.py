from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_caesar.supervision.logs import Log
from tests.pytest_caesar.supervision.supervising import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    task_directory = tmp_path / "task"
    workspace = tmp_path / "workspace"
    task_directory.mkdir()
    workspace.mkdir()
    with Log.create(task_directory / "raw.log") as log:
        yield Bench(task_directory, workspace, log)
