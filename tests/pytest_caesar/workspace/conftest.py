from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """A repository with one commit of three files."""
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n", "src/m.py": "x = 1\n", "run.sh": "#!/bin/sh\n"})
    return repository
