"""What an agent leaves in a repository for the next delegation to stumble over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.workspace.errors import RepositoryError
from pytest_caesar.workspace.git_program import find_git
from pytest_caesar.workspace.isolation import prepare
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import actions, ask, observed, script, sh, work


@pytest.mark.parametrize("how", ["ext", "upload-pack"])
def test_a_remote_that_an_agent_configured_runs_nothing(
    repo: Repository, tmp_path: Path, how: str
) -> None:
    ran = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\nenv > '{ran}'\n")
    evil.chmod(0o755)
    url = f"ext::{evil}" if how == "ext" else f"file://{repo.path}"

    def agent(folder: Path) -> None:
        sh(
            f"""
            blob=$(git rev-parse HEAD:a.txt)
            cd "$(git rev-parse --path-format=absolute --git-common-dir)"
            rm -f objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)
            git config core.repositoryFormatVersion 1
            git config extensions.partialClone origin
            git config remote.origin.promisor true
            git config protocol.allow always
            git config protocol.ext.allow always
            git config protocol.file.allow always
            git config remote.origin.url '{url}'
            git config remote.origin.uploadPack '{evil}'
            """,
            folder,
        )

    work(repo, agent)
    assert not ran.exists()
    with pytest.raises(RepositoryError, match="nothing is fetched here: have git fetch them first"):
        prepare(ask(repo, task_id="t_2"))
    assert not ran.exists()


def test_a_configuration_that_gives_nothing_is_refused_with_the_cause(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.workspace.git.STALL_INTERVAL", 0.05)
    monkeypatch.setattr("pytest_caesar.workspace.git.SLEEP_TIMEOUT", 0.5)
    sh("mkfifo .git/inc; git config include.path inc", repo.path)
    with pytest.raises(RepositoryError, match=r"did nothing for 0\.5 s .* include\.path"):
        prepare(ask(repo))


@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
def test_a_configuration_that_names_another_tree_is_refused(
    repo: Repository, tmp_path: Path, isolation: str
) -> None:
    other = Repository.create(tmp_path / "other")
    other.commit({"a.txt": "a\n"})
    sh(f"git config core.worktree '{other.path}'", repo.path)
    with pytest.raises(RepositoryError) as caught:
        prepare(ask(repo, isolation=isolation))
    assert caught.value.problem == (
        f"its configuration (core.worktree) says that its files lie in {other.path}, "
        "so git looks there and not here."
    )
    assert not (other.path / ".caesar").exists()


def test_a_configuration_that_names_its_own_tree_is_taken(repo: Repository) -> None:
    sh(f"git config core.worktree '{repo.path}'", repo.path)
    observation = observed(repo, script("echo two > a.txt"), isolation="inplace")
    assert actions(observation) == {"a.txt": "modified"}


@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
@pytest.mark.parametrize("where", ["src/.gitattributes", "src/.gitignore"])
def test_fifos_that_an_agent_left_do_not_stop_the_next_one(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, where: str, isolation: str
) -> None:
    monkeypatch.setattr("pytest_caesar.workspace.git.STALL_INTERVAL", 0.05)
    monkeypatch.setattr("pytest_caesar.workspace.git.SLEEP_TIMEOUT", 5.0)
    os.mkfifo(repo.path / where)
    observation = observed(repo, script("echo two > a.txt"), isolation=isolation)
    assert actions(observation) == {"a.txt": "modified"}


WHERE = {
    "the configuration": "cat inc >> config",
    "an include": "git config include.path inc",
    "an include for our branches": "git config 'includeIf.onbranch:caesar/**.path' inc",
    "an include for worktrees": "git config 'includeIf.gitdir:**/worktrees/**.path' inc",
    "a configuration of worktrees": "git config extensions.worktreeConfig true;"
    " cp inc config.worktree",
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", ["x", "a=b"])
def test_a_driver_that_an_agent_configured_runs_nothing(
    repo: Repository, tmp_path: Path, where: str, name: str
) -> None:
    ran = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\nenv > '{ran}'\ncat\n")
    evil.chmod(0o755)
    odd = "".join(f'[filter "{other}"]\n\tsmudge = x\n' for other in ("b l", 'q\\"x', "é"))

    def agent(folder: Path) -> None:
        (repo.path / ".git" / "inc").write_text(
            f'{odd}[filter "{name}"]\n\tsmudge = {evil}\n\tclean = {evil}\n\tprocess = {evil}\n'
            f"\trequired = true\n[core]\n\tfsmonitor = {evil}\n\thooksPath = {tmp_path}\n"
        )
        rules = f"echo '* filter={name}' >> info/attributes"
        sh(f"{WHERE[where]}; {rules}", repo.path / ".git")

    work(repo, agent)
    # A status of the project would now ask the filter, too.
    repo.write("a.txt", "two\n")
    for isolation in ("worktree", "inplace"):
        task_id = f"t_2_{isolation}"
        seen = observed(repo, script("echo 3 > b"), task_id=task_id, isolation=isolation)
        assert actions(seen) == {"b": "created"}
    assert not ran.exists()


def test_the_git_that_was_found_first_is_the_one_that_looks(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = tmp_path / "bin"
    earlier.mkdir()
    monkeypatch.setenv("PATH", f"{earlier}:{os.environ['PATH']}")
    find_git.cache_clear()

    def agent(folder: Path) -> None:
        sh("echo two > a.txt", folder)
        (earlier / "git").write_text("#!/bin/sh\nexit 0\n")
        (earlier / "git").chmod(0o755)

    assert actions(observed(repo, agent)) == {"a.txt": "modified"}


def test_a_git_that_was_replaced_verifies_nothing(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {find_git().path} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    find_git.cache_clear()
    _, observation = work(repo, lambda _: program.write_text("#!/bin/sh\nexit 0\n"))
    assert observation.verified is False
    assert f"{program} is another file than when it was found" in observation.diagnostics[0].message
