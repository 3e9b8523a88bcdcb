"""What an agent might do to be seen as it is not."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_caesar.workspace import observer as observer_module
from pytest_caesar.workspace.fifos import Fifos
from pytest_caesar.workspace.force_added import MAX_SHARED, _shared_part
from pytest_caesar.workspace.git_program import find_git
from pytest_caesar.workspace.index_file import index_bytes
from pytest_caesar.workspace.isolation import prepare
from pytest_caesar.workspace.observation import ignored_paths, observe
from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.tree_pack import write_trees
from tests.pytest_caesar.workspace.support import (
    actions,
    ask,
    codes,
    observed,
    script,
    sh,
    work,
)


def test_bits_in_the_index_hide_nothing(repo: Repository) -> None:
    observation = observed(
        repo,
        script(
            "git update-index --assume-unchanged a.txt; git update-index --skip-worktree src/m.py;"
            "echo two > a.txt; echo y > src/m.py"
        ),
    )
    assert actions(observation) == {"a.txt": "modified", "src/m.py": "modified"}


def test_an_edit_of_the_same_size_with_a_forged_time_is_seen(repo: Repository) -> None:
    def agent(folder: Path) -> None:
        for name in ("a.txt", "src/m.py"):
            file = folder / name
            before = file.stat()
            file.write_bytes(bytes(byte ^ 1 for byte in file.read_bytes()))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert actions(observed(repo, agent)) == {"a.txt": "modified", "src/m.py": "modified"}
    again = observed(repo, agent, task_id="t_2", isolation="inplace")
    assert actions(again) == {"a.txt": "modified", "src/m.py": "modified"}


def test_a_forged_time_long_after_the_checkout_is_seen(repo: Repository) -> None:
    workspace = prepare(ask(repo))
    snapshot = workspace.snapshot
    assert snapshot is not None
    # As if the checkout were old: nothing is "racy", the stat data alone decides.
    object.__setattr__(snapshot, "index_time", snapshot.index_time + 3600 * 10**9)
    file = workspace.path / "a.txt"
    before = file.stat()
    while file.stat().st_ctime_ns // 10**9 == before.st_ctime_ns // 10**9:
        file.write_text("two\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert actions(observe(workspace)) == {"a.txt": "modified"}


@pytest.mark.skipif(sys.platform == "darwin", reason="names are not told by case there")
@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
def test_a_file_does_not_hide_behind_the_case_of_another(repo: Repository, isolation: str) -> None:
    repo.commit({".gitignore": "*.log\n"})
    sh("git config core.ignoreCase true; echo mine > mine.LOG", repo.path)
    observation = observed(
        repo,
        script("echo evil > src/M.PY; echo evil > A.txt; mkdir -p SRC; echo evil > SRC/m.py"),
        isolation=isolation,
    )
    assert actions(observation) == dict.fromkeys(("A.txt", "SRC/m.py", "src/M.PY"), "created")


def test_ignore_rules_that_the_agent_writes_hide_nothing(repo: Repository) -> None:
    repo.commit({".gitignore": "*.log\n", "sub/.gitignore": "!keep.log\nbuild/\n", "sub/x": ""})
    observation = observed(
        repo,
        script(
            "printf '*\\n' > .gitignore; printf '*\\n' > src/.gitignore; echo e > src/evil.py;"
            "echo '*' >> $(git rev-parse --git-path info/exclude); echo s > secret;"
            "git config core.excludesFile /dev/stdin; echo n > noise.log; echo k > sub/keep.log;"
            "mkdir -p sub/build sub/deep/build; echo b > sub/build/b; echo b > sub/deep/build/b"
        ),
    )
    assert actions(observation) == {
        ".gitignore": "modified",
        "secret": "created",
        "src/.gitignore": "created",
        "src/evil.py": "created",
        "sub/keep.log": "created",
    }
    assert codes(observation) == {"repository-tampered"}


def test_ignore_rules_that_the_agent_removes_still_hold(repo: Repository) -> None:
    repo.commit({".gitignore": "*.log\n"})
    workspace, observation = work(repo, script("rm .gitignore; echo n > noise.log"))
    assert actions(observation) == {".gitignore": "deleted"}
    declared = ["noise.log", "./noise.log", str(workspace.path / "noise.log"), "a.txt", "../x", ""]
    assert ignored_paths(workspace, declared) == frozenset(declared[:3])


def test_an_ignored_file_that_the_agent_tracks_is_a_change(repo: Repository) -> None:
    repo.commit({".gitignore": "dist/\n"})
    observation = observed(
        repo,
        script(
            "mkdir dist; echo b > dist/bundle.js; echo o > dist/other.js;"
            "git add -f dist/bundle.js; git commit -qm x"
        ),
    )
    assert actions(observation) == {"dist/bundle.js": "created"}
    assert b"dist/bundle.js" in bytes(observation.patch)


def test_attributes_that_the_agent_writes_convert_nothing(repo: Repository) -> None:
    observation = observed(
        repo,
        lambda folder: (
            (folder / ".gitattributes").write_text(
                "* text eol=crlf working-tree-encoding=UTF-16\n"
            ),
            (folder / "a.txt").write_bytes(b"one\r\n"),
        ),
    )
    assert actions(observation) == {".gitattributes": "created", "a.txt": "modified"}
    assert b"+one\r\n" in bytes(observation.patch)


def test_no_program_that_the_agent_configures_is_run(repo: Repository, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "evil").write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{ran}'\ncat\n")
    (tmp_path / "evil").chmod(0o755)
    workspace, observation = work(
        repo,
        script(
            f"""
            evil='{tmp_path}/evil'
            for key in core.fsmonitor core.pager core.sshCommand core.editor diff.external \
                gpg.program filter.x.clean filter.x.smudge filter.x.process diff.x.textconv \
                diff.x.command merge.x.driver core.alternateRefsCommand uploadpack.packObjectsHook \
                alias.ls-files alias.diff-files; do
                git config "$key" "$evil"
            done
            git config core.hooksPath '{tmp_path}'
            echo '* filter=x diff=x merge=x' > .gitattributes
            echo '* filter=x diff=x merge=x' > "$(git rev-parse --git-path info/attributes)"
            hooks="$(git rev-parse --git-common-dir)/hooks"
            mkdir -p "$hooks"
            for hook in post-checkout post-index-change reference-transaction pre-auto-gc; do
                cp "$evil" "$hooks/$hook"
            done
            rm -f '{ran}'
            echo two > a.txt
            """
        ),
    )
    assert actions(observation) == {".gitattributes": "created", "a.txt": "modified"}
    assert codes(observation) == {"repository-tampered"}
    message = observation.diagnostics[0].message
    assert "config, info/attributes, hooks" in message
    from pytest_caesar.workspace.isolation import remove

    remove(workspace, task_id="t_0001", recorded=observation)
    assert not ran.exists()


def test_a_nested_repository_is_set_aside_and_told(repo: Repository) -> None:
    _, observation = work(
        repo,
        script(
            "echo two > a.txt; git init -q tool; cd tool; echo t > t; git add t; git commit -qm t;"
            "cd ..; git init -q unborn; echo u > unborn/u"
        ),
    )
    assert {(c.path, c.action, c.kind) for c in observation.changes} == {
        ("a.txt", "modified", "file"),
        ("tool/", "created", "nested-repository"),
        ("unborn/", "created", "nested-repository"),
    }
    assert observation.unpatched == ("tool/", "unborn/")
    assert b"Subproject" not in bytes(observation.patch)
    assert codes(observation) == {"not-in-patch"}


def test_a_git_entry_in_a_tracked_folder_hides_nothing(repo: Repository) -> None:
    observation = observed(
        repo,
        script(
            "git init -q src; echo e > src/evil.py; echo y > src/m.py; mkdir -p d/.git; echo x > d/x"
        ),
    )
    assert actions(observation) == {
        "d/x": "created",
        "src/evil.py": "created",
        "src/m.py": "modified",
    }


@pytest.mark.parametrize(
    "command",
    [
        "rm .git",
        "echo 'gitdir: /nonexistent' > .git",
        "rm .git; git init -q .; git add -A; git commit -qm mine",
        'rm -r "$(git rev-parse --absolute-git-dir)"',
        'echo garbage > "$(git rev-parse --git-path index)"',
        'echo garbage > "$(git rev-parse --git-path HEAD)"',
        "echo '[core' > \"$(git rev-parse --git-common-dir)/config\"",
        "rm -f .git; mkfifo .git",
        "git worktree prune; git config core.bare true",
        "git config core.worktree /; git config extensions.worktreeConfig true",
        "git sparse-checkout set --no-cone /src/ 2>/dev/null; git config core.sparseCheckout true",
    ],
)
def test_a_broken_git_entry_does_not_blind_the_observer(repo: Repository, command: str) -> None:
    observation = observed(repo, script(f"{command}; echo two > a.txt; echo n > new"))
    seen = actions(observation)
    assert (seen["a.txt"], seen["new"]) == ("modified", "created")


def test_a_workspace_that_is_gone_is_an_answer_without_verification(repo: Repository) -> None:
    workspace, observation = work(repo, lambda folder: sh(f"rm -r '{folder}'", folder.parent))
    assert observation.verified is False
    assert [d.message for d in observation.diagnostics] == [
        f"Git could not tell what changed: the folder {workspace.path} is gone"
    ]


def test_a_link_in_place_of_the_workspace_is_not_followed(repo: Repository, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _, observation = work(
        repo, lambda folder: sh(f"mv '{folder}' gone; ln -s '{other}' '{folder}'", folder.parent)
    )
    assert observation.verified is False
    assert "a symbolic link took the place" in observation.diagnostics[0].message


def test_objects_that_are_gone_are_an_answer_without_verification(repo: Repository) -> None:
    _, observation = work(
        repo, script('echo two > a.txt; rm -rf "$(git rev-parse --git-common-dir)/objects"')
    )
    assert observation.verified is False
    assert codes(observation) == {"workspace-unverified"}


def forge(folder: Path, name: str, content: bytes, kind: bytes = b"blob") -> None:
    """Write a loose object whose content is not what its name says."""
    import zlib

    objects = Path(sh("git rev-parse --path-format=absolute --git-path objects", folder).strip())
    file = objects / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    file.write_bytes(zlib.compress(b"%b %d\0" % (kind, len(content)) + content))


def test_a_forged_object_does_not_get_into_a_patch(repo: Repository) -> None:
    def agent(folder: Path) -> None:
        (folder / "evil.py").write_text("import os\n")
        name = sh("git hash-object evil.py", folder).strip()
        forge(folder, name, b"harmless\n")

    _, observation = work(repo, agent)
    assert observation.verified is False
    assert "the object store was tampered with" in observation.diagnostics[0].message

    def other(folder: Path) -> None:
        forge(folder, sh("git rev-parse HEAD:a.txt", folder).strip(), b"two\n")
        (folder / "a.txt").write_text("two\n")

    _, observation = work(repo, other, task_id="t_2")
    assert observation.verified is False


def test_a_forged_tree_does_not_hide_a_change(repo: Repository) -> None:
    def agent(folder: Path) -> None:
        import zlib

        (folder / "a.txt").write_text("two\n")
        sh("git add a.txt", folder)
        new = sh("git write-tree", folder).strip()
        old = sh("git rev-parse HEAD^{tree}", folder).strip()
        objects = Path(
            sh("git rev-parse --path-format=absolute --git-path objects", folder).strip()
        )
        content = (objects / new[:2] / new[2:]).read_bytes()
        assert zlib.decompress(content).startswith(b"tree ")
        target = objects / old[:2] / old[2:]
        target.unlink()
        target.write_bytes(content)

    assert actions(observed(repo, agent)) == {"a.txt": "modified"}


def forge_tree_in_pack(folder: Path, name: str, leaves: dict[bytes, tuple[int, bytes]]) -> None:
    """Write a pack, named by a multi-pack index, whose one tree is not what its name says."""
    objects = Path(sh("git rev-parse --path-format=absolute --git-path objects", folder).strip())
    true_name = write_trees(leaves, objects, sha256=False)
    (index,) = (
        file
        for file in (objects / "pack").glob("*.idx")
        if bytes.fromhex(true_name) in file.read_bytes()
    )
    data = index.read_bytes()
    oid = bytes.fromhex(name)
    totals = struct.pack(">256I", *(int(first >= oid[0]) for first in range(256)))
    forged = data[:8] + totals + oid + data[8 + len(totals) + len(oid) : -20]
    index.write_bytes(forged + hashlib.sha1(forged).digest())
    sh("git multi-pack-index write", folder)


@pytest.mark.parametrize("kept", ["loose", "packed"])
def test_a_tree_forged_for_the_comparison_itself_does_not_hide_a_change(
    repo: Repository, kept: str
) -> None:
    def agent(folder: Path) -> None:
        index = str(folder.parent / "index-of-one-file")
        old = sh(
            "git update-index --add --cacheinfo 100644,$(git rev-parse HEAD:a.txt),a.txt;"
            "git write-tree",
            folder,
            GIT_INDEX_FILE=index,
        ).strip()
        (folder / "a.txt").write_text("two\n")
        new = sh("git hash-object -w a.txt", folder).strip()
        if kept == "packed":
            forge_tree_in_pack(folder, old, {b"a.txt": (0o100644, bytes.fromhex(new))})
        else:
            forge(folder, old, b"100644 a.txt\0" + bytes.fromhex(new), kind=b"tree")

    assert actions(observed(repo, agent)) == {"a.txt": "modified"}


def forge_tree_as_index(folder: Path, name: str) -> None:
    """Make the tree ``name`` one that holds what the checkout's index holds."""
    new = sh("git write-tree", folder).strip()
    content = subprocess.run(
        ["git", "cat-file", "tree", new], cwd=folder, capture_output=True, check=True
    ).stdout
    forge(folder, name, content, kind=b"tree")


def test_a_forged_base_does_not_hide_what_came_after_it(repo: Repository, tmp_path: Path) -> None:
    base = repo.head
    repo.commit({"a.txt": "two\n"})
    sh(f"git worktree add -q {tmp_path / 'wt'}", repo.path)
    workspace = prepare(ask(repo, adopt=tmp_path / "wt", base_ref=base))

    forge_tree_as_index(workspace.path, sh(f"git rev-parse {base}^{{tree}}", repo.path).strip())

    assert actions(observe(workspace)) == {"a.txt": "modified"}


def test_a_forged_base_does_not_hide_a_file_that_was_added_by_force(repo: Repository) -> None:
    repo.commit({".gitignore": "*.log\n"})

    def agent(folder: Path) -> None:
        (folder / "kept.log").write_text("x\n")
        sh("git add --force kept.log", folder)
        forge_tree_as_index(folder, sh("git rev-parse HEAD^{tree}", folder).strip())

    assert actions(observed(repo, agent)) == {"kept.log": "created"}


@pytest.mark.parametrize("isolation", ["worktree", "inplace"])
def test_a_file_that_was_added_by_force_is_told_under_a_split_index(
    repo: Repository, isolation: str
) -> None:
    repo.commit({".gitignore": "*.log\n"})
    command = "echo x > kept.log; git update-index --split-index; git add --force kept.log"

    observation = observed(repo, script(command), isolation=isolation)

    assert actions(observation) == {"kept.log": "created"}


def test_names_of_index_parts_without_number_are_not_all_looked_for(repo: Repository) -> None:
    class Index(bytes):
        """Counts how often it is searched."""

        searched = 0

        def __contains__(self, part: object) -> bool:
            Index.searched += 1
            return super().__contains__(part)  # type: ignore[operator]

    git_dir = repo.path / ".git"
    for number in range(MAX_SHARED + 50):
        (git_dir / f"sharedindex.{number:040x}").touch()
    assert _shared_part(git_dir, Index(b"\xff" * 100)) is None
    assert Index.searched == MAX_SHARED


def test_replacement_objects_and_grafts_change_nothing(repo: Repository) -> None:
    observation = observed(
        repo,
        script(
            "echo two > a.txt; git add a.txt; git commit -qm x; git replace HEAD~1 HEAD;"
            "git replace $(git rev-parse HEAD~1:a.txt) $(git rev-parse HEAD:a.txt) || true"
        ),
    )
    assert actions(observation) == {"a.txt": "modified"}
    assert "repository-tampered" in codes(observation)


def test_a_fifo_in_place_of_a_rules_file_stops_nobody(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.workspace.git.STALL_INTERVAL", 0.05)
    observation = observed(
        repo,
        script(
            "mkfifo .gitattributes .gitignore src/.gitattributes .gitmodules; echo two > a.txt;"
            "echo y > src/m.py"
        ),
    )
    assert actions(observation) == {"a.txt": "modified", "src/m.py": "modified"}


@pytest.mark.parametrize(
    ("command", "verified"),
    [
        ("git init -q n; cd n; rm .git/HEAD; mkfifo .git/HEAD; echo x > f", True),
        ('mkfifo "$store/info/alternates"', True),
        ('mkdir -p "$store/pack"; mkfifo "$store/pack/multi-pack-index"', True),
        ('mkfifo "$store/../fifo"; ln -s ../../fifo "$store/info/alternates"', True),
        ('f="$store/$(git rev-parse HEAD:a.txt | sed s,..,\\&/,)"; rm -f "$f"; mkfifo "$f"', False),
    ],
)
def test_a_fifo_in_place_of_a_file_of_gits_own_stops_nobody(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, command: str, *, verified: bool
) -> None:
    monkeypatch.setattr("pytest_caesar.workspace.git.GIT_TIMEOUT", 10.0)
    monkeypatch.setattr("pytest_caesar.workspace.git.STALL_INTERVAL", 0.05)
    monkeypatch.setattr("pytest_caesar.workspace.git.SLEEP_TIMEOUT", 5.0)
    _, observation = work(
        repo,
        script(
            "store=$(git rev-parse --path-format=absolute --git-common-dir)/objects;"
            f"({command}); echo two > a.txt"
        ),
    )
    assert "did nothing" not in str(observation.diagnostics)
    assert observation.verified is verified
    if verified:
        assert actions(observation)["a.txt"] == "modified"


def test_fifos_that_are_known_are_fed_at_once_by_every_later_git(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.workspace.git.STALL_INTERVAL", 0.3)
    looks: list[float] = []
    feed = Fifos.feed

    def count(self: Fifos) -> bool:
        if not self.known:
            looks.append(0.3)
        return feed(self)

    monkeypatch.setattr(Fifos, "feed", count)
    store = "$(git rev-parse --git-common-dir)/objects/info"
    observed(repo, script(f'mkfifo "{store}/alternates" .gitattributes; echo two > a.txt'))
    assert len(looks) == 1


def test_a_fifo_that_nobody_finds_is_an_answer_without_verification(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.workspace.git.STALL_INTERVAL", 0.05)
    monkeypatch.setattr("pytest_caesar.workspace.git.SLEEP_TIMEOUT", 0.5)
    (tmp_path / "far" / "info").mkdir(parents=True)
    os.mkfifo(tmp_path / "far" / "info" / "alternates")
    _, observation = work(
        repo,
        script(
            f"echo '{tmp_path}/far' > $(git rev-parse --git-common-dir)/objects/info/alternates;"
            "echo two > a.txt"
        ),
    )
    assert observation.verified is False
    assert "did nothing for 0.5 s and was stopped" in observation.diagnostics[0].message


def test_a_tracked_file_that_became_a_fifo_is_gone(repo: Repository) -> None:
    observation = observed(repo, script("rm a.txt; mkfifo a.txt; mkfifo new"))
    assert [(c.path, c.action, c.note) for c in observation.changes] == [
        ("a.txt", "deleted", "a FIFO, socket or device is there now")
    ]


def test_a_file_too_large_to_hash_is_told_without_being_read(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observer_module, "MAX_FILE_BYTES", 1000)
    observation = observed(
        repo, script("truncate -s 5000 big; truncate -s 6000 a.txt; echo n > new")
    )
    assert actions(observation) == {"a.txt": "modified", "big": "created", "new": "created"}
    assert observation.unpatched == ("a.txt", "big")
    assert codes(observation) == {"not-in-patch"}
    assert b"big" not in bytes(observation.patch)


def test_names_that_git_refuses_are_told_and_left_out_of_the_patch(repo: Repository) -> None:
    observation = observed(repo, script("mkdir .GIT; echo x > .GIT/config; echo y > 'git~1'"))
    assert actions(observation) == {".GIT/config": "created", "git~1": "created"}
    assert observation.unpatched == (".GIT/config",)


def test_a_folder_too_deep_to_walk_is_told_and_the_rest_is_verified(repo: Repository) -> None:
    def agent(folder: Path) -> None:
        start = Path.cwd()
        try:
            os.chdir(folder)
            Path("a.txt").write_text("two\n")
            for _ in range(30):
                Path("d" * 200).mkdir()
                os.chdir("d" * 200)
            Path("x").write_text("x")
        finally:
            os.chdir(start)

    workspace, observation = work(repo, agent)
    assert observation.verified, observation.diagnostics
    deep, *others = sorted(actions(observation).items(), key=lambda item: -len(item[0]))
    assert others == [("a.txt", "modified")]
    assert deep[0].startswith("d" * 200 + "/")
    assert deep[0].endswith("/")
    assert deep[1] == "created"
    assert observation.unpatched == (deep[0],)
    assert "cannot be read (File name too long)" in observation.diagnostics[0].message
    sh(f"rm -rf '{workspace.path}'", repo.path)


def test_refs_nested_without_end_cost_nothing(repo: Repository) -> None:
    refs = repo.path / ".git" / "refs" / "heads"

    def agent(folder: Path) -> None:
        (folder / "a.txt").write_text("two\n")
        start = Path.cwd()
        try:
            os.chdir(refs)
            for _ in range(1100):
                Path("d").mkdir()
                os.chdir("d")
        finally:
            os.chdir(start)

    try:
        assert actions(observed(repo, agent)) == {"a.txt": "modified"}
    finally:
        sh(f"rm -rf '{refs}/d'", repo.path)


@pytest.mark.parametrize("error", [RecursionError("too deep"), MemoryError()])
def test_whatever_goes_wrong_is_an_answer_without_verification(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    workspace = prepare(ask(repo))

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("pytest_caesar.workspace.observation.read_refs", fail)
    observation = observe(workspace)
    assert observation.verified is False
    assert type(error).__name__ in observation.diagnostics[0].message


CLOSING = """
import os, sys
from pathlib import Path
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import actions, codes, observed, script

repo = Repository.create(Path(sys.argv[1]) / "repo")
repo.commit({"a.txt": "one\\n", "src/m.py": "x = 1\\n", "src/n.py": "x = 1\\n"})
work = "mkdir -p no/no; echo n > no/no/n; echo y > src/m.py; chmod 0 no/no no; chmod 400 src"
seen = observed(repo, script(work))
assert actions(seen) == {"no/no/n": "created", "src/m.py": "modified"}, seen
assert codes(seen) == set(), seen
top = repo.path / ".caesar" / "wt" / "t_0001"
assert (top / "no").stat().st_mode & 0o777 == 0
(repo.path / "mine").mkdir(mode=0)
seen = observed(repo, script("echo two > a.txt"), task_id="t_2", isolation="inplace")
assert actions(seen) == {"a.txt": "modified"}, seen
"""


def lose_the_right_to_pass_over_modes() -> None:
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH; with the next exec
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.skipif(
    os.geteuid() == 0 and sys.platform != "linux", reason="modes do not stop this user"
)
def test_folders_that_an_agent_closes_are_looked_into(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLOSING, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        preexec_fn=lose_the_right_to_pass_over_modes if os.geteuid() == 0 else None,
        capture_output=True,
        text=True,
        check=False,
    )
    sh("find . -type d -exec chmod u+rwx {} ';'", tmp_path)
    assert done.returncode == 0, done.stderr


def their_index(folder: Path, *names: str) -> None:
    """Write the checkout's index as git never would."""
    oid = sh("git hash-object -w a.txt", folder).strip()
    entries = {os.fsencode(name): (0o100644, bytes.fromhex(oid), None) for name in names}
    git_dir = Path(sh("git rev-parse --absolute-git-dir", folder).strip())
    (git_dir / "index").write_bytes(index_bytes(entries))


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../../../a.txt", "src/../src/m.py", ".git", "./a.txt", "src//m.py"],
)
def test_names_that_no_work_tree_has_are_not_taken_from_the_agents_index(
    repo: Repository, name: str
) -> None:
    def agent(folder: Path) -> None:
        sh("echo two > a.txt", folder)
        their_index(folder, name, "src/m.py")

    observation = observed(repo, agent)
    assert actions(observation) == {"a.txt": "modified"}
    assert bytes(observation.patch).count(b"diff --git") == 1


def test_touched_ignored_files_are_told_in_place(repo: Repository) -> None:
    repo.commit({".gitignore": ".env\n"})
    repo.write(".env", "KEY=1\n")
    observation = observed(repo, script("echo KEY=2 > .env"), isolation="inplace")
    assert observation.changes == ()
    assert codes(observation) == {"ignored-file-changed"}


@pytest.mark.parametrize(
    "odd",
    ["rm a.env; mkfifo a.env", "rm a.env; mkdir a.env", "rm a.env", "rm a.env; ln -s / a.env"],
)
def test_an_odd_ignored_file_hides_no_other_one(repo: Repository, odd: str) -> None:
    repo.commit({".gitignore": "*.env\n"})
    for name in ("a.env", "b.env", "c.env"):
        repo.write(name, "KEY=1\n")

    observation = observed(repo, script(f"{odd}; echo KEY=2 > c.env"), isolation="inplace")

    (found,) = [one for one in observation.diagnostics if one.code == "ignored-file-changed"]
    assert ("a.env" in found.message, "b.env" in found.message, "c.env" in found.message) == (
        True,
        False,
        True,
    )


def test_what_was_deleted_keeps_its_kind(repo: Repository) -> None:
    def link(folder: Path) -> None:
        (folder / "to-a").symlink_to("a.txt")

    link(repo.path)
    repo.git("add", "--all")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.head},vendor")
    repo.git("commit", "--quiet", "--message", "A link and a submodule")

    observation = observed(
        repo, script("rm -f to-a a.txt; git rm -q --cached vendor; rm -rf vendor; git commit -qm x")
    )

    assert {(one.path, one.action, one.kind) for one in observation.changes} == {
        ("a.txt", "deleted", "file"),
        ("to-a", "deleted", "symlink"),
        ("vendor", "deleted", "submodule"),
    }


def test_the_task_directory_may_vanish(repo: Repository) -> None:
    observation = observed(
        repo,
        lambda folder: sh(f"rm -r '{repo.path}/.caesar/tasks/t_0001'; echo two > a.txt", folder),
    )
    assert actions(observation) == {"a.txt": "modified"}


def put_before_git(folder: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """Put a program before git that does what a ``case`` of sh says."""
    program, git = folder / "bin" / "git", shutil.which("git")
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncase "$GIT_DIR $*" in\n{case};;\nesac\nexec {git} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    find_git.cache_clear()


def test_a_full_disk_of_the_repository_hides_nothing(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = prepare(ask(repo))
    (workspace.path / "a.txt").write_text("two\n")
    full = 'echo "fatal: unable to write new index file: No space left on device" >&2; exit 128'
    put_before_git(tmp_path, monkeypatch, f"{repo.path}/*update-index*) {full}")
    observation = observe(workspace)
    assert observation.verified, observation.diagnostics
    assert actions(observation) == {"a.txt": "modified"}


def test_a_file_that_git_passes_over_is_an_answer_without_verification(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = prepare(ask(repo))
    put_before_git(tmp_path, monkeypatch, '*diff-files*) echo "a.txt: Input/output error" >&2')
    observation = observe(workspace)
    assert observation.verified is False
    assert "cannot be read: a.txt: Input/output error" in observation.diagnostics[0].message


def test_an_interrupted_observation_leaves_no_git_behind(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = prepare(ask(repo))
    (tmp_path / "bin").mkdir()
    slow = tmp_path / "bin" / "git"
    slow.write_text(f"#!/bin/sh\necho $$ >> '{tmp_path}/pids'\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    find_git.cache_clear()

    class Stopped(BaseException):
        pass

    def stop(*_: object) -> None:
        raise Stopped

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Stopped):
            observe(workspace)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    for pid in (tmp_path / "pids").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_the_whole_room_works_from_inside_a_git_hook(repo: Repository, tmp_path: Path) -> None:
    outer = Repository.create(tmp_path / "outer")
    outer.commit({"o.txt": "o\n"})
    program = tmp_path / "inside.py"
    program.write_text(
        "import sys\nfrom pathlib import Path\n"
        "from tests.pytest_caesar.workspace.support import actions, observed, script\n"
        f"seen = actions(observed(Path({str(repo.path)!r}), script('echo two > a.txt')))\n"
        "assert seen == {'a.txt': 'modified'}, seen\n"
    )
    hooks = outer.path / ".git" / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text(f"#!/bin/sh\nexec '{sys.executable}' '{program}'\n")
    (hooks / "pre-commit").chmod(0o755)
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.invalid", "commit", "-qm", "x",
         "--allow-empty"],
        cwd=outer.path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert outer.status() == ""
