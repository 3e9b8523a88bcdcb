"""Files that a filter of the user's changes on their way in and out."""

from __future__ import annotations

from pathlib import Path

import pytest

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
