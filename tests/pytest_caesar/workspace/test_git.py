from __future__ import annotations

import os
import pickle
from pathlib import Path

import freezegun
import pytest

from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.git_environment import git_environment
from pytest_caesar.workspace.git_program import find_git


def test_git_is_never_taken_for_a_process_of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESAR_TASK_DIR", "/somewhere")
    assert "CAESAR_TASK_DIR" not in git_environment()


def test_variables_of_the_surroundings_never_redirect_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_COUNT", "GIT_EDITOR"):
        monkeypatch.setenv(name, "elsewhere")
    environment = git_environment()
    assert not {"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_COUNT"} & set(environment)
    assert environment["LC_ALL"] == "C"


def test_git_gets_no_secret_of_the_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    assert "secret" not in git_environment().values()
    assert git_environment()["PATH"] == os.environ["PATH"]


def test_the_place_of_the_users_configuration_still_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/somewhere")
    assert git_environment()["GIT_CONFIG_GLOBAL"] == "/somewhere"
    assert git_environment(isolated=True)["GIT_CONFIG_GLOBAL"] == os.devnull


def test_a_failure_tells_command_exit_code_and_what_git_said(tmp_path: Path) -> None:
    with pytest.raises(GitError) as caught:
        Git(tmp_path).run("rev-parse", "HEAD")
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.exit_code == 128
    assert str(error).startswith("git rev-parse HEAD ended with exit code 128: fatal: not a git")


def test_a_missing_git_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    find_git.cache_clear()
    with pytest.raises(
        GitError, match=r"git could not be started \(no program .* install git, or put it on PATH"
    ):
        Git(tmp_path).run("version")


def test_a_git_that_hangs_is_stopped_also_while_time_is_frozen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    find_git.cache_clear()
    with (
        freezegun.freeze_time("2020-01-01"),
        pytest.raises(GitError, match=r"did not end within 0\.2 s"),
    ):
        Git(tmp_path).run("status", timeout=0.2)


def test_output_of_any_size_on_both_streams_is_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text(
        "#!/bin/sh\nhead -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; cat >/dev/null\n"
    )
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    find_git.cache_clear()
    result = Git(tmp_path).run("anything", stdin=b"x" * 3_000_000)
    assert (len(result.stdout), len(result.stderr)) == (3_000_000, 3_000_000)


def test_control_characters_in_a_command_line_are_shown_escaped(tmp_path: Path) -> None:
    with pytest.raises(GitError) as caught:
        Git(tmp_path).run("rev-parse", "\x1b[2Jx\udcff")
    assert "\x1b" not in str(caught.value)
    assert r"\x1b[2Jx" in str(caught.value)


def test_a_git_that_works_or_waits_for_its_children_is_not_stopped_as_asleep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.workspace.git.STALL_INTERVAL", 0.02)
    monkeypatch.setattr("pytest_caesar.workspace.git.SLEEP_TIMEOUT", 0.1)
    (tmp_path / "git").write_text("#!/bin/sh\nsleep 0.5\necho done\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    find_git.cache_clear()
    assert Git(tmp_path).run("anything").lines == ["done"]
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    find_git.cache_clear()
    with pytest.raises(GitError, match=r"did nothing for 0\.1 s"):
        Git(tmp_path).run("anything")
