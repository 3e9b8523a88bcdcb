from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_caesar.files.removal import remove_tree
from pytest_caesar.workspace.errors import UnrecordedWorkError
from pytest_caesar.workspace.isolation import prepare, remove
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import ask, script, sh, work


def test_nothing_of_an_untouched_worktree_remains(repo: Repository) -> None:
    workspace = prepare(ask(repo))
    remove(workspace, task_id="t_0001")
    assert not workspace.path.exists()
    assert "caesar" not in repo.git("for-each-ref")
    assert repo.git("worktree", "list").count("\n") == 1
    remove(workspace, task_id="t_0001")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("echo two > a.txt", "1 changed paths are recorded nowhere"),
        ("echo two > a.txt; git commit -qam x", "1 changed paths are recorded nowhere"),
        (
            "echo two > a.txt; git commit -qam x; git revert --no-edit HEAD >/dev/null",
            "recorded nowhere",
        ),
    ],
)
def test_work_that_is_recorded_nowhere_is_kept(
    repo: Repository, command: str, problem: str
) -> None:
    workspace, _ = work(repo, script(command))
    with pytest.raises(UnrecordedWorkError, match=problem):
        remove(workspace, task_id="t_0001")
    assert workspace.path.exists()
    assert f"refs/heads/{workspace.branch}" in repo.git("for-each-ref")


def test_work_that_is_recorded_may_go_unless_it_went_on(repo: Repository) -> None:
    workspace, observation = work(repo, script("echo two > a.txt; git commit -qam x"))
    sh("echo late > late.txt", workspace.path)
    with pytest.raises(UnrecordedWorkError, match="changed after it was observed"):
        remove(workspace, task_id="t_0001", recorded=observation)
    sh("rm late.txt", workspace.path)
    remove(workspace, task_id="t_0001", recorded=observation)
    assert not workspace.path.exists()


def test_a_repository_inside_the_worktree_is_kept_because_no_patch_has_it(
    repo: Repository,
) -> None:
    workspace, observation = work(repo, script("git init -q tool; echo x > tool/x"))
    with pytest.raises(UnrecordedWorkError, match="no patch can carry tool/"):
        remove(workspace, task_id="t_0001", recorded=observation)


def test_links_are_removed_and_not_followed(repo: Repository, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep\n")
    workspace, observation = work(
        repo, script(f"ln -s '{precious}' out; ln -s '{precious}/file' f")
    )
    remove(workspace, task_id="t_0001", recorded=observation)
    assert (precious / "file").read_text() == "keep\n"
    assert not workspace.path.exists()


def test_a_worktree_replaced_by_a_link_is_kept_and_its_target_too(
    repo: Repository, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep\n")
    workspace = prepare(ask(repo))
    sh(f"mv '{workspace.path}' gone; ln -s '{precious}' '{workspace.path}'", tmp_path)
    with pytest.raises(UnrecordedWorkError, match="git cannot tell"):
        remove(workspace, task_id="t_0001")
    assert (precious / "file").exists()


def test_read_only_trees_are_removed() -> None:
    room = Path(tempfile.mkdtemp())
    try:
        deep = room / "tree" / "a" / "b"
        deep.mkdir(parents=True)
        (deep / "file").write_text("x")
        folders = (deep, deep.parent, room / "tree")
        for folder in folders:
            folder.chmod(0o500)
        if os.geteuid() == 0:
            for path in (room, *folders, deep / "file"):
                os.chown(path, 65534, 65534)
            assert as_nobody(lambda: remove_tree(room / "tree")) == 0
        else:
            remove_tree(room / "tree")
        assert not (room / "tree").exists()
    finally:
        shutil.rmtree(room)


def test_trees_deeper_than_any_path_are_removed(tmp_path: Path) -> None:
    start = Path.cwd()
    tree = tmp_path / "tree"
    tree.mkdir()
    try:
        os.chdir(tree)
        for _ in range(2200):
            Path("d").mkdir()
            os.chdir("d")
            Path("f").touch()
    finally:
        os.chdir(start)
    try:
        remove_tree(tree)
        assert not tree.exists()
    finally:
        sh("rm -rf tree", tmp_path)


def as_nobody(action: Callable[[], object]) -> int:
    """Root may do anything, so play a user that the modes bind; 0 when it went well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        os.setgid(65534)
        os.setuid(65534)
        action()
        code = 0
    finally:
        os._exit(code)


def test_in_place_nothing_of_the_users_is_removed(repo: Repository) -> None:
    workspace = prepare(ask(repo, isolation="inplace"))
    sh("echo two > a.txt", workspace.path)
    observe(workspace)
    remove(workspace, task_id="t_0001")
    assert repo.read("a.txt") == "two\n"
    assert not (repo.path / ".caesar" / "tasks" / "t_0001" / "observer").exists()


def test_another_tasks_worktree_is_left_alone(repo: Repository) -> None:
    first = prepare(ask(repo))
    second = prepare(ask(repo, task_id="t_0002"))
    remove(first, task_id="t_0001")
    assert sh("git status --porcelain", second.path) == ""
    assert "refs/caesar/t_0002" in repo.git("for-each-ref")
