from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.workspace.support import sh


def test_commits_have_the_same_ids_on_every_machine(tmp_path: Path) -> None:
    repo = Repository.create(tmp_path / "repo")
    first = repo.commit({"a.txt": "one\n", "src/x.py": "1\n"})
    second = repo.commit({"a.txt": None, "b.bin": b"\0\xff"}, "Second")
    assert first == "5456f5eac94a6736e0cb384c7c3fe517f76c3f94"
    assert second == "dfcea80e4ed4bbf3b5b817ebcc6502df686a9fd8"
    assert repo.head == second


def test_the_first_commit_is_what_git_itself_makes_of_the_same_files(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "a.txt": "one\n",
        "a/b/c.txt": "two\n",
        "a-b": "three\n",
        "a0": b"\0\xff",
        "é.txt": "",
    }
    quick = Repository.create(tmp_path / "quick")
    slow = Repository.create(tmp_path / "slow")
    for path, content in files.items():
        assert content is not None
        slow.write(path, content)
    assert quick.commit(files) == slow.commit()
    assert sh("git fsck --strict && git status --porcelain", quick.path) == ""
    entries = "git ls-files --stage --debug | grep -v 'ctime\\|mtime\\|dev\\|uid'"
    assert sh(entries, quick.path) == sh(entries, slow.path)


def test_executable_files_stay_executable(tmp_path: Path) -> None:
    repo = Repository.create(tmp_path / "repo")
    repo.write("run.sh", "#!/bin/sh\n", executable=True)
    repo.commit({"run.sh": "#!/bin/sh\necho\n"})
    assert repo.git("ls-tree", "HEAD").startswith("100755 blob ")


def test_files_with_conversion_are_committed_as_git_converts_them(tmp_path: Path) -> None:
    repo = Repository.create(tmp_path / "repo")
    repo.commit({".gitattributes": "*.txt text\n", "a.txt": "one\r\n"})
    assert repo.git("cat-file", "blob", "HEAD:a.txt") == "one\n"


def test_configuration_hooks_templates_and_signing_of_the_user_have_no_effect(
    tmp_path: Path, user_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-commit", "commit-msg", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\nexit 1\n")
        (hooks / name).chmod(0o755)
    user_config.write_text(
        f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n"
        "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n"
        "[init]\n\tdefaultBranch = other\n\tdefaultObjectFormat = sha256\n"
    )
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    repo = Repository.create(tmp_path / "repo")
    repo.commit({"a.txt": "one\r\n"})
    repo.commit({"a.txt": "two\r\n"})
    assert repo.git("log", "--format=%an %ad %D", "--date=iso").splitlines() == [
        "Caesar 2000-01-01 00:01:00 +0000 HEAD -> main",
        "Caesar 2000-01-01 00:00:00 +0000 ",
    ]
    assert repo.git("cat-file", "blob", "HEAD:a.txt") == "two\r\n"
    assert repo.status() == ""
    assert not (tmp_path / "ran").exists()


def test_a_commit_without_files_takes_everything_that_is_not_ignored(repo: Repository) -> None:
    repo.write("b.txt", "new\n")
    repo.write(".gitignore", "*.log\n")
    repo.write("x.log", "noise\n")
    repo.commit()
    assert repo.git("ls-files").split() == [".gitignore", "a.txt", "b.txt", "run.sh", "src/m.py"]


def test_a_new_repository_has_no_head_and_one_in_an_odd_state_says_why(tmp_path: Path) -> None:
    repo = Repository.create(tmp_path / "repo")
    assert repo.head is None
    (repo.path / ".git" / "HEAD").write_text("nonsense")
    with pytest.raises(GitError):
        _ = repo.head


def test_a_folder_that_holds_a_repository_is_refused(repo: Repository) -> None:
    with pytest.raises(FileExistsError, match="holds a git repository already"):
        Repository.create(repo.path)


def test_content_is_read_back_as_it_was_written(repo: Repository) -> None:
    repo.write("deep/er/x.txt", "é\r\n")
    assert repo.read("deep/er/x.txt") == "é\r\n"
    assert repo.status() == "?? deep/\n"


def test_remotes_are_reached_when_a_test_asks_for_it(repo: Repository, tmp_path: Path) -> None:
    other = Repository.create(tmp_path / "other")
    commit = other.commit({"o.txt": "o\n"})
    repo.git("fetch", "--quiet", str(other.path), "main:refs/heads/theirs")
    assert repo.git("rev-parse", "theirs").strip() == commit
    repo.git("push", "--quiet", str(other.path), "main:refs/heads/ours")
    repo.git("submodule", "--quiet", "add", str(other.path), "dep")
    assert repo.read("dep/o.txt") == "o\n"
