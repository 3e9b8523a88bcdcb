"""Changes that neither times, bits nor places of git's own keep from being seen."""

from __future__ import annotations

import mmap
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_caesar.workspace import file_systems
from pytest_caesar.workspace.isolation import prepare, release
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import actions, ask, codes, observed, script, sh, work

MEMORY = Path("/dev/shm")


def write_through_mapping(file: Path) -> None:
    """Write a file so that tmpfs changes neither of its times: the mapping is read before."""
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapping:
        mapping[:3] = mapping[:3].upper()


@pytest.fixture
def in_memory() -> Iterator[Repository]:
    """A repository on tmpfs, with a file that seems to be older than any index."""
    if not os.access(MEMORY, os.W_OK):
        pytest.skip("needs /dev/shm, which only Linux has")
    room = Path(tempfile.mkdtemp(dir=MEMORY))
    repository = Repository.create(room / "repo")
    repository.write("old.txt", "old\n")
    os.utime(repository.path / "old.txt", (0, 0))
    repository.commit({"a.txt": "one\n", "b.txt": "bee\n"})
    repository.git("add", "-A")
    repository.git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "old")
    try:
        yield repository
    finally:
        shutil.rmtree(room)


@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
def test_writes_through_a_mapping_are_seen_on_tmpfs(in_memory: Repository, isolation: str) -> None:
    def agent(folder: Path) -> None:
        for name in ("a.txt", "old.txt"):
            write_through_mapping(folder / name)

    seen = observed(in_memory, agent, isolation=isolation)
    assert actions(seen) == {"a.txt": "modified", "old.txt": "modified"}


@pytest.mark.parametrize(
    ("mounts", "kinds"),
    [
        ("1 0 8:1 / / rw - ext4 x rw", {"ext4"}),
        ("1 0 8:1 / / rw - ext4 x rw\n2 1 0:5 / /w rw - tmpfs x rw", {"tmpfs"}),
        ("1 0 8:1 / / rw - ext4 x rw\n2 1 0:5 / /w/x/deep rw - tmpfs x rw", {"ext4", "tmpfs"}),
        ("1 0 8:1 / / rw - ext4 x rw\n2 1 0:5 / /w/xyz rw - tmpfs x rw", {"ext4"}),
        ("1 0 8:1 / /w rw - ext4 x rw\n2 1 0:5 / /w rw shared:1 - fuse.x x rw", {"fuse.x"}),
        ("1 0 8:1 / / rw - ext4 x rw\n2 1 0:5 / /w/x/a\\040b rw - nfs x rw", {"ext4", "nfs"}),
        ("", set()),
    ],
)  # fmt: skip
def test_the_file_systems_of_a_tree_are_told(mounts: str, kinds: set[str]) -> None:
    assert file_systems._kinds(mounts.encode(), b"/w/x") == kinds


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every file is hashed")
def test_an_unknown_file_system_is_tried_or_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, told in (("nfs4", False), ("xfs", True)):
        monkeypatch.setattr(file_systems, "_kinds", lambda *_, kind=kind: {kind})
        assert file_systems.times_tell(tmp_path, tmp_path) is told
    monkeypatch.setattr(file_systems, "_kinds", lambda *_: {"overlay"})
    assert file_systems.times_tell(MEMORY, MEMORY) is False
    assert file_systems.times_tell(tmp_path, MEMORY) is False
    assert not list(tmp_path.glob(".times-*"))


@pytest.mark.parametrize("bit", ["--skip-worktree", "--assume-unchanged"])
@pytest.mark.parametrize("version", ["2", "4"])
@pytest.mark.parametrize(
    ("command", "action"), [("rm cfg", "deleted"), ("echo 2 > cfg", "modified"), ("true", None)]
)
def test_a_file_that_the_user_hides_from_git_is_seen_in_place(
    repo: Repository, bit: str, version: str, command: str, action: str | None
) -> None:
    repo.commit({"cfg": "c\n"})
    sh(f"git update-index --index-version {version}; git update-index {bit} cfg", repo.path)
    seen = observed(repo, script(command), isolation="inplace")
    assert actions(seen) == ({"cfg": action} if action else {})


@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
@pytest.mark.parametrize(
    "how", ["--cone src", "--no-cone '/*' '!/docs'", "--cone --sparse-index src"]
)
def test_files_that_an_agent_leaves_out_of_its_checkout_are_not_changes(
    repo: Repository, isolation: str, how: str
) -> None:
    repo.commit({"docs/d.md": "d\n", "docs/e.md": "e\n"})
    hide = script(f"git sparse-checkout set {how}; test ! -e docs/d.md; echo n > src/n")
    seen = observed(repo, hide, isolation=isolation)
    assert actions(seen) == {"src/n": "created"}
    assert "repository-tampered" in codes(seen)


@pytest.mark.parametrize(
    "command",
    [
        "git update-index --skip-worktree a.txt; rm a.txt",
        "git sparse-checkout set --cone src; git update-index --skip-worktree a.txt; rm a.txt",
        "git sparse-checkout set --no-cone src; git sparse-checkout disable; rm a.txt",
    ],
)
def test_a_deleted_file_is_not_taken_for_a_hidden_one(repo: Repository, command: str) -> None:
    assert actions(observed(repo, script(command)))["a.txt"] == "deleted"


def test_files_that_were_left_out_before_are_no_changes_and_one_that_comes_back_is(
    repo: Repository,
) -> None:
    repo.commit({"docs/d.md": "d\n"})
    sh("git sparse-checkout set --no-cone '/*' '!/docs'", repo.path)
    for number, isolation in enumerate(("worktree", "inplace")):
        seen = observed(
            repo,
            script("mkdir docs; echo other > docs/d.md"),
            isolation=isolation,
            task_id=f"t_{number}",
        )
        assert actions(seen) == {"docs/d.md": "modified"}


def test_cleaning_the_project_in_place_does_not_take_the_baseline_along(repo: Repository) -> None:
    repo.commit({".gitignore": "*.o\n"})
    repo.write("a.txt", "of the user\n")
    repo.write("note.txt", "of the user\n")
    repo.write("m.o", "built\n")
    clean = script("git checkout -q -- .; git clean -fdxq; echo new > new.txt")
    workspace, seen = work(repo, clean, isolation="inplace")
    assert seen.verified
    assert actions(seen) == {"a.txt": "modified", "note.txt": "deleted", "new.txt": "created"}
    (ignored,) = [found for found in seen.diagnostics if found.code == "ignored-file-changed"]
    assert "touched: m.o." in ignored.message
    assert workspace.kept is not None
    release(workspace)
    assert not workspace.kept.path.exists()


def test_what_may_still_be_written_is_not_verified(repo: Repository) -> None:
    workspace = prepare(ask(repo))
    sh("echo two > a.txt", workspace.path)
    seen = observe(workspace, doubt="Somebody may still write.")
    assert seen.verified is False
    assert [found.message for found in seen.diagnostics] == ["Somebody may still write."]


@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("mkdir -p pkg/.git; echo evil > pkg/.git/payload.py", {"pkg/.git/": "created"}),
        ("mkdir -p src/.git/a/b; echo evil > src/.git/a/b/payload.py", {"src/.git/": "created"}),
        ("echo evil > src/.git", {"src/.git": "created"}),
        ("ln -s /etc src/.git", {"src/.git": "created"}),
        ("git init -q src; rm -rf src/.git/refs", {"src/.git/": "created"}),
        ("git init -q src; echo 'ref: x' > src/.git/HEAD", {"src/.git/": "created"}),
        ("echo 'gitdir: /nonexistent' > src/.git", {"src/.git": "created"}),
        ("git init -q src; echo 1 > src/f", {"src/f": "created"}),
        ("git init -q new; echo 1 > new/f", {"new/": "created"}),
        ("mkdir -p new/.git/empty", {}),
        ("mkdir -p built.o/.git; echo 1 > built.o/.git/f", {}),
    ],
)
def test_what_is_called_git_and_is_no_repository_is_told(
    repo: Repository, isolation: str, command: str, told: dict[str, str]
) -> None:
    repo.commit({".gitignore": "*.o\n"})
    seen = observed(repo, script(command), isolation=isolation)
    assert actions(seen) == told
    assert seen.unpatched == tuple(path for path in told if ".git" in path or path.endswith("/"))


def test_what_was_called_git_before_is_the_users(repo: Repository) -> None:
    sh("mkdir -p data/.git; echo 1 > data/.git/f; mkdir gone; echo 1 > gone/.git", repo.path)
    assert observed(repo, script("true"), isolation="inplace").changes == ()
    seen = observed(
        repo, script("echo 2 > data/.git/f; rm gone/.git"), isolation="inplace", task_id="t_2"
    )
    assert actions(seen) == {"data/.git/": "modified", "gone/.git": "deleted"}
