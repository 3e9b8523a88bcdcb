"""Which project a folder lies in and where its tasks do, told by files that an agent may have written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.orchestrator.project_root import MAX_NOTE_BYTES, caesar_root, project_around
from pytest_caesar.workspace.errors import RepositoryError
from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.repository_state import locate


def test_tasks_of_a_linked_worktree_lie_in_the_main_checkout(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "main")
    repository.commit({"src/a.txt": "a\n"})
    repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "side")
    assert caesar_root(repository.path / "src") == repository.path
    assert caesar_root(tmp_path / "linked" / "src") == repository.path


def test_a_folder_lies_in_the_nearest_project_of_its_repository(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"src/lib/a.txt": "a\n", "other/a.txt": "a\n"})
    (repository.path / "src" / ".caesar").mkdir()
    (tmp_path / ".caesar").mkdir()
    assert project_around(repository.path / "src" / "lib") == repository.path / "src"
    assert project_around(repository.path / "other") == repository.path
    assert project_around(repository.path) == repository.path


def test_a_folder_outside_git_is_a_project_of_its_own(tmp_path: Path) -> None:
    (tmp_path / ".caesar").mkdir()
    (tmp_path / "notes").mkdir()
    assert project_around(tmp_path / "notes") == tmp_path / "notes"


def test_tasks_of_a_plain_folder_lie_in_it(tmp_path: Path) -> None:
    assert caesar_root(tmp_path) == tmp_path


@pytest.mark.parametrize("kind", ["fifo", "large", "binary", "absent"])
@pytest.mark.parametrize("name", [".git", "commondir"])
def test_whatever_stands_in_place_of_gits_notes_stops_nobody(
    tmp_path: Path, name: str, kind: str
) -> None:
    git_dir = tmp_path / "git-dir"
    git_dir.mkdir()
    (git_dir / "commondir").write_text("../elsewhere/.git\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / ".git").write_text(f"gitdir: {git_dir}\n")
    assert caesar_root(project) == tmp_path / "elsewhere"
    place = (project if name == ".git" else git_dir) / name
    place.unlink()
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "large":
        place.touch()
        os.truncate(place, MAX_NOTE_BYTES + 1)
    elif kind == "binary":
        place.write_bytes(b"\xff\0\n")
    assert caesar_root(project) == project


def test_an_empty_git_folder_above_is_no_repository_as_for_git(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").mkdir()

    assert project_around(tmp_path / "notes") == tmp_path / "notes"
    assert caesar_root(tmp_path / "notes") == tmp_path / "notes"
    assert locate(tmp_path / "notes") is None


def test_a_repository_that_is_damaged_is_refused_and_not_overlooked(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path)
    (repository.path / ".git" / "HEAD").unlink()

    with pytest.raises(RepositoryError, match="not a git repository"):
        locate(repository.path)
