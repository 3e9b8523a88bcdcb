from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path

import pytest

from pytest_caesar.workspace.applying import ApplyError, apply_patch
from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.isolation import prepare, remove
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import Agent, ask, observed, script, sh, work

LINES = [f"line {number}\n" for number in range(30)]


@pytest.fixture
def project(repo: Repository) -> Repository:
    repo.commit({"long.txt": "".join(LINES), "doomed.txt": "d\n"})
    return repo


def made_by(repo: Repository, agent: Agent) -> bytes:
    return observed(repo, agent).patch


def edit(folder: Path, number: int, text: str) -> None:
    file = folder / "long.txt"
    lines = file.read_text().splitlines(keepends=True)
    lines[number] = text
    file.write_text("".join(lines))


def state(repo: Repository) -> dict[str, bytes]:
    return {
        str(path.relative_to(repo.path)): path.read_bytes()
        for path in sorted(repo.path.rglob("*"))
        if path.is_file() and ".caesar" not in path.parts
    }


def refused(repo: Repository, patch: bytes) -> ApplyError:
    before = state(repo)
    with pytest.raises(ApplyError) as caught:
        apply_patch(repo.path, patch)
    assert state(repo) == before
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, ApplyError)
    return error


def test_everything_arrives_without_the_worktree_and_without_touching_the_index(
    project: Repository,
) -> None:
    def agent(folder: Path) -> None:
        edit(folder, 3, "agent\n")
        (folder / "logo.png").write_bytes(bytes(range(256)))
        (folder / "latin").write_bytes(b"caf\xe9\n")
        (folder / "doomed.txt").unlink()
        (folder / "run.sh").chmod(0o755)
        (folder / "link").symlink_to("a.txt")
        (folder / "new/dir").mkdir(parents=True)
        (folder / "new/dir/é x").write_text("n")

    workspace, observation = work(project, agent)
    remove(workspace, task_id="t_0001", recorded=observation)
    git_dir = {k: v for k, v in state(project).items() if k.startswith(".git/")}
    apply_patch(project.path / "src", observation.patch)
    assert project.read("long.txt").splitlines()[3] == "agent"
    assert (project.path / "logo.png").read_bytes() == bytes(range(256))
    assert (project.path / "latin").read_bytes() == b"caf\xe9\n"
    assert not (project.path / "doomed.txt").exists()
    assert os.access(project.path / "run.sh", os.X_OK)
    assert (project.path / "link").readlink() == Path("a.txt")
    assert project.read("new/dir/é x") == "n"
    assert {k: v for k, v in state(project).items() if k.startswith(".git/")} == git_dir


def test_edits_of_the_user_elsewhere_in_the_same_file_are_kept(project: Repository) -> None:
    patch = made_by(project, lambda folder: edit(folder, 3, "agent\n"))
    edit(project.path, 20, "user\n")
    project.write("a.txt", "user\n")
    apply_patch(project.path, patch)
    lines = project.read("long.txt").splitlines()
    assert (lines[3], lines[20]) == ("agent", "user")
    assert project.read("a.txt") == "user\n"


def test_lines_close_to_the_users_are_merged_where_they_do_not_touch(project: Repository) -> None:
    patch = made_by(project, lambda folder: edit(folder, 3, "agent\n"))
    edit(project.path, 5, "user\n")
    apply_patch(project.path, patch)
    lines = project.read("long.txt").splitlines()
    assert (lines[3], lines[5]) == ("agent", "user")


def test_a_conflict_changes_nothing_and_names_the_file(project: Repository) -> None:
    def agent(folder: Path) -> None:
        edit(folder, 3, "agent\n")
        (folder / "other.txt").write_text("o\n")
        (folder / "src/m.py").write_text("y = 2\n")

    patch = made_by(project, agent)
    edit(project.path, 3, "user\n")
    error = refused(project, patch)
    assert error.paths == ("long.txt",)
    assert str(error) == (
        f"nothing was applied to {project.path}: the same lines were changed in the meantime: "
        "long.txt. Commit or move your own edits there, then apply again."
    )


def test_a_file_in_the_way_changes_nothing_and_is_named(project: Repository) -> None:
    project.commit({".gitignore": "*.log\n"})
    patch = made_by(project, script("echo a > new.txt; echo a > b.txt"))
    project.write("new.txt", "of the user\n")
    assert refused(project, patch).paths == ("new.txt",)
    (project.path / "new.txt").unlink()
    forced = observed(project, script("echo a > x.log; git add -f x.log"), task_id="t_2").patch
    project.write("x.log", "of the user, ignored\n")
    assert refused(project, forced).paths == ("x.log",)


def test_a_deleted_file_that_the_user_edited_is_a_conflict(project: Repository) -> None:
    patch = made_by(project, script("rm doomed.txt; echo b > b.txt"))
    project.write("doomed.txt", "edited\n")
    assert refused(project, patch).paths == ("doomed.txt",)


def test_applying_twice_is_applying_once(project: Repository) -> None:
    patch = made_by(project, script("echo two > a.txt; echo n > n.txt; rm doomed.txt"))
    apply_patch(project.path, patch)
    before = state(project)
    apply_patch(project.path, patch)
    assert state(project) == before


def test_applying_twice_is_applying_once_where_the_patch_has_its_files_ignored(
    project: Repository,
) -> None:
    patch = made_by(
        project, script("echo '*.log' > .gitignore; echo l > new.log; git add -f .; rm doomed.txt")
    )
    assert apply_patch(project.path, patch) is True
    before = state(project)
    assert apply_patch(project.path, patch) is False
    assert state(project) == before


def test_a_file_in_the_way_is_named_also_when_git_ignores_it(project: Repository) -> None:
    patch = made_by(project, script("echo agent > new.log"))
    project.write(".git/info/exclude", "*.log\n")
    project.write("new.log", "user\n")
    assert refused(project, patch).paths == ("new.log",)
    project.write("new.log", "agent\n")
    assert apply_patch(project.path, patch) is False


@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_what_is_no_file_and_ignored_is_in_the_way(project: Repository, kind: str) -> None:
    patch = made_by(project, script("ln -s a.txt cache"))
    project.write(".git/info/exclude", "cache\n")
    place = project.path / "cache"
    if kind == "folder":
        project.write("cache/c", "c\n")
    else:
        os.mkfifo(place)
    assert refused(project, patch).paths == ("cache",)
    assert place.exists()


def test_work_goes_on_the_users_new_commits(project: Repository) -> None:
    workspace = prepare(ask(project))
    edit(workspace.path, 3, "agent\n")
    project.commit({"long.txt": "user\n" + "".join(LINES), "more.txt": "m\n"})
    apply_patch(project.path, observe(workspace).patch)
    lines = project.read("long.txt").splitlines()
    assert (lines[0], lines[4]) == ("user", "agent")


def test_a_write_that_fails_half_way_is_taken_back(
    project: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    patch = made_by(project, script("echo two > a.txt; rm doomed.txt; echo n > n.txt"))
    room = tmp_path / "copies"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    real = Git.run

    def run(self: Git, *arguments: str, **options: object) -> object:
        result = real(self, *arguments, **options)  # type: ignore[arg-type]
        if arguments[0] == "apply" and not {"--check", "--cached", "--numstat"} & set(arguments):
            (project.path / "n.txt").write_text("half")
            raise GitError(
                argv=("git", "apply"), exit_code=1, stderr="No space", timed_out=False, timeout=1.0
            )
        return result

    monkeypatch.setattr(Git, "run", run)
    assert "No space" in str(refused(project, patch))
    assert list(room.iterdir()) == []  # the copies that it was taken back from


def test_configuration_of_the_user_does_not_change_what_is_applied(
    project: Repository, user_config: Path, tmp_path: Path
) -> None:
    patch = made_by(project, script("printf 'trailing  \\n' > t.txt; echo two > a.txt"))
    (tmp_path / "evil").write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\ncat\n")
    (tmp_path / "evil").chmod(0o755)
    user_config.write_text(
        "[apply]\n\twhitespace = fix\n\tignoreWhitespace = change\n[diff]\n\tnoprefix = true\n"
        f'[filter "x"]\n\tclean = {tmp_path}/evil\n\tsmudge = {tmp_path}/evil\n'
    )
    (project.path / ".git" / "info" / "attributes").write_text("* filter=x\n")
    apply_patch(project.path, patch)
    assert project.read("t.txt") == "trailing  \n"
    assert not (tmp_path / "ran").exists()


def test_line_ends_of_the_users_checkout_are_kept(project: Repository, user_config: Path) -> None:
    patch = made_by(project, lambda folder: edit(folder, 3, "agent\n"))
    user_config.write_text("[core]\n\tautocrlf = true\n")
    sh(
        "rm long.txt; GIT_CONFIG_GLOBAL= git -c core.autocrlf=true checkout -q -- long.txt",
        project.path,
    )
    assert b"\r\n" in (project.path / "long.txt").read_bytes()
    apply_patch(project.path, patch)
    content = (project.path / "long.txt").read_bytes()
    assert content.split(b"\r\n")[3] == b"agent"
    assert content.count(b"\n") == content.count(b"\r\n") == 30


def test_a_patch_for_a_file_that_is_there_outside_is_refused_by_its_path(
    project: Repository,
) -> None:
    (project.path.parent / "out.txt").write_text("l\n")
    patch = made_by(project, script("echo l > in.txt"))
    outside = (
        bytes(patch).replace(b"a/in.txt", b"a/../out.txt").replace(b"b/in.txt", b"b/../out.txt")
    )
    assert "invalid path '../out.txt'" in str(refused(project, outside))


@pytest.mark.parametrize("name", ["../out.txt", ".git/config", "/tmp/out.txt", "link/out.txt"])
def test_a_patch_never_writes_outside_or_into_git(
    project: Repository, name: str, tmp_path: Path
) -> None:
    (project.path / "link").symlink_to(tmp_path)
    patch = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n"
    refused(project, patch.encode())
    assert not (tmp_path / "out.txt").exists()


def test_garbage_and_foreign_folders_are_refused_and_nothing_is_nothing(
    project: Repository, tmp_path: Path
) -> None:
    assert "does not fit" in str(refused(project, b"garbage\n"))
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(ApplyError, match="it is not a git repository"):
        apply_patch(plain, b"x")
    apply_patch(project.path, b"")
