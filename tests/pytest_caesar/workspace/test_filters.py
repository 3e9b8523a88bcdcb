"""Files that a filter of the user's changes on their way in and out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.workspace.index_file import index_bytes, read_index
from pytest_caesar.workspace.isolation import prepare
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import actions, ask, codes, observed, script, sh


@pytest.fixture
def project(repo: Repository, user_config: Path) -> Repository:
    """A repository that stores "pointer" where the user's files say "content"."""
    user_config.write_text(
        "[user]\n\tname = U\n\temail = u@example.invalid\n"
        '[filter "big"]\n\tclean = sed s/content/pointer/\n\tsmudge = sed s/pointer/content/\n'
        "\trequired = true\n"
    )
    repo.write(".gitattributes", "*.big filter=big\n")
    repo.write("x.big", "content\n")
    sh("git add -A; git commit -qm big", repo.path, GIT_CONFIG_GLOBAL=str(user_config))
    assert repo.git("show", "HEAD:x.big") == "pointer\n"
    return repo


def test_a_worktree_holds_what_git_stores_and_says_so(project: Repository) -> None:
    workspace = prepare(ask(project))
    assert (workspace.path / "x.big").read_text() == "pointer\n"
    assert codes(workspace) == {"filters-not-run"}
    sh("touch x.big; echo b > b", workspace.path)
    assert actions(observe(workspace)) == {"b": "created"}


def test_in_place_a_touched_file_is_no_change_and_an_edited_one_is(project: Repository) -> None:
    touch = script("cp x.big y; rm x.big; mv y x.big")
    assert observed(project, touch, isolation="inplace").changes == ()
    edit = observed(project, script("echo more >> x.big"), isolation="inplace", task_id="t_2")
    assert actions(edit) == {"x.big": "modified"}


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo m >> note.txt", {"note.txt": "modified"}),
        ("echo content2 > x.big", {"x.big": "modified"}),
        ("cp x.big y; mv y x.big; touch note.txt", {}),
        ("rm x.big", {"x.big": "deleted"}),
    ],
)
def test_in_a_worktree_that_was_prepared_untouched_filtered_files_are_no_changes(
    project: Repository, tmp_path: Path, user_config: Path, command: str, told: dict[str, str]
) -> None:
    project.commit({"note.txt": "n\n"})
    wt = tmp_path / "wt"
    sh(f"git worktree add -q --detach '{wt}'", project.path, GIT_CONFIG_GLOBAL=str(user_config))
    assert (wt / "x.big").read_text() == "content\n"
    seen = observed(project, script(command), adopt=wt, base_ref="HEAD")
    assert actions(seen) == told


def test_an_index_that_an_earlier_agent_wrote_hides_nothing(
    repo: Repository, tmp_path: Path
) -> None:
    wt = tmp_path / "wt"
    repo.git("worktree", "add", "-q", "--detach", str(wt))
    git_dir = Path(sh("git rev-parse --absolute-git-dir", wt).strip())
    entries = read_index((git_dir / "index").read_bytes())
    assert entries is not None
    (wt / "a.txt").write_text("two\n")
    claimed = {
        entry.path: (entry.mode, entry.oid, (wt / os.fsdecode(entry.path)).lstat())
        for entry in entries
    }
    (git_dir / "index").write_bytes(index_bytes(claimed))
    later = (wt / "a.txt").stat().st_mtime + 60
    os.utime(git_dir / "index", (later, later))
    assert sh("git status --porcelain", wt) == ""
    seen = observed(repo, script("echo n > n"), adopt=wt, base_ref="HEAD")
    assert actions(seen) == {"a.txt": "modified", "n": "created"}
