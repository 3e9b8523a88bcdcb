"""What an agent does to refs and HEAD, which are plain files that anybody may write."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.repository_state import read_head, read_refs
from tests.pytest_caesar.workspace.support import actions, codes, observed, script, sh


@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
@pytest.mark.parametrize(
    "command",
    [
        r"printf 'a\000b' > $(git rev-parse --git-dir)/HEAD",
        r"printf '\033[31mred\007' > $(git rev-parse --git-dir)/HEAD",
        r"ref=$(git symbolic-ref HEAD); printf 'a\000b' > $(git rev-parse --git-common-dir)/$ref",
        "git update-ref -d HEAD",
    ],
    ids=["nul-in-head", "escapes-in-head", "nul-in-branch", "no-branch"],
)
def test_a_head_that_leads_nowhere_is_told_and_the_files_are_verified(
    repo: Repository, isolation: str, command: str
) -> None:
    observation = observed(repo, script(f"echo two > a.txt; {command}"), isolation=isolation)
    assert actions(observation) == {"a.txt": "modified"}
    assert observation.head is None
    assert "history-rewritten" in codes(observation)
    assert all(diagnostic.message.isprintable() for diagnostic in observation.diagnostics)


def test_a_repository_that_was_made_anew_in_place_is_told(repo: Repository) -> None:
    observation = observed(
        repo,
        script("rm -rf .git; git init -q -b main; git add -A; git commit -qm anew"),
        isolation="inplace",
    )
    (told,) = (d for d in observation.diagnostics if d.code == "history-rewritten")
    assert told.message.startswith(
        f"HEAD is at {sh('git rev-parse HEAD', repo.path)[:12]}, and git"
    )


def test_a_branch_of_the_users_that_moved_is_told_also_when_head_stands_on_it(
    repo: Repository,
) -> None:
    observation = observed(
        repo,
        script("git checkout -q --ignore-other-worktrees main; git commit -q --allow-empty -m x"),
    )
    (told,) = (d for d in observation.diagnostics if d.code == "refs-changed")
    assert "refs/heads/main" in told.message


def test_a_history_that_is_cut_off_is_told(repo: Repository) -> None:
    sh("git commit -q --allow-empty -m second", repo.path)
    observation = observed(
        repo,
        script("echo two > a.txt; git rev-parse HEAD > $(git rev-parse --git-common-dir)/shallow"),
    )
    assert actions(observation) == {"a.txt": "modified"}
    (told,) = (d for d in observation.diagnostics if d.code == "repository-tampered")
    assert "shallow" in told.message


def test_a_commit_graph_that_names_other_parents_decides_nothing(repo: Repository) -> None:
    """An unrelated root gets base_ref as its parent, in git's cache of the history alone."""

    def agent(folder: Path) -> None:
        base, root, store = sh(
            "git rev-parse HEAD; git update-ref HEAD $(git commit-tree HEAD: -m root);"
            "git rev-parse HEAD; git rev-parse --git-common-dir;"
            "git update-ref HEAD $(git commit-tree HEAD: -p HEAD -m child);"
            "git -c commitGraph.generationVersion=1 commit-graph write --reachable 1>&2",
            folder,
        ).split()
        child = sh("git rev-parse HEAD", folder).strip()
        graph = folder / store / "objects" / "info" / "commit-graph"
        content = bytearray(graph.read_bytes())
        chunks = {
            bytes(content[at : at + 4]): int.from_bytes(content[at + 4 : at + 12], "big")
            for at in range(8, 8 + 12 * content[6], 12)
        }
        names = content[chunks[b"OIDL"] : chunks[b"CDAT"]].hex()
        ids = [names[at : at + 40] for at in range(0, len(names), 40)]
        for commit, parent, generation in ((root, base, 9), (child, root, 10)):
            at = chunks[b"CDAT"] + 36 * ids.index(commit)
            struct.pack_into(">I", content, at + 20, ids.index(parent))
            date = int.from_bytes(content[at + 28 : at + 32], "big") & 3
            struct.pack_into(">I", content, at + 28, generation << 2 | date)
        graph.chmod(0o644)
        graph.write_bytes(content)
        sh(f"git merge-base --is-ancestor {base} HEAD", folder)  # git itself is deceived

    assert "history-rewritten" in codes(observed(repo, agent))


def test_a_forged_commit_does_not_say_what_came_before(repo: Repository) -> None:
    """The object of an unrelated root is filled with a commit that has base_ref as its parent."""

    def agent(folder: Path) -> None:
        base, root, store = sh(
            "git rev-parse HEAD; git update-ref HEAD $(git commit-tree HEAD: -m root);"
            "git rev-parse HEAD; git rev-parse --git-common-dir;"
            "git update-ref HEAD $(git commit-tree HEAD: -p HEAD -m child)",
            folder,
        ).split()
        stored = folder / store / "objects" / root[:2] / root[2:]
        _, _, text = zlib.decompress(stored.read_bytes()).partition(b"\0")
        forged = text.replace(b"\nauthor", b"\nparent %s\nauthor" % base.encode(), 1)
        stored.chmod(0o644)
        stored.write_bytes(zlib.compress(b"commit %d\0%s" % (len(forged), forged)))
        sh(f"git merge-base --is-ancestor {base} HEAD", folder)  # git itself is deceived

    assert "history-rewritten" in codes(observed(repo, agent))


def test_only_what_git_would_take_is_read_from_refs(repo: Repository) -> None:
    git_dir = repo.path / ".git"
    commit = sh("git rev-parse HEAD", repo.path).strip()
    sh("git symbolic-ref refs/heads/alias refs/heads/main", repo.path)
    (git_dir / "refs" / "heads" / "loop").write_text("ref: refs/heads/loop\n")
    (git_dir / "refs" / "heads" / "long").write_text(commit + "0" * 3)
    refs = read_refs(git_dir)
    assert refs == {
        "refs/heads/main": commit,
        "refs/heads/alias": "ref: refs/heads/main",
        "refs/heads/loop": "ref: refs/heads/loop",
        "refs/heads/long": "",
    }

    def head(text: str) -> tuple[str | None, str | None]:
        (git_dir / "HEAD").write_text(text)
        return read_head(git_dir, refs)

    assert head("ref: refs/heads/alias\n") == (commit, "refs/heads/alias")
    assert head("ref:\trefs/heads/main\n") == (commit, "refs/heads/main")
    assert head("ref: refs/heads/loop\n") == (None, "refs/heads/loop")
    assert head(f"{commit}\n") == (commit, None)
    assert head(f"{commit}\n{commit}\n") == (None, None)
    assert head("ref: ../../etc/passwd\n") == (None, None)


def test_of_too_many_refs_the_stash_and_the_packed_ones_are_told(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = sh("git rev-parse HEAD", repo.path).strip()
    sh("git update-ref refs/remotes/origin/main HEAD; git pack-refs --all", repo.path)
    sh("echo two > a.txt; git stash; git tag one; git tag two", repo.path)
    stash = sh("git rev-parse stash", repo.path).strip()
    monkeypatch.setattr("pytest_caesar.workspace.repository_state.MAX_REFS", 1)

    assert read_refs(repo.path / ".git") == {"refs/heads/main": commit, "refs/stash": stash}


def test_a_folder_without_head_stands_nowhere(tmp_path: Path) -> None:
    assert read_head(tmp_path, {}) == (None, None)
