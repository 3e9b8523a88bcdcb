from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from pytest_caesar.workspace.errors import (
    BaseRefError,
    IsolationError,
    MissingFolderError,
    OccupiedError,
    RepositoryError,
    StorageError,
    WorktreeImpossibleError,
)
from pytest_caesar.workspace.isolation import decide, prepare
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.values import WorkspaceRequest
from tests.pytest_caesar.workspace.support import actions, ask, codes, script, sh, work


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("mode", "native", "asked", "usable", "expected", "said"),
    [
        ("write", False, "auto", True, "worktree", ""),
        ("write", False, "auto", False, "inplace", "isolation-degraded"),
        ("write", False, "inplace", True, "inplace", ""),
        ("write", False, "inplace", False, "inplace", ""),
        ("write", False, "worktree", True, "worktree", ""),
        ("write", False, "worktree", False, None, ""),
        ("read-only", True, "auto", True, "inplace", ""),
        ("read-only", True, "auto", False, "inplace", ""),
        ("read-only", True, "inplace", True, "inplace", ""),
        ("read-only", True, "worktree", True, "worktree", ""),
        ("read-only", True, "worktree", False, None, ""),
        ("read-only", False, "auto", True, "worktree", ""),
        ("read-only", False, "auto", False, "inplace", "isolation-degraded"),
        ("read-only", False, "inplace", True, "worktree", "isolation-changed"),
        ("read-only", False, "inplace", False, "inplace", ""),
        ("read-only", False, "worktree", False, None, ""),
    ],
)
def test_isolation_follows_from_mode_wish_and_repository(
    mode: str,
    native: bool,  # noqa: FBT001 - a column of the table
    asked: str,
    usable: bool,  # noqa: FBT001 - as above
    expected: str | None,
    said: str,
) -> None:
    request = WorkspaceRequest(
        task_id="t",
        project=Path("/p"),
        task_directory=Path("/t"),
        mode=mode,  # type: ignore[arg-type]
        isolation=asked,  # type: ignore[arg-type]
        native_read_only=native,
    )
    if expected is None:
        with pytest.raises(WorktreeImpossibleError):
            decide(request, usable=usable, problem="no")
        return
    isolation, diagnostics = decide(request, usable=usable, problem="no")
    assert isolation == expected
    assert [diagnostic.code for diagnostic in diagnostics] == ([said] if said else [])


def test_a_worktree_lies_beside_the_tasks_on_a_branch_of_its_own(repo: Repository) -> None:
    workspace = prepare(ask(repo, label="Reviewer!"))
    assert workspace.path == repo.path / ".caesar" / "wt" / "t_0001"
    assert workspace.repository == workspace.path
    assert workspace.project_repository == repo.path
    assert workspace.branch == "caesar/reviewer/fix-the-parser-0001"
    assert workspace.base_ref == workspace.baseline == repo.head
    assert sh("git symbolic-ref HEAD; git status --porcelain; ls", workspace.path).split() == [
        "refs/heads/caesar/reviewer/fix-the-parser-0001",
        "a.txt",
        "run.sh",
        "src",
    ]
    assert repo.status() == ""
    for folder in ("wt", "tasks"):
        assert repo.read(f".caesar/{folder}/.gitignore") == "*\n"


def test_a_worktree_is_noted_down_as_git_itself_does_it(repo: Repository, tmp_path: Path) -> None:
    ours = prepare(ask(repo))
    repo.git("worktree", "add", "-q", "-b", "theirs", str(tmp_path / "theirs"))
    notes = repo.path / ".git" / "worktrees"

    def files(name: str) -> dict[str, str]:
        return {
            path.name: path.read_text().replace(name, "NAME")
            for path in (notes / name).iterdir()
            if path.is_file() and path.name != "index"
        }

    mine, gits = files("t_0001"), files("theirs")
    assert gits.pop("gitdir") == f"{tmp_path}/NAME/.git\n"
    assert mine.pop("gitdir") == f"{repo.path}/.caesar/wt/NAME/.git\n"
    assert gits.pop("HEAD") == "ref: refs/heads/NAME\n"
    assert mine.pop("HEAD") == f"ref: refs/heads/{ours.branch}\n"
    assert mine == gits
    assert (ours.path / ".git").read_text() == f"gitdir: {notes}/t_0001\n"
    assert sh("git ls-files -s", ours.path) == sh("git ls-files -s", tmp_path / "theirs")
    repo.git("worktree", "prune")
    assert f"worktree {ours.path}\n" in repo.git("worktree", "list", "--porcelain")
    repo.git("fsck", "--strict")


def test_a_repository_with_extensions_is_left_to_git(repo: Repository) -> None:
    repo.git("config", "extensions.worktreeConfig", "true")
    workspace = prepare(ask(repo))
    sh("echo two > a.txt", workspace.path)
    assert actions(observe(workspace)) == {"a.txt": "modified"}


@pytest.mark.parametrize("extension", ["", "worktreeConfig"])
def test_a_worktree_is_verified_where_the_user_has_indexes_split(
    repo: Repository, extension: str
) -> None:
    repo.git("config", "core.splitIndex", "true")
    if extension:
        repo.git("config", f"extensions.{extension}", "true")
    workspace = prepare(ask(repo))
    sh("echo two > a.txt", workspace.path)
    observation = observe(workspace)
    assert observation.verified, observation.diagnostics
    assert actions(observation) == {"a.txt": "modified"}


def test_notes_of_a_vanished_worktree_of_that_name_are_in_the_way(repo: Repository) -> None:
    (repo.path / ".git" / "worktrees" / "t_0001").mkdir(parents=True)
    with pytest.raises(OccupiedError, match="Run git worktree prune"):
        prepare(ask(repo))
    assert not (repo.path / ".caesar").exists()
    assert "caesar" not in repo.git("for-each-ref")


def test_a_branch_of_that_name_gets_a_sibling(repo: Repository) -> None:
    repo.git("branch", "caesar/fix-the-parser-0001")
    assert prepare(ask(repo)).branch == "caesar/fix-the-parser-0001-2"


def test_work_of_the_user_that_is_not_committed_is_hinted_at(repo: Repository) -> None:
    repo.write("a.txt", "edited\n")
    repo.write("new.txt", "n\n")
    workspace = prepare(ask(repo))
    (hint,) = workspace.diagnostics
    assert hint.code == "uncommitted-work"
    assert repo.head is not None
    assert hint.message == (
        f"The agent sees commit {repo.head[:12]}; what is not committed is not in its worktree: "
        "a.txt, new.txt."
    )


def refused(request: WorkspaceRequest, kind: type[IsolationError]) -> str:
    """Prepare what must be refused, and make sure that nothing is left behind."""
    top = request.project if request.project.is_dir() else request.project.parent
    before = everything(top)
    with pytest.raises(kind) as caught:
        prepare(request)
    left = [name for name in everything(top) if not name.startswith(".git/logs")]
    assert left == [name for name in before if not name.startswith(".git/logs")]
    return str(pickle.loads(pickle.dumps(caught.value)))


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert refused(ask(gone), MissingFolderError) == (
        f"the workspace {gone} does not exist. Give a folder that exists."
    )
    gone.write_text("file")
    assert "is not a folder" in refused(ask(gone), MissingFolderError)


def test_a_worktree_without_a_commit_or_without_git_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert "it is not in a git repository" in refused(
        ask(plain, isolation="worktree"), WorktreeImpossibleError
    )
    empty = Repository.create(tmp_path / "empty")
    assert refused(ask(empty, isolation="worktree"), WorktreeImpossibleError) == (
        f"isolation 'worktree' is impossible in {empty.path}: its repository has no commit yet. "
        "Make a first commit there, or ask for isolation 'inplace'."
    )


def test_a_broken_repository_is_refused_not_taken_for_a_plain_folder(repo: Repository) -> None:
    (repo.path / ".git" / "HEAD").write_text("nonsense")
    message = refused(ask(repo), RepositoryError)
    assert message.startswith(f"the git repository at {repo.path} cannot be used: ")
    assert message.endswith("Repair it (git status must work there) and try again.")


@pytest.mark.parametrize("where", [".caesar/wt/t_0001", ".caesar"])
def test_what_is_in_the_way_of_a_worktree_is_named(
    repo: Repository, where: str, tmp_path: Path
) -> None:
    place = repo.path / where
    place.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    place.symlink_to(tmp_path / "elsewhere")
    request = ask(repo, task_directory=tmp_path / "tasks" / "t_0001")
    assert f"{place} is in the way" in refused(request, OccupiedError)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("ref", "named"),
    [
        ("refs/heads/caesar", "the branch 'caesar'"),
        ("refs/heads/caesar/helper", "the branch 'caesar/helper'"),
        ("refs/caesar", "the ref 'refs/caesar'"),
    ],
)
def test_a_ref_in_the_place_of_a_folder_of_refs_is_named(
    repo: Repository, ref: str, named: str
) -> None:
    repo.git("update-ref", ref, "HEAD")
    assert refused(ask(repo, label="helper"), OccupiedError) == (
        f"{named} is in the way of the worktree. "
        "Rename it: git cannot hold it and names that begin with it."
    )


def test_a_refusal_removes_nothing_behind_a_link_among_the_refs(
    repo: Repository, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere" / "empty").mkdir(parents=True)
    (repo.path / ".git" / "refs" / "heads" / "caesar").symlink_to(tmp_path / "elsewhere")
    repo.git("update-ref", "refs/caesar", "HEAD")
    refused(ask(repo), OccupiedError)
    assert (tmp_path / "elsewhere" / "empty").is_dir()


def test_a_folder_that_is_not_in_the_commit_is_refused_for_a_worktree(repo: Repository) -> None:
    folder = repo.path / "new"
    folder.mkdir()
    (folder / "x").write_text("x")
    with pytest.raises(WorktreeImpossibleError, match="does not hold this folder"):
        prepare(ask(folder))
    assert not (repo.path / ".caesar").exists()
    assert "caesar" not in repo.git("for-each-ref")
    assert not (repo.path / ".git" / "worktrees").exists()


def test_a_hook_that_fails_does_not_matter_and_a_full_disk_cleans_up(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = repo.path / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    prepare(ask(repo))

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pytest_caesar.workspace.baseline_tree.of_commit", fail)
    before = everything(repo.path)
    with pytest.raises(StorageError, match="No space left on device"):
        prepare(ask(repo, task_id="t_2"))
    assert [n for n in everything(repo.path) if "logs" not in n] == [
        n for n in before if "logs" not in n
    ]


def test_a_prepared_workspace_is_adopted_with_its_base(repo: Repository, tmp_path: Path) -> None:
    base = repo.head
    assert base is not None
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "wt"))
    adopted = prepare(ask(repo, adopt=tmp_path / "wt", base_ref=base[:10], isolation="auto"))
    assert (adopted.isolation, adopted.base_ref, adopted.branch) == ("worktree", base, None)
    assert adopted.project_repository == repo.path
    sh("echo two > a.txt", adopted.path)
    assert actions(observe(adopted)) == {"a.txt": "modified"}
    # A second task goes on in the same tree: all of it is told against the same base.
    again = prepare(ask(repo, adopt=tmp_path / "wt", base_ref=base, task_id="t_2"))
    sh("echo b > b.txt", again.path)
    assert actions(observe(again)) == {"a.txt": "modified", "b.txt": "created"}


def test_an_adopted_worktree_may_stand_elsewhere_than_on_its_base(
    repo: Repository, tmp_path: Path
) -> None:
    base = repo.commit({"gone.txt": "g\n", "placed.txt": "p\n", "same.txt": "s\n"})
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "wt"))
    sh(
        "git rm -q gone.txt; echo n > n.txt; echo q > placed.txt; echo t > same.txt; git add -A;"
        "git commit -qm further",
        tmp_path / "wt",
    )
    workspace = prepare(ask(repo, adopt=tmp_path / "wt", base_ref=base, placed=("placed.txt",)))
    sh("echo s > same.txt; echo more >> n.txt", workspace.path)
    observation = observe(workspace)
    assert actions(observation) == {"gone.txt": "deleted", "n.txt": "created"}
    assert b"placed" not in bytes(observation.patch)


def test_bits_in_the_index_of_an_adopted_worktree_hide_nothing(
    repo: Repository, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "wt"))
    sh("git update-index --assume-unchanged a.txt run.sh", tmp_path / "wt")
    workspace = prepare(ask(repo, adopt=tmp_path / "wt"))
    sh("echo two > a.txt", workspace.path)
    assert actions(observe(workspace)) == {"a.txt": "modified"}


def test_an_unknown_base_is_refused(repo: Repository) -> None:
    with pytest.raises(BaseRefError, match="base_ref '--all' is not a commit"):
        prepare(ask(repo, adopt=repo.path, isolation="worktree", base_ref="--all"))


def test_a_read_only_agent_without_a_mode_of_its_own_works_in_a_worktree(
    repo: Repository,
) -> None:
    workspace = prepare(ask(repo, mode="read-only", isolation="inplace"))
    assert workspace.isolation == "worktree"
    assert codes(workspace) == {"isolation-changed"}


def test_a_project_reached_through_a_link_is_the_same_project(
    repo: Repository, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(repo.path)
    workspace = prepare(ask(tmp_path / "link"))
    assert workspace.path == repo.path / ".caesar" / "wt" / "t_0001"
    (workspace.path / "b").write_text("b")
    assert actions(observe(workspace)) == {"b": "created"}


def test_a_worktree_of_a_worktree_is_made_beside_its_tasks(
    repo: Repository, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    workspace = prepare(ask(tmp_path / "side"))
    assert workspace.path == tmp_path / "side" / ".caesar" / "wt" / "t_0001"
    (workspace.path / "b").write_text("b")
    assert actions(observe(workspace)) == {"b": "created"}


def test_an_observation_does_not_depend_on_the_working_folder(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    request = ask(Path(os.path.relpath(repo.path)))
    workspace = prepare(
        WorkspaceRequest(
            task_id=request.task_id,
            project=request.project,
            task_directory=repo.path / ".caesar" / "tasks" / "t_0001",
        )
    )
    monkeypatch.chdir("/")
    (workspace.path / "b").write_text("b")
    assert actions(observe(workspace)) == {"b": "created"}


@pytest.mark.parametrize(
    "name", ["a:b", '"quoted"', "#a", "back\\slash", "per%cent $HOME", "naïve ünï", 'a":"b\\:']
)
@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
def test_a_repository_may_be_called_anything(tmp_path: Path, name: str, isolation: str) -> None:
    # Old objects must be found: they lie where the name leads.
    repository = Repository.create(tmp_path / name)
    repository.commit({"a.txt": "one\n"})

    workspace, observation = work(repository, script("echo two > a.txt"), isolation=isolation)

    assert observation.verified, observation.diagnostics
    assert actions(observation) == {"a.txt": "modified"}
    assert b"-one" in bytes(observation.patch)
    assert name in str(workspace.path)
