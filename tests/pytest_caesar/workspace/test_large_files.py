"""Files that are too large for a patch, and many that are too large together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_caesar.workspace import large_files
from pytest_caesar.workspace.applying import apply_patch
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import actions, codes, observed, script, sh


@pytest.fixture
def project(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A project with one large file, where a thousand bytes are many."""
    repo.commit({"big.bin": b"\0" * 2000, "small": "s\n"})
    monkeypatch.setattr(large_files, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr(large_files, "MAX_PATCH_BYTES", 1500)
    return repo


@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("head -c 5000 /dev/zero > new", {"new": "created"}),
        ("truncate -s 5000 new; printf x >> new", {"new": "created"}),
        ("printf x >> big.bin", {"big.bin": "modified"}),
        ("rm big.bin", {"big.bin": "deleted"}),
        ("ln -sf small big.bin", {"big.bin": "modified"}),
        ("chmod +x big.bin", {"big.bin": "modified"}),
        ("cp big.bin x; mv x big.bin; touch big.bin", {}),
    ],
)
def test_a_large_file_is_compared_by_content_and_told_by_size_and_id(
    project: Repository, isolation: str, command: str, told: dict[str, str]
) -> None:
    seen = observed(project, script(f"{command}; echo 2 > small"), isolation=isolation)
    assert actions(seen) == {**told, "small": "modified"}
    assert seen.unpatched == tuple(told)
    assert ("patch-incomplete" in codes(seen)) is bool(told)
    patch = bytes(seen.patch)
    for path, action in told.items():
        full = project.path / path if isolation == "inplace" else None
        assert patch.startswith(f"# not in this patch: {path}, {action}, ".encode())
        if full is not None and full.is_file() and not full.is_symlink():
            assert (
                f", blob {sh(f'git hash-object {path}', project.path).strip()}\n".encode() in patch
            )
    if isolation == "worktree":
        assert apply_patch(project.path, patch)
        assert project.read("small") == "2\n"
        assert project.status() == " M small\n"


def test_a_patch_of_large_files_alone_applies_as_nothing(project: Repository) -> None:
    seen = observed(project, script("head -c 5000 /dev/zero > new"))
    assert seen.patch
    assert apply_patch(project.path, seen.patch) is False


def test_many_files_are_named_where_they_are_too_large_together(project: Repository) -> None:
    seen = observed(project, script("for i in 1 2 3; do head -c 600 /dev/zero > n$i; done"))
    assert actions(seen) == {"n1": "created", "n2": "created", "n3": "created"}
    assert seen.unpatched == ("n3",)


def test_what_is_larger_than_is_read_is_told_by_name(
    project: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_files, "MAX_HASHED_BYTES", 4000)
    seen = observed(project, script("for i in 1 2; do head -c 3000 /dev/zero > n$i; done"))
    assert [change.note.partition("; ")[0] for change in seen.changes] == [
        f"3000 bytes, blob {sh('head -c 3000 /dev/zero | git hash-object --stdin', project.path).strip()}",
        "3000 bytes, content not compared",
    ]


def test_the_users_own_large_files_are_not_the_agents(project: Repository) -> None:
    project.write("data.bin", b"\0" * 3000)
    project.write("big.bin", b"\1" * 3000)
    assert observed(project, script("true"), isolation="inplace").changes == ()
    more = script("printf x >> data.bin; printf x >> big.bin")
    seen = observed(project, more, isolation="inplace", task_id="t_2")
    assert set(actions(seen)) == {"data.bin", "big.bin"}


MEASURE = """
import resource, sys
from pathlib import Path
from tests.pytest_caesar.workspace.support import observed
def agent(folder):
    for number in range(3):
        with (folder / f"big{number}").open("wb") as file:
            file.truncate(200 << 20)
            file.seek(0, 2)
            file.write(b"%d" % number)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
seen = observed(Path(sys.argv[1]), agent)
assert len(seen.changes) == 3
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_memory_does_not_grow_with_what_an_agent_leaves(repo: Repository) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(repo.path)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    unit = 1 if sys.platform == "darwin" else 1024
    more, child = (int(line) * unit for line in done.stdout.split())
    assert max(more, child) < 64 << 20
