from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.workspace.errors import PlacingError, SetupFailedError
from pytest_caesar.workspace.isolation import prepare
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.placing import read_placed
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import actions, ask, codes, script, sh, work


@pytest.fixture
def project(repo: Repository) -> Repository:
    repo.commit({".gitignore": "node_modules/\n.env\ndata/\n*.sock\n"})
    repo.write("node_modules/lib/index.js", "lib\n")
    repo.write(".env", "KEY=1\n")
    repo.write("data/big.bin", "big\n")
    return repo


def test_copies_and_links_are_placed_and_are_no_changes(project: Repository) -> None:
    workspace, observation = work(
        project,
        script("echo KEY=2 > .env; echo x > node_modules/lib/new.js; echo b > b.txt"),
        copy=("node_modules", "./.env"),
        link=("data",),
    )
    assert workspace.placed == ("node_modules", ".env", "data")
    assert (workspace.path / "data").is_symlink()
    assert not (workspace.path / "node_modules").is_symlink()
    assert project.read(".env") == "KEY=1\n"
    assert not (project.path / "node_modules" / "lib" / "new.js").exists()
    assert actions(observation) == {"b.txt": "created"}
    assert codes(workspace) == {"path-shared"}
    task = TaskDirectory(project.path / ".caesar" / "tasks" / "t_0001")
    assert json.loads(task.placed_file.read_text()) == {
        "task_id": "t_0001",
        "workspace": str(workspace.path),
        "placed": ["node_modules", ".env", "data"],
    }
    assert read_placed(task) == workspace.placed


def test_a_linked_folder_does_not_leak_into_the_patch(project: Repository) -> None:
    # "node_modules/" ignores a folder, and a link is none.
    _, observation = work(project, script("echo b > b.txt"), link=("node_modules",))
    assert actions(observation) == {"b.txt": "created"}
    assert b"node_modules" not in bytes(observation.patch)


def test_what_cannot_be_placed_is_told_with_its_key(project: Repository) -> None:
    project.write("loose.txt", "l\n")
    workspace = prepare(
        ask(project, copy=("absent", "a.txt", "loose.txt", ".env"), link=(".env", "src"))
    )
    assert [diagnostic.message for diagnostic in workspace.diagnostics[1:]] == [
        "[worktree] copy: absent was not placed: it does not exist in the project.",
        "[worktree] copy: a.txt was not placed: git tracks it, so it is in the worktree already.",
        (
            "[worktree] copy: loose.txt was not placed: git does not ignore it, so it would count as "
            "the agent's work."
        ),
        "[worktree] link: .env was not placed: something is there already.",
        "[worktree] link: src was not placed: git tracks it, so it is in the worktree already.",
    ]
    assert workspace.placed == (".env",)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/etc/passwd", "is absolute"),
        ("../x", "leads out of the project"),
        ("a/../../x", "leads out of the project"),
        (".git/hooks", "belongs to git or to the orchestrator"),
        ("./.git/hooks", "belongs to git or to the orchestrator"),
        (".caesar/wt", "belongs to git or to the orchestrator"),
        ("", "is empty"),
        (".", "is empty"),
        ("a\0b", "holds a control character"),
    ],
)
def test_paths_that_must_not_be_placed_are_refused(
    project: Repository, path: str, problem: str
) -> None:
    with pytest.raises(PlacingError) as caught:
        prepare(ask(project, link=(path,)))
    assert str(caught.value) == (
        f"[worktree] link holds {path!r}, which {problem}. "
        "Give a path inside the project, relative to it."
    )
    assert not (project.path / ".caesar").exists()


def test_links_inside_a_copied_folder_stay_links_and_sockets_stay_behind(
    project: Repository, tmp_path: Path
) -> None:
    (project.path / "data" / "out").symlink_to(tmp_path)
    os.mkfifo(project.path / "data" / "pipe")
    workspace = prepare(ask(project, copy=("data",)))
    assert sorted(entry.name for entry in (workspace.path / "data").iterdir()) == ["big.bin", "out"]
    assert (workspace.path / "data" / "out").readlink() == tmp_path


@pytest.mark.parametrize("path", ["data", "data/hole.bin"])
def test_holes_in_a_copied_file_stay_holes(project: Repository, path: str) -> None:
    source = project.path / "data" / "hole.bin"
    with source.open("wb") as file:
        file.truncate(1 << 40)
        file.seek(1 << 30)
        file.write(b"data")
    source.chmod(0o640)
    workspace = prepare(ask(project, copy=(path,)))
    copy = workspace.path / "data" / "hole.bin"
    found, made = source.stat(), copy.stat()
    assert (made.st_size, made.st_mode, made.st_mtime_ns) == (
        found.st_size,
        found.st_mode,
        found.st_mtime_ns,
    )
    assert made.st_blocks * 512 < 1 << 20
    with copy.open("rb") as file:
        file.seek((1 << 30) - 1)
        assert file.read(6) == b"\0data\0"


def test_a_link_on_the_way_is_not_followed(project: Repository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project.path / "vendor").symlink_to(tmp_path / "elsewhere")
    sh(
        "git add vendor; git commit -qm vendor; rm vendor; mkdir vendor; echo d > vendor/.env",
        project.path,
    )
    workspace = prepare(ask(project, copy=("vendor/.env",)))
    assert "vendor is a symbolic link in the worktree" in workspace.diagnostics[-1].message
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_sub_directory_places_relative_to_itself(project: Repository) -> None:
    project.commit({"pkg/p.txt": "p\n"})
    project.write("pkg/.env", "P=1\n")
    workspace, observation = work(
        project.path / "pkg", script("echo P=2 > .env; echo n > n"), copy=(".env",)
    )
    assert workspace.placed == (".env",)
    assert (workspace.path / ".env").read_text() == "P=2\n"
    assert actions(observation) == {"n": "created"}


def test_what_setup_makes_is_not_the_agents_work(project: Repository) -> None:
    workspace = prepare(
        ask(project, setup=("echo lock > lock.txt", "echo more >> a.txt; echo $PWD > where"))
    )
    assert (workspace.path / "where").read_text().strip() == str(workspace.path)
    assert observe(workspace).changes == ()
    sh("echo agent >> a.txt; echo n > n; rm lock.txt", workspace.path)
    assert actions(observe(workspace)) == {
        "a.txt": "modified",
        "lock.txt": "deleted",
        "n": "created",
    }


def test_a_failing_setup_tells_its_output_and_leaves_nothing(project: Repository) -> None:
    with pytest.raises(SetupFailedError) as caught:
        prepare(ask(project, setup=("true", r"printf 'no such\n\033[31mpackage\n'; exit 3")))
    assert str(caught.value) == (
        f"[worktree] setup command {caught.value.command!r} ended with exit code 3. "
        "It printed:\nno such\n\\x1b[31mpackage"
    )
    assert not (project.path / ".caesar").exists()
    assert "caesar" not in project.git("for-each-ref")


def test_a_setup_that_takes_too_long_is_ended_with_all_it_started(
    project: Repository, tmp_path: Path
) -> None:
    command = f"sleep 60 & echo $! > '{tmp_path}/pid'; trap '' TERM; wait"
    with pytest.raises(SetupFailedError, match=r"did not end within 0\.3 s"):
        prepare(ask(project, setup=(command,), setup_timeout=0.3))
    pid = int((tmp_path / "pid").read_text())
    status = Path(f"/proc/{pid}/status")
    assert not status.exists() or "zombie" in status.read_text()


def test_a_background_process_of_setup_does_not_write_beside_the_agent(
    project: Repository, tmp_path: Path
) -> None:
    prepare(ask(project, setup=(f"sleep 60 & echo $! > '{tmp_path}/pid'",)))
    status = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/status")
    assert not status.exists() or "zombie" in status.read_text()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"placed": 3}', '{"placed": null}'])
def test_an_unreadable_list_of_placed_paths_is_empty(tmp_path: Path, content: str) -> None:
    (tmp_path / "placed.json").write_text(content)
    assert read_placed(TaskDirectory(tmp_path)) == ()
