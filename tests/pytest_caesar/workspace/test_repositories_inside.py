"""Repositories that lay inside the workspace before the agent, at every depth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import Agent, actions, observed, script, sh

EDITS = {
    "echo 2 > vendor/x": "x modified",
    "rm vendor/x": "x deleted",
    "chmod +x vendor/x": "x modified",
    "echo 1 > vendor/sub/new": "sub/new created",
    "echo 2 > vendor/loose": "loose modified",
    "echo 2 > vendor/forced.o": "forced.o modified",
    "echo 2 > vendor/inner/y": "inner/y modified",
    "echo 2 > vendor/inner/deep/z": "inner/deep/z modified",
    "rm -rf vendor/inner": "inner/ deleted",
    "git init -q vendor/more; echo 1 > vendor/more/f": "more/ created",
    "cd vendor; git commit -qm e --allow-empty": "HEAD moved",
    "echo x > vendor/.git/hooks/post-checkout": ".git/config or hooks changed",
    "git -C vendor config core.fsmonitor x": ".git/config or hooks changed",
    "echo '*' > vendor/sub/.gitignore; echo 1 > vendor/sub/evil.py": "sub/.gitignore created, "
    "sub/evil.py created",
    "git -C vendor update-index --assume-unchanged x; echo 2 > vendor/x": "x modified",
    "echo 2 > vendor/x; git -C vendor add x": "x modified",
    # A repository that lies about its own objects.
    "cd vendor; echo 2 > x; git add x; git write-tree; rm -rf .git/objects; git init -q": "x modified",
    # What leaves everything as it was.
    "touch vendor/x; git -C vendor status > /dev/null; echo 1 > vendor/new.o": "",
    "cp vendor/x vendor/y; mv vendor/y vendor/x": "",
}


@pytest.fixture
def project(repo: Repository) -> Repository:
    """A project with a repository in it, with another in it, with another in it."""
    sh(
        """
        git init -q vendor; cd vendor; mkdir -p .git/hooks sub; echo '*.o' > .gitignore
        echo 1 > x; echo 1 > sub/s; echo 1 > forced.o
        git add -A; git add -f forced.o; git commit -qm v; echo 1 > loose; echo 1 > ignored.o
        git init -q inner; cd inner; echo 1 > y; git add y; git commit -qm i
        git init -q deep; cd deep; echo 1 > z; git add z; git commit -qm d
        """,
        repo.path,
    )
    return repo


@pytest.mark.parametrize("command", EDITS)
def test_what_an_agent_does_in_a_repository_inside_is_told(
    project: Repository, command: str
) -> None:
    seen = observed(project, script(command), isolation="inplace")
    if not EDITS[command]:
        assert seen.changes == ()
        return
    (change,) = seen.changes
    assert (change.path, change.action, change.kind) == ("vendor/", "modified", "nested-repository")
    said = re.search(r"\((.*)\)", change.note)
    assert said
    assert EDITS[command] in said[1]
    assert seen.unpatched == ("vendor/",)


@pytest.fixture
def with_submodules(repo: Repository, tmp_path: Path) -> Repository:
    """A project with a submodule that has a submodule, both checked out."""
    far = Repository.create(tmp_path / "far")
    far.commit({"f.c": "f\n"})
    near = Repository.create(tmp_path / "near")
    near.commit({"n.c": "n\n"})
    add = "git -c protocol.file.allow=always submodule --quiet"
    sh(f"{add} add '{far.path}' far; git commit -qm far", near.path)
    sh(
        f"{add} add '{near.path}' near; git commit -qm near; {add} update --init --recursive",
        repo.path,
    )
    return repo


FETCH = "git -c protocol.file.allow=always submodule --quiet update --init --recursive"


def forged(folder: Path) -> None:
    """Check the submodule out, and put another tree in the place of its own."""
    sh(
        f"""{FETCH}; cd near; echo evil > n.c; git add n.c; new=$(git write-tree)
        git_dir=$(git rev-parse --absolute-git-dir); old=$(git rev-parse HEAD^{{tree}})
        place() {{ echo "$git_dir/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-)"; }}
        cp -f "$(place $new)" "$(place $old)"
        """,
        folder,
    )


@pytest.mark.parametrize(
    ("isolation", "agent", "told"),
    [
        ("inplace", script("true"), None),
        ("inplace", script("echo 2 > near/n.c"), "n.c modified"),
        ("inplace", script("echo 2 > near/far/f.c"), "far/f.c modified"),
        ("inplace", script("rm -rf near/far; mkdir near/far"), "far/ deleted"),
        ("worktree", script(FETCH), None),
        ("worktree", script(f"{FETCH}; echo 2 > near/far/f.c"), "far/ f.c modified"),
        ("worktree", script(f"{FETCH}; echo 2 > near/far/new"), "far/ new created"),
        ("worktree", forged, "cannot be verified"),
    ],
)
def test_submodules_in_submodules_are_compared(
    with_submodules: Repository, isolation: str, agent: Agent, told: str | None
) -> None:
    seen = observed(with_submodules, agent, isolation=isolation)
    assert actions(seen) == ({} if told is None else {"near": "modified"})
    if told is not None:
        assert told in seen.changes[0].note
