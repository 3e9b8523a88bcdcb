"""What an ordinary agent does, against configuration of every kind."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pytest_caesar.workspace.isolation import prepare
from pytest_caesar.workspace.observation import observe
from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.values import ObservedChange
from tests.pytest_caesar.workspace.support import (
    actions,
    apply_to_clean_checkout,
    ask,
    codes,
    observed,
    script,
    sh,
    work,
)


def test_an_agent_that_does_nothing_changed_nothing(repo: Repository) -> None:
    workspace, observation = work(repo, script("cat a.txt"))
    assert (observation.verified, observation.changes, observation.patch) == (True, (), b"")
    assert (observation.head, observation.descends) == (workspace.base_ref, True)
    assert observation.diagnostics == ()


def test_created_modified_deleted_and_renamed_files_are_told_in_path_order(
    repo: Repository,
) -> None:
    repo.commit({"long.txt": "".join(f"line {n}\n" for n in range(30))})
    observation = observed(
        repo, script("echo two > a.txt; rm run.sh; mkdir new; echo n > new/x; mv long.txt z.txt")
    )
    assert observation.changes == (
        ObservedChange(path="a.txt", action="modified"),
        ObservedChange(path="new/x", action="created"),
        ObservedChange(path="run.sh", action="deleted"),
        ObservedChange(path="z.txt", action="renamed", old_path="long.txt"),
    )


def test_committed_staged_and_plain_edits_are_all_told_against_the_start(repo: Repository) -> None:
    observation = observed(
        repo,
        script(
            "echo two > a.txt; git commit -qam 1; echo b > b.txt; git add b.txt; git commit -qm 2;"
            "echo c > c.txt; git add c.txt; echo y >> src/m.py"
        ),
    )
    assert actions(observation) == {
        "a.txt": "modified",
        "b.txt": "created",
        "c.txt": "created",
        "src/m.py": "modified",
    }
    assert observation.descends is True


@pytest.mark.parametrize(
    "command",
    [
        (
            "git reset -q --hard HEAD~1; git checkout -q --orphan fresh; echo e > a.txt; echo o > old.txt;"
            "git add -A; git commit -qm rewritten"
        ),
        "echo e > a.txt; rm later.txt; git commit -qa --amend -m amended",
    ],
)
def test_rewritten_history_is_told_against_the_start_and_flagged(
    repo: Repository, command: str
) -> None:
    repo.commit({"old.txt": "o\n", "later.txt": "l\n"})
    observation = observed(repo, script(command))
    assert actions(observation) == {"a.txt": "modified", "later.txt": "deleted"}
    assert observation.descends is False
    assert "history-rewritten" in codes(observation)


def test_a_branch_switched_or_a_stash_made_is_told(repo: Repository) -> None:
    observation = observed(
        repo,
        script(
            "echo two > a.txt; git stash -q; git checkout -q -b side; echo b > b.txt; git add -A;"
            "git commit -qm b; git checkout -q -; git tag mark"
        ),
    )
    assert observation.changes == ()
    assert codes(observation) == {"work-stashed", "refs-changed"}
    switched = observed(repo, script("git checkout -q -b other"), task_id="t_0002")
    assert codes(switched) == {"branch-switched", "refs-changed"} - {"refs-changed"}


def test_names_of_every_kind_are_told_as_they_are(repo: Repository) -> None:
    names = ["café.md", "日本語/ファイル.txt", "tab\tname", "line\nbreak", 'quo"te', "back\\slash",
             "a -> b", " leading", "trailing ", "-dash", ":(glob)*", "*", "#hash", "!bang", "\udcff"]  # fmt: skip

    def agent(folder: Path) -> None:
        for name in names:
            target = folder / name
            target.parent.mkdir(exist_ok=True)
            target.write_text("x\n")

    observation = observed(repo, agent)
    assert actions(observation) == dict.fromkeys(names, "created")


def test_unicode_names_are_kept_byte_for_byte(repo: Repository) -> None:
    names = ["é.txt", "u\u0308.txt", "\u00fc.txt"]

    def agent(folder: Path) -> None:
        for number, name in enumerate(names):
            (folder / name).write_text(f"{number}\n")

    assert set(actions(observed(repo, agent))) == set(names)


def test_the_patch_carries_binary_files_and_odd_ends_byte_for_byte(
    repo: Repository, tmp_path: Path
) -> None:
    repo.commit({"data.txt": "".join(f"l{n}\n" for n in range(9)) + "\n\n", "latin": b"caf\xe9\n"})

    def agent(folder: Path) -> None:
        (folder / "logo.png").write_bytes(bytes(range(256)))
        (folder / "data.txt").write_text("first\n" + "".join(f"l{n}\n" for n in range(8)) + "\n\n")
        (folder / "latin").write_bytes(b"caf\xe9 \xff\n")
        (folder / "no-newline").write_bytes(b"x")
        (folder / "run.sh").chmod(0o755)
        (folder / "link").symlink_to("a.txt")
        (folder / "a.txt").unlink()
        (folder / "a.txt").symlink_to("src/m.py")
        (folder / "café\n").write_bytes(b"\0")

    workspace, observation = work(repo, agent)
    assert workspace.base_ref is not None
    sh("git add -A", workspace.path)
    expected = sh("git write-tree", workspace.path).strip()
    assert (
        apply_to_clean_checkout(repo, workspace.base_ref, observation.patch, tmp_path) == expected
    )


def test_a_patch_of_many_megabytes_is_whole(repo: Repository, tmp_path: Path) -> None:
    workspace, observation = work(
        repo, lambda folder: (folder / "big.txt").write_text("some line of text\n" * 300_000)
    )
    assert workspace.base_ref is not None
    assert len(observation.patch) > 5_000_000
    apply_to_clean_checkout(repo, workspace.base_ref, observation.patch, tmp_path)
    assert (tmp_path / "clean" / "big.txt").stat().st_size == 5_400_000


def test_links_are_never_followed(repo: Repository) -> None:
    observation = observed(
        repo,
        script(
            "ln -s .. dirlink; ln -s /nonexistent dangling; ln -s loop loop; ln -sf src/m.py a.txt"
        ),
    )
    assert {(c.path, c.action, c.kind, c.note) for c in observation.changes} == {
        ("a.txt", "modified", "symlink", "file -> symbolic link"),
        ("dangling", "created", "symlink", ""),
        ("dirlink", "created", "symlink", ""),
        ("loop", "created", "symlink", ""),
    }


def test_a_mode_is_a_change_and_a_time_is_none(repo: Repository) -> None:
    observation = observed(
        repo, script("touch a.txt; cp src/m.py x; mv x src/m.py; chmod +x run.sh")
    )
    assert [(c.path, c.action, c.note) for c in observation.changes] == [
        ("run.sh", "modified", "mode 100644 -> 100755")
    ]


def test_files_that_swap_folders_and_files_that_become_folders_are_told(repo: Repository) -> None:
    observation = observed(
        repo,
        script("rm a.txt; mkdir a.txt; echo z > a.txt/z; rm -r src; echo s > src"),
    )
    assert actions(observation) == {
        "a.txt": "deleted",
        "a.txt/z": "created",
        "src": "created",
        "src/m.py": "deleted",
    }


def test_a_folder_that_becomes_a_link_takes_its_files_along(repo: Repository) -> None:
    repo.commit({"other/m.py": "x = 1\n"})
    observation = observed(repo, script("rm -r src; ln -s other src"))
    assert actions(observation) == {"src": "created", "src/m.py": "deleted"}


SHAPES = """
[diff]
    noprefix = true
    mnemonicPrefix = true
    renames = copies
    external = echo nonsense
    orderFile = /nonexistent
    algorithm = patience
    ignoreSubmodules = all
    context = 0
    wsErrorHighlight = all
[status]
    renames = copies
    showUntrackedFiles = no
    short = true
[color]
    ui = always
[core]
    quotePath = false
    pager = false
    fsmonitor = {monitor}
    untrackedCache = true
    hooksPath = {hooks}
    attributesFile = {attributes}
    ignoreStat = true
    trustctime = false
    checkStat = minimal
[commit]
    gpgSign = true
[gpg]
    program = {monitor}
[init]
    templateDir = {hooks}
[filter "up"]
    clean = {monitor}
    smudge = {monitor}
    required = true
[diff "upper"]
    textconv = {monitor}
"""


def test_no_configuration_of_the_user_changes_the_answer_or_runs(
    repo: Repository, tmp_path: Path, user_config: Path
) -> None:
    ran = tmp_path / "ran"
    monitor = tmp_path / "monitor"
    monitor.write_text(f"#!/bin/sh\ntouch '{ran}'\ncat\nexit 1\n")
    monitor.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change"):
        (hooks / name).symlink_to(monitor)
    attributes = tmp_path / "attributes"
    attributes.write_text("*.txt filter=up diff=upper\n")

    def agent(folder: Path) -> None:
        sh("cp a.txt a2.txt; echo two > a.txt; echo z > z.txt", folder)

    plain = observed(repo, agent, task_id="t_1")
    user_config.write_text(SHAPES.format(monitor=monitor, hooks=hooks, attributes=attributes))
    shaped = observed(repo, agent, task_id="t_2")
    assert actions(shaped) == {"a.txt": "modified", "a2.txt": "created", "z.txt": "created"}
    assert shaped.patch == plain.patch
    assert not ran.exists()


def test_line_ends_of_the_users_checkout_are_no_change(
    repo: Repository, user_config: Path, tmp_path: Path
) -> None:
    repo.commit(
        {".gitattributes": "*.bin -text\n", "crlf.txt": "1\n2\n", "mixed.bin": b"x\r\ny\r\n"}
    )
    user_config.write_text("[core]\n\tautocrlf = true\n")

    def agent(folder: Path) -> None:
        assert (folder / "crlf.txt").read_bytes() == b"1\r\n2\r\n"
        (folder / "crlf.txt").write_bytes(b"1\r\n2\r\n")
        (folder / "mixed.bin").write_bytes(b"x\r\ny\r\n")
        (folder / "a.txt").write_bytes(b"one\r\nmore\r\n")

    workspace, observation = work(repo, agent)
    assert actions(observation) == {"a.txt": "modified"}
    user_config.write_text("")
    assert workspace.base_ref is not None
    apply_to_clean_checkout(repo, workspace.base_ref, observation.patch, tmp_path)
    assert (tmp_path / "clean" / "a.txt").read_bytes() == b"one\nmore\n"


def test_files_that_were_never_normalised_are_not_the_agents_change(repo: Repository) -> None:
    repo.commit({"dos.txt": b"1\r\n2\r\n"})
    repo.commit({".gitattributes": "*.txt text eol=lf\n"})
    assert observed(repo, script("touch dos.txt")).changes == ()
    again = observed(repo, script("echo new >> dos.txt"), task_id="t_2")
    assert actions(again) == {"dos.txt": "modified"}


def test_a_merge_of_what_the_user_did_meanwhile_counts_as_different_from_the_start(
    repo: Repository,
) -> None:
    def agent(folder: Path) -> None:
        repo.commit({"b.txt": "of the user\n"})
        sh("git merge -q main; echo two > a.txt", folder)

    workspace = prepare(ask(repo))
    repo.commit({"c.txt": "meanwhile\n"})
    (workspace.path / "a.txt").write_text("two\n")
    assert actions(observe(workspace)) == {"a.txt": "modified"}
    merged = observed(repo, agent, task_id="t_2")
    assert actions(merged) == {"a.txt": "modified", "b.txt": "created"}


def test_the_base_stays_reachable_when_the_user_throws_it_away(repo: Repository) -> None:
    repo.commit({"b.txt": "b\n"})
    workspace = prepare(ask(repo))
    assert repo.git("rev-parse", "refs/caesar/t_0001").strip() == workspace.base_ref
    sh("git reset -q --hard HEAD~1; git reflog expire --expire=now --all; git gc -q --prune=now",
       repo.path)  # fmt: skip
    sh("git checkout -q --orphan x; echo two > a.txt", workspace.path)
    assert actions(observe(workspace)) == {"a.txt": "modified"}


def test_index_and_lock_of_the_agent_are_left_as_they_are(repo: Repository) -> None:
    workspace = prepare(ask(repo))
    sh("echo two >> a.txt; echo b > b.txt; git add b.txt", workspace.path)
    git_dir = Path(sh("git rev-parse --absolute-git-dir", workspace.path).strip())
    (git_dir / "index.lock").write_text("x")
    before = hashlib.sha256((git_dir / "index").read_bytes()).hexdigest()
    observation = observe(workspace)
    assert actions(observation) == {"a.txt": "modified", "b.txt": "created"}
    assert codes(observation) == {"index-locked"}
    assert hashlib.sha256((git_dir / "index").read_bytes()).hexdigest() == before
    assert (git_dir / "index.lock").read_text() == "x"


def test_nothing_is_written_into_the_users_repository_beyond_branch_and_ref(
    repo: Repository,
) -> None:
    def state() -> dict[str, bytes]:
        git_dir = repo.path / ".git"
        return {
            str(file.relative_to(git_dir)): file.read_bytes()
            for file in git_dir.rglob("*")
            if file.is_file() and "worktrees" not in file.parts
        }

    before = state()
    observed(repo, script("echo two > a.txt; echo b > b.txt"))
    after = state()
    added = after.keys() - before.keys()
    assert {name: after[name] for name in before} == before
    assert {name for name in added if not name.startswith("logs/")} == {
        "refs/heads/caesar/fix-the-parser-0001",
        "refs/caesar/t_0001",
    }
    assert repo.status() == ""


def test_variables_of_a_hook_do_not_redirect_anything(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = Repository.create(tmp_path / "victim")
    victim.commit({"v.txt": "v\n"})
    before = sh("cat .git/index .git/config .git/HEAD | cksum; git rev-parse HEAD", victim.path)
    monkeypatch.setenv("GIT_DIR", str(victim.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(victim.path / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(victim.path))
    monkeypatch.setenv("GIT_PREFIX", "x/")
    observation = observed(repo, script("echo two > a.txt; git add -A; git commit -qm x"))
    assert actions(observation) == {"a.txt": "modified"}
    after = sh("cat .git/index .git/config .git/HEAD | cksum; git rev-parse HEAD", victim.path)
    assert before == after


def test_a_sub_directory_is_observed_in_its_own_frame(repo: Repository) -> None:
    repo.commit({"package.json": "{}\n", "packages/app/package.json": "{1}\n"})
    workspace, observation = work(
        repo.path / "packages" / "app",
        script(
            "echo 2 > package.json; mkdir src; echo n > src/new.ts; echo w > ../../package.json"
        ),
    )
    assert workspace.path == repo.path / ".caesar" / "wt" / "t_0001" / "packages" / "app"
    assert [(c.path, c.action, c.outside) for c in observation.changes] == [
        ("../../package.json", "modified", True),
        ("package.json", "modified", False),
        ("src/new.ts", "created", False),
    ]


def test_a_repository_with_sha256_ids_is_observed(tmp_path: Path) -> None:
    top = tmp_path / "repo"
    sh(f"git init -q --object-format=sha256 '{top}'", tmp_path)
    sh("echo one > a.txt; git add -A; git commit -qm x", top)
    workspace, observation = work(top, script("echo two > a.txt; echo b > b"))
    assert observation.verified, observation.diagnostics
    assert len(workspace.base_ref or "") == 64
    assert actions(observation) == {"a.txt": "modified", "b": "created"}


def test_many_changes_at_once_are_all_told(repo: Repository) -> None:
    def agent(folder: Path) -> None:
        (folder / "many").mkdir()
        for number in range(1000):
            (folder / "many" / f"{number:05}").write_text(f"{number}\n")

    observation = observed(repo, agent)
    assert len(observation.changes) == 1000
    assert observation.patch.count(b"\ndiff --git ") == 999


def test_outside_git_nothing_is_verified(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    workspace, observation = work(folder, script("echo x > y"))
    assert (workspace.isolation, workspace.base_ref, workspace.repository) == (
        "inplace",
        None,
        None,
    )
    assert codes(workspace) == {"isolation-degraded"}
    assert observation.verified is False
    assert observation.changes == ()


def test_an_observation_can_be_repeated(repo: Repository) -> None:
    workspace = prepare(ask(repo))
    (workspace.path / "b.txt").write_text("b\n")
    first, second = observe(workspace), observe(workspace)
    assert (first.changes, first.patch) == (second.changes, second.patch)
    assert not [entry for entry in workspace.snapshot.room.iterdir() if "observer" in entry.name]  # type: ignore[union-attr]
