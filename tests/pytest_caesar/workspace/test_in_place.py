"""Working in the user's own tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.workspace.errors import BusyError
from pytest_caesar.workspace.isolation import prepare, release
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import actions, ask, codes, observed, script, sh, work


def in_place(repo: Repository | Path, command: str, **changes: object) -> dict[str, str]:
    return actions(observed(repo, script(command), isolation="inplace", **changes))


def test_the_users_own_work_is_not_the_agents(repo: Repository) -> None:
    repo.write("a.txt", "edited by the user\n")
    repo.write("untracked.txt", "u\n")
    repo.write("dir/old.txt", "o\n")
    sh("git add -N dir; rm run.sh", repo.path)
    assert in_place(repo, "true") == {}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo more >> a.txt", {"a.txt": "modified"}),
        ("echo x > untracked.txt", {"untracked.txt": "modified"}),
        ("rm untracked.txt", {"untracked.txt": "deleted"}),
        ("echo n > dir/new.txt", {"dir/new.txt": "created"}),
        ("git checkout -q -- a.txt", {"a.txt": "modified"}),
        ("git add -A; git commit -qm x", {}),
        (
            "git stash -q -u",
            {"a.txt": "modified", "dir/old.txt": "deleted", "untracked.txt": "deleted"},
        ),
        ("ln -sf src/m.py a.txt", {"a.txt": "modified"}),
        ("mkdir -p .caesar; echo x > .caesar/config.toml", {".caesar/config.toml": "created"}),
        ("git config status.showUntrackedFiles no; echo n > n", {"n": "created"}),
        ("mv untracked.txt 'a -> b'", {"a -> b": "renamed"}),
    ],
)
def test_what_the_agent_does_beside_the_users_work_is_told_by_content(
    repo: Repository, command: str, expected: dict[str, str]
) -> None:
    repo.write("a.txt", "edited by the user\n")
    repo.write("untracked.txt", "u\nu\nu\n")
    repo.write("dir/old.txt", "o\n")
    assert in_place(repo, command) == expected


def test_the_users_index_is_left_as_it_is(repo: Repository) -> None:
    repo.write("a.txt", "edited\n")
    index = (repo.path / ".git" / "index").read_bytes()
    assert in_place(repo, "echo b > b.txt") == {"b.txt": "created"}
    assert (repo.path / ".git" / "index").read_bytes() == index
    assert repo.status() == " M a.txt\n?? b.txt\n"


def test_a_repository_without_a_commit_is_worked_on_against_what_lies_there(
    tmp_path: Path,
) -> None:
    repo = Repository.create(tmp_path / "repo")
    repo.write("README", "hello\n")
    workspace, observation = work(
        repo, script("echo 1 > f.txt; git add f.txt; echo 2 >> f.txt; echo g > g.txt")
    )
    assert (workspace.isolation, workspace.base_ref) == ("inplace", None)
    assert codes(workspace) == {"isolation-degraded"}
    assert actions(observation) == {"f.txt": "created", "g.txt": "created"}
    assert observation.descends is None


def test_folders_of_the_orchestrator_are_no_changes(repo: Repository) -> None:
    for name in ("t1", "t2"):
        repo.git("worktree", "add", "-q", "--detach", f".caesar/wt/{name}")
    assert in_place(repo, "echo two > a.txt; git add -A; echo x > .caesar/tasks/t_0001/x") == {
        "a.txt": "modified"
    }


def test_placed_paths_are_left_out_by_whole_components(repo: Repository, tmp_path: Path) -> None:
    repo.commit({".gitignore": "node_modules/\n", "vendor/v.txt": "v\n"})
    repo.write("vendor/cache/c", "c\n")
    repo.write(".env", "K=1\n")
    (tmp_path / "nm").mkdir()
    (repo.path / "node_modules").symlink_to(tmp_path / "nm")
    observation = observed(
        repo,
        script(
            "mkdir node_modules_extra; echo x > node_modules_extra/x; echo K= > .env.example;"
            "echo t > vendor/cachet.txt; echo K=2 > .env; echo n > vendor/cache/n;"
            "echo leak > node_modules/leak.js"
        ),
        adopt=repo.path,
        isolation="inplace",
        placed=("node_modules", "./.env", "vendor/cache/"),
    )
    assert actions(observation) == {
        ".env.example": "created",
        "node_modules_extra/x": "created",
        "vendor/cachet.txt": "created",
    }
    assert b"leak" not in bytes(observation.patch)


def test_folders_that_ignore_themselves_stay_ignored(repo: Repository) -> None:
    repo.write(".venv/.gitignore", "*\n")
    repo.write(".venv/lib/x.py", "1\n")
    assert in_place(repo, "echo 2 > .venv/lib/x.py; echo n > .venv/new; echo b > b") == {
        "b": "created"
    }


def test_bits_of_the_users_index_hide_nothing(repo: Repository) -> None:
    sh(
        "git update-index --assume-unchanged a.txt; git update-index --skip-worktree run.sh",
        repo.path,
    )
    assert in_place(repo, "echo two > a.txt; echo two > run.sh") == {
        "a.txt": "modified",
        "run.sh": "modified",
    }


def test_conflicts_of_the_user_are_no_change(repo: Repository) -> None:
    sh(
        "git checkout -q -b side; echo side > a.txt; git commit -qam s; git checkout -q main;"
        "echo main > a.txt; git commit -qam m; git merge side >/dev/null || true",
        repo.path,
    )
    assert "<<<<<<<" in repo.read("a.txt")
    assert in_place(repo, "echo b > b") == {"b": "created"}
    assert in_place(repo, "echo solved > a.txt", task_id="t_2") == {"a.txt": "modified"}


@pytest.mark.parametrize(
    "command",
    [
        "git update-index --split-index",
        "git update-index --index-version 4",
        "git config core.fsmonitor /bin/true; git config core.untrackedCache true; git status -s",
        "git sparse-checkout set --cone src",
        "git config index.sparse true; git sparse-checkout set --cone --sparse-index src",
    ],
)
def test_indexes_of_every_kind_are_read(repo: Repository, command: str) -> None:
    repo.commit({"other/o.txt": "o\n", "other/p.txt": "p\n"})
    sh(command, repo.path)
    assert in_place(repo, "true") == {}
    assert in_place(
        repo, "mkdir -p other; echo x > other/o.txt; echo y > src/m.py", task_id="t_2"
    ) == {"other/o.txt": "modified", "src/m.py": "modified"}


def test_a_sparse_worktree_shows_what_is_created_and_nothing_that_was_absent(
    repo: Repository,
) -> None:
    repo.commit({"other/o.txt": "o\n", "other/p.txt": "p\n"})
    sh("git sparse-checkout set --cone src", repo.path)
    workspace = prepare(ask(repo))
    sh(
        "mkdir -p other; echo x > other/o.txt; echo n > other/n.txt; echo y > src/m.py",
        workspace.path,
    )
    assert actions(observe(workspace)) == {
        "other/n.txt": "created",
        "other/o.txt": "modified",
        "src/m.py": "modified",
    }


def test_a_second_writer_in_the_same_tree_is_refused_naming_the_first(repo: Repository) -> None:
    first = prepare(ask(repo, isolation="inplace"))
    with pytest.raises(BusyError) as caught:
        prepare(ask(repo, task_id="t_0002", isolation="inplace"))
    assert str(caught.value).startswith(
        f"task t_0002 cannot write in {repo.path}: task t_0001 (process "
    )
    assert not (repo.path / ".caesar" / "tasks" / "t_0002").exists()
    reader = prepare(
        ask(repo, task_id="t_0003", isolation="inplace", mode="read-only", native_read_only=True)
    )
    assert reader.lock is None
    observe(first)
    second = prepare(ask(repo, task_id="t_0004", isolation="inplace"))
    release(second)
    release(second)


def test_a_writer_that_died_blocks_nobody(repo: Repository) -> None:
    prepare(ask(repo, isolation="inplace"))  # dropped at once
    release(prepare(ask(repo, task_id="t_2", isolation="inplace")))


def test_a_new_file_beside_ignored_ones_is_seen(repo: Repository) -> None:
    repo.commit({".gitignore": "*.log\n"})
    repo.write("logs/x.log", "x\n")
    assert in_place(repo, "echo n > logs/new.py; echo n > logs/new.log") == {
        "logs/new.py": "created"
    }
