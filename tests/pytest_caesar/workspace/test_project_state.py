"""What an agent changes beside its workspace: in the project's own checkout and other worktrees."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pytest_caesar.workspace import isolation
from pytest_caesar.workspace.isolation import prepare
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.values import Observation
from tests.pytest_caesar.workspace.support import ask, codes, script, sh, work


def beside(observation: Observation) -> dict[str, str]:
    """Return what was told of each path beside the workspace, by the last words of its finding."""
    told = {}
    for found in observation.diagnostics:
        if found.code == "project-changed":
            where = r" in (?:the project's own checkout|the worktree .*), which is not its"
            said = re.search(rf"While the agent worked, (.*){where}", found.message)
            assert said, found.message
            name = str(found.path).rpartition("/other/")[2].rpartition("t_0000/")[2]
            assert said[1].startswith(name.rpartition("/repo/")[2])
            told[str(found.path)] = re.sub(r"^\S+ ", "", said[1])
    return told


EDITS = {
    "echo two > a.txt": {"a.txt": "was modified"},
    "touch -r a.txt ref; echo two > a.txt; touch -r ref a.txt; rm ref": {"a.txt": "was modified"},
    "rm src/m.py": {"src/m.py": "was deleted"},
    "chmod +x a.txt": {"a.txt": "was modified"},
    "ln -sf b a.txt": {"a.txt": "was modified"},
    "mkdir new; echo 1 > new/n; echo 2 > new/m": {"new/n": "was created", "new/m": "was created"},
    "echo '*' > src/.gitignore; echo x > src/conftest.py": {
        "src/.gitignore": "was created",
        "src/conftest.py": "was created",
    },
    "git update-index --assume-unchanged a.txt; echo two > a.txt": {
        "a.txt": "was modified and has another entry in the index"
    },
    "echo two > a.txt; git add a.txt": {"a.txt": "was modified and has another entry in the index"},
    "git rm -q --cached a.txt": {"a.txt": "has another entry in the index"},
    "git checkout -q --detach": {"HEAD": "names another branch or commit"},
    "echo more >> mine.txt": {"mine.txt": "was modified"},
    "rm mine.txt": {"mine.txt": "was deleted"},
    "git checkout -q run.sh": {"run.sh": "went back to what git has"},
    "git init -q inner; echo 1 > inner/f": {"inner/": "was created"},
    "echo 1 > .caesar/config.toml": {".caesar/config.toml": "was created"},
    # What leaves everything as it was.
    "touch a.txt run.sh mine.txt": {},
    "cp mine.txt x; mv x mine.txt": {},
    "git status > /dev/null; git update-index --refresh -q || true": {},
    "echo 1 > x.pyc": {},
    "chmod g-r a.txt": {},
}


@pytest.fixture
def project(repo: Repository) -> Repository:
    """A project with an edited, an untracked and an ignored file."""
    repo.commit({".gitignore": "*.pyc\n"})
    repo.write("run.sh", "edited\n")
    repo.write("mine.txt", "of the user\n")
    repo.write("old.pyc", "ignored\n")
    return repo


@pytest.mark.parametrize("command", EDITS)
def test_what_an_agent_does_in_the_projects_own_checkout_is_told(
    project: Repository, command: str
) -> None:
    workspace = prepare(ask(project))
    sh(command, project.path)
    observation = observe(workspace)
    assert beside(observation) == EDITS[command]
    assert observation.verified
    assert observation.changes == ()


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_the_user_hides_from_git_is_told_when_it_changes(
    repo: Repository, bit: str
) -> None:
    sh(f"git update-index {bit} a.txt run.sh", repo.path)
    workspace = prepare(ask(repo))
    sh("echo two > a.txt", repo.path)
    assert beside(observe(workspace)) == {"a.txt": "was modified"}


def test_git_is_kept_from_no_lock_of_the_users(project: Repository) -> None:
    workspace = prepare(ask(project))
    before = (project.path / ".git" / "index").stat()
    (project.path / ".git" / "index.lock").touch()
    os.utime(project.path / "a.txt")
    observation = observe(workspace)
    assert beside(observation) == {}
    after = (project.path / ".git" / "index").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo two > a.txt", {"a.txt": "was modified"}),
        ("echo 1 > n", {"n": "was created"}),
        ("rm a.txt", {"a.txt": "was deleted"}),
        ("echo two > a.txt; git add a.txt", {"a.txt": "was modified and has another entry in the index"}),
        ("git checkout -q --detach", {"HEAD": "names another branch or commit"}),
        ("echo '*' > src/.gitignore; echo 1 > src/c", {"src/.gitignore": "was created", "src/c": "was created"}),
        ("touch a.txt; git status > /dev/null; echo 1 > x.pyc", {}),
        ("cp a.txt x; mv x a.txt", {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("whose", ["the user's", "an earlier task's", "the main checkout"])
def test_what_an_agent_does_in_another_worktree_is_told(
    repo: Repository, tmp_path: Path, command: str, told: dict[str, str], whose: str
) -> None:
    repo.commit({".gitignore": "*.pyc\n"})
    project, other = repo.path, tmp_path / "other"
    if whose == "an earlier task's":
        earlier = prepare(ask(repo, task_id="t_0000"))
        isolation.release(earlier)
        other = earlier.path
        (repo.path / ".caesar" / "tasks" / "t_0000" / "run.json").touch()
    else:
        repo.git("worktree", "add", "-q", "-b", "theirs", str(other))
    if whose == "the main checkout":
        project, other = other, repo.path
    workspace = prepare(ask(project, task_id="t_1"))
    sh(command, other)
    assert beside(observe(workspace)) == {str(other / path): said for path, said in told.items()}


def test_a_worktree_that_was_removed_is_told(repo: Repository, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "theirs", str(tmp_path / "other"))
    workspace = prepare(ask(repo))
    sh("git worktree remove --force ../other", repo.path)
    (found,) = [f for f in observe(workspace).diagnostics if f.code == "project-changed"]
    assert f"the worktree {tmp_path}/other" in found.message


def test_tasks_in_flight_do_not_accuse_each_other(repo: Repository) -> None:
    first = prepare(ask(repo, task_id="t_1"))
    second = prepare(ask(repo, task_id="t_2"))
    in_place = prepare(ask(repo, task_id="t_3", isolation="inplace"))
    for workspace in (first, second, in_place):
        sh("echo two > a.txt; echo 1 > new; git add new", workspace.path)
    assert codes(observe(in_place)) == set()
    assert codes(observe(first)) | codes(observe(second)) == set()


def test_an_agent_of_an_agent_is_not_accused_of_what_the_upper_one_does(repo: Repository) -> None:
    upper = prepare(ask(repo, task_id="t_1"))
    below = prepare(ask(repo, task_id="t_2", adopt=upper.path, isolation="inplace", lock_held=True))
    sh("echo two > a.txt", repo.path)
    assert codes(observe(below)) == set()
    assert codes(observe(upper)) == {"project-changed"}


def test_in_place_the_other_worktrees_are_compared(repo: Repository, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "theirs", str(tmp_path / "other"))
    _, observation = work(
        repo, script("echo two > a.txt; echo two > ../other/a.txt"), isolation="inplace"
    )
    assert beside(observation) == {f"{tmp_path}/other/a.txt": "was modified"}


def test_of_many_findings_a_thousand_are_named(repo: Repository) -> None:
    workspace = prepare(ask(repo))
    sh("mkdir many; cd many; seq 1 1005 | xargs touch", repo.path)
    found = [f for f in observe(workspace).diagnostics if f.code == "project-changed"]
    assert len(found) == 1001
    assert found[-1].message == "5 more paths beside the workspace changed."


def test_a_project_that_is_gone_is_told(repo: Repository) -> None:
    workspace = prepare(ask(repo))
    workspace.path.rename(repo.path.parent / "kept")
    sh("rm -r repo", repo.path.parent)
    assert "project-unverified" in codes(observe(workspace))


def test_repositories_inside_the_projects_own_checkout_are_compared(repo: Repository) -> None:
    sh("git init -q vendor; echo 1 > vendor/x", repo.path)
    workspace = prepare(ask(repo))
    sh("echo 2 > vendor/x", repo.path)
    assert beside(observe(workspace)) == {"vendor/": "was modified (x modified)"}


def test_a_commit_in_the_projects_own_checkout_is_told(repo: Repository) -> None:
    workspace = prepare(ask(repo))
    sh("git commit -qm more --allow-empty", repo.path)
    assert beside(observe(workspace)) == {"HEAD": "names another branch or commit"}


def test_a_branch_that_git_packs_is_where_it_was(repo: Repository) -> None:
    """What ``git gc`` does, in the checkout as in the worktrees; a packed one that moves is told."""
    _, packed = work(
        repo, script("git gc -q; test ! -e $(git rev-parse --git-common-dir)/refs/heads/main")
    )
    assert beside(packed) == {}
    first = sh("git rev-parse HEAD", repo.path).strip()
    move = (
        "new=$(git commit-tree HEAD: -m x); cd $(git rev-parse --git-common-dir);"
        f'sed "/main$/s/{first}/$new/" packed-refs > other; mv other packed-refs'
    )
    _, moved = work(repo, script(move), task_id="t_0002")
    assert list(beside(moved).values()) == ["names another branch or commit"]
