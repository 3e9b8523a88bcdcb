from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_caesar.workspace.git_program import find_git
from pytest_caesar.workspace.repository import Repository


@pytest.fixture(autouse=True)
def user_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's git configuration, empty at first and the test's to write."""
    config = tmp_path / "user.gitconfig"
    config.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    return config


@pytest.fixture(autouse=True)
def git_of_the_machine() -> Iterator[None]:
    """The git that is found first is that of the machine again for the next test."""
    yield
    find_git.cache_clear()


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """A repository with one commit of three files."""
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n", "src/m.py": "x = 1\n", "run.sh": "#!/bin/sh\n"})
    return repository
