"""``pytest-caesar clean``, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.agents.selection import select
from pytest_caesar.cli import main
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import sh

WORKER = "#!/bin/sh\necho more >> a.txt; echo new > new.txt\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    return repository


def delegated(repository: Repository, text: str = WORKER, **wishes: Any) -> Run:
    script = repository.path.parent / "agent.sh"
    script.write_text(text)
    script.chmod(0o755)
    agent = select(str(script), project=repository.path, start=repository.path)
    return Orchestrator(agent, project=repository.path).delegate("Add a line.", **wishes)


def clean(
    repository: Repository, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, list[dict[str, Any]]]:
    capsys.readouterr()
    code = main(["clean", "--repo", str(repository.path), "--json", *map(str, arguments)])
    tasks: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["tasks"]
    return code, tasks


def refs(repository: Repository) -> str:
    return repository.git("for-each-ref", "--format=%(refname)")


def test_nothing_of_finished_tasks_remains_but_their_directories(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [delegated(repository), delegated(repository, WORKER + "git commit -qam x\n")]
    code, tasks = clean(repository, capsys)
    assert code == 0
    assert sorted(task["task_id"] for task in tasks) == sorted(run.task.id for run in runs)
    assert all(task["removed"][0] == "worktree" for task in tasks)
    assert not any(run.workspace.exists() for run in runs)
    assert refs(repository) == "refs/heads/main\n"
    assert repository.git("worktree", "list").count("\n") == 1
    assert not (repository.path / ".caesar" / "wt").exists()
    assert main(["apply", str(runs[0].task_dir)]) == 0
    assert repository.read("new.txt") == "new\n"
    assert clean(repository, capsys) == (0, [])


def test_task_directories_go_on_demand(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    run = delegated(repository)
    code, [task] = clean(repository, capsys, "--tasks")
    assert (code, task["removed"][-1]) == (0, "task directory")
    assert not run.task_dir.exists()


def test_only_the_tasks_that_are_named_are_cleaned_up_after(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = delegated(repository), delegated(repository)
    assert main(["clean", str(first.task_dir)]) == 0
    assert capsys.readouterr().out.startswith(f"removed  {first.task.id}\n  worktree\n")
    assert not first.workspace.exists()
    assert second.workspace.exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("echo late > late.txt", "late.txt was changed after the task had ended"),
        ("rm new.txt", "its worktree was changed after the task had ended"),
        ("git commit -qam late", "has moved to"),
        ("rm ../../tasks/*/run.json", "run.json is missing: the delegation has not ended"),
        (
            "git worktree lock . --reason mine",
            "somebody locked its worktree (mine); git worktree unlock",
        ),
    ],
)
def test_what_is_recorded_nowhere_is_kept(
    repository: Repository, capsys: pytest.CaptureFixture[str], change: str, reason: str
) -> None:
    run = delegated(repository)
    sh(change, run.workspace)
    before = refs(repository)
    code, [task] = clean(repository, capsys)
    assert code == 1
    assert reason in task["kept"]
    assert run.workspace.exists()
    assert refs(repository) == before


@pytest.mark.parametrize("name", [".caesar", ".caesar/wt"])
def test_nothing_behind_a_link_is_removed_not_even_by_force(
    repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    run = delegated(repository)
    folder = repository.path / name
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    code, [task] = clean(repository, capsys, "--force")
    assert code == 1
    assert task["kept"] == f"{folder} is a link, and nothing behind it is removed"
    assert (run.workspace / "new.txt").read_text() == "new\n"


def test_what_is_recorded_nowhere_goes_by_force(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    run = delegated(repository)
    sh("echo late > late.txt; git commit -qam late; rm ../../tasks/*/run.json", run.workspace)
    code, [task] = clean(repository, capsys, "--force", "--tasks")
    assert (code, task["kept"]) == (0, None)
    assert not run.workspace.exists()
    assert not run.task_dir.exists()
    assert refs(repository) == "refs/heads/main\n"


def test_what_was_touched_and_is_the_same_goes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    run = delegated(repository)
    sh("touch a.txt new.txt", run.workspace)
    assert clean(repository, capsys)[0] == 0
    assert not run.workspace.exists()


def test_what_no_patch_can_carry_is_kept(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    run = delegated(repository, "#!/bin/sh\ngit init -q tool; echo x > tool/x\n")
    code, [task] = clean(repository, capsys)
    assert (code, task["kept"]) == (1, "no patch can carry tool/")
    assert run.workspace.exists()


def test_a_task_in_place_leaves_nothing_to_clean_up(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    delegated(repository, isolation="inplace")
    assert clean(repository, capsys) == (0, [])
    assert repository.read("new.txt") == "new\n"


def test_a_record_that_lies_reaches_no_branch_of_the_users(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("branch", "precious")
    run = delegated(repository)
    record = run.task_dir / "run.json"
    value = json.loads(record.read_text())
    value["worktree"]["branch"] = "precious"
    record.write_text(json.dumps(value))
    clean(repository, capsys, "--force")
    assert "refs/heads/precious" in refs(repository)


def test_a_worktree_replaced_by_a_link_is_kept_and_its_target_too(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = delegated(repository)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("keep\n")
    sh(f"mv {run.workspace} gone; ln -s {tmp_path}/precious {run.workspace}", tmp_path)
    code, [task] = clean(repository, capsys)
    assert (code, task["kept"]) == (1, "something else took the place of its worktree")
    clean(repository, capsys, "--force", "--tasks")
    assert (tmp_path / "precious" / "file").exists()


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("nowhere", "there is no such folder"),
        (".", "it is not the folder of a task"),
    ],
)
def test_a_path_that_is_no_task_is_refused(
    repository: Repository, capsys: pytest.CaptureFixture[str], path: str, problem: str
) -> None:
    folder = repository.path / path
    assert main(["clean", "--repo", str(repository.path), str(folder)]) == 2
    assert problem in capsys.readouterr().err


def test_a_ref_that_git_cannot_delete_keeps_its_task_and_no_other(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    stuck, free = delegated(repository), delegated(repository)
    (repository.path / ".git" / "refs" / "caesar" / f"{stuck.task.id}.lock").write_text("")
    code, tasks = clean(repository, capsys)
    kept = {task["task_id"]: task["kept"] for task in tasks}
    assert code == 1
    assert "lock" in kept[stuck.task.id]
    assert kept[free.task.id] is None
    assert stuck.workspace.exists()
    assert not free.workspace.exists()


def test_tasks_of_a_linked_checkout_are_cleaned_up_after(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    linked = tmp_path / "linked"
    repository.git("worktree", "add", "--quiet", "-b", "other", str(linked))
    script = tmp_path / "agent.sh"
    script.write_text(WORKER)
    script.chmod(0o755)
    agent = select(str(script), project=linked, start=linked)
    run = Orchestrator(agent, project=linked).delegate("Add a line.")
    assert run.workspace.is_relative_to(linked)
    assert clean(repository, capsys)[0] == 0
    assert not run.workspace.exists()
    assert "caesar" not in refs(repository)
    assert linked.exists()


def test_outside_git_and_without_tasks_there_is_nothing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clean", "--repo", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "There is nothing to clean up.\n"


@pytest.mark.parametrize("name", [".caesar", ".caesar/tasks"])
def test_task_directories_behind_a_link_are_refused_by_name(
    repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    delegated(repository)
    folder = repository.path / name
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "thesis").mkdir()
    assert main(["clean", "--repo", str(repository.path), "--tasks", "--force"]) == 2
    assert f"{folder} is a link, and nothing behind it is removed" in capsys.readouterr().err
    assert (tmp_path / "elsewhere" / "thesis").exists()


def test_a_folder_that_no_run_made_is_kept_also_by_force(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    run = delegated(repository)
    (run.task_dir.parent / "notes").mkdir()
    code, tasks = clean(repository, capsys, "--force", "--tasks")
    kept = {task["task_id"]: task["kept"] for task in tasks}
    assert (code, kept.pop(run.task.id)) == (1, None)
    assert kept["notes"].startswith("no run made this folder")
    assert (run.task_dir.parent / "notes").is_dir()


def test_notes_of_another_worktree_stay_whatever_an_agent_wrote_into_them(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    repository.git("worktree", "add", "--quiet", "-b", "other", str(other))
    notes = repository.path / ".git" / "worktrees" / "other"
    run = delegated(
        repository,
        f"#!/bin/sh\necho $PWD/.git > {notes}/gitdir\necho 'gitdir: {notes}' > .git\n",
    )
    clean(repository, capsys, "--force")
    assert not run.workspace.exists()
    assert not (notes.parent / run.task.id).exists()
    assert "other" in sh("git status", other)


def test_what_an_interrupted_checkout_left_goes_by_force_and_what_somebody_locked_stays(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, locked = delegated(repository), delegated(repository)
    notes = repository.path / ".git" / "worktrees"
    (notes / broken.task.id / "locked").write_text("initializing\n")
    (notes / locked.task.id / "locked").write_text("on a stick")
    assert clean(repository, capsys)[0] == 1
    code, tasks = clean(repository, capsys, "--force")
    kept = {task["task_id"]: task["kept"] for task in tasks}
    assert (code, kept[broken.task.id]) == (1, None)
    assert "somebody locked its worktree (on a stick)" in kept[locked.task.id]
    assert (broken.workspace.exists(), locked.workspace.exists()) == (False, True)
