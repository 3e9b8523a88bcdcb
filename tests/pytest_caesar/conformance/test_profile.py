"""caesar-conformance.toml: what is read, and what is refused with which words."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pytest_caesar.conformance.profile import (
    OBJECTIVE,
    REPOSITORY,
    ProfileError,
    load_profile,
    parse_profile,
)
from pytest_caesar.conformance.repository_files import RepositoryFiles, from_folder
from pytest_caesar.workspace.repository import Repository

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_an_agent_without_a_profile_gets_a_task_that_any_agent_can_do(tmp_path: Path) -> None:
    profile = load_profile(tmp_path)

    assert profile.path is None
    assert (profile.objective, profile.repository) == (OBJECTIVE, REPOSITORY)
    assert profile.level == "robust"
    assert not profile.claims
    assert not profile.specials


def test_everything_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "mine" / "src").mkdir(parents=True)
    (tmp_path / "mine" / "src" / "a.bin").write_bytes(b"\xff")
    (tmp_path / "mine" / ".git").mkdir()
    (tmp_path / "mine" / ".git" / "config").write_text("")
    (tmp_path / "caesar-conformance.toml").write_text(
        'level = "narrated"\nobjective = "Fix it"\nexact_objective = true\ncontext = ""\n'
        'acceptance_criteria = ["tests pass"]\nrepository = "mine"\ntimeout = 5\n'
        'claims = ["writes", "events"]\n'
        '[asks]\nobjective = "Ask"\nanswer = "no"\nexpects = "kept"\n'
        '[slow]\nobjective = "Wait"\ntimeout = 0.5\n[slow.files]\n"a" = "b"\n'
    )

    profile = load_profile(tmp_path)

    assert profile.repository == RepositoryFiles(files={"src/a.bin": b"\xff"})
    assert profile.acceptance_criteria == ("tests pass",)
    assert profile.claimed("events")
    assert profile.claimed("asks")
    assert profile.claimed("answer")
    assert not profile.claimed("tools")
    assert profile.specials["slow"].timeout == 0.5
    assert profile.specials["slow"].repository == RepositoryFiles(files={"a": "b"})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("level = ", "it is not TOML: "),
        ('levle = "minimal"', "unknown key levle; did you mean 'level'?"),
        ("zzz = 1", "unknown key zzz; known are level, objective, "),
        ('level = "high"', "level is 'high': expected one of minimal, narrated, dialogue, robust"),
        ("level = 3", "level is 3: expected a text"),
        ('objective = " "', "objective is empty: leave it out, or say something"),
        ("timeout = 0", "timeout is 0: expected seconds, above 0 and at most 3600"),
        ("timeout = true", "timeout is True: expected seconds, above 0 and at most 3600"),
        ('exact_objective = "yes"', "exact_objective is 'yes': expected true or false"),
        ('claims = "events"', "claims is 'events': expected a list of texts"),
        (
            'claims = ["event"]',
            "claims names 'event', which is no capability: did you mean 'events'?",
        ),
        ('claims = ["xyz"]', "claims names 'xyz', which is no capability: known are writes, "),
        ('claims = ["asks"]', "claims names 'asks', which is claimed by a table: [asks] with "),
        ('asks = "yes"', "asks is 'yes': expected a table, [asks] objective = \"…\""),
        ("[asks]", "[asks] has no objective: give how to make it ask over the return channel"),
        ('[asks]\nobjective = "x"\ntimeout = 1', "unknown key asks.timeout; known are objective, "),
        ('[asks]\nobjective = "x"\nexpects = "y"', "asks.expects needs asks.answer: "),
        ('[slow]\nobjective = "x"\ntimeout = -1', "slow.timeout is -1: expected seconds, "),
        ('[files]\n"a" = "b"', "it brings a repository and no objective: say what the agent "),
        ('objective = "x"\nrepository = "no"', "repository is 'no': there is no folder "),
        ('objective = "x"\nrepository = "."\n[files]', "repository and [files] both say what "),
        ('objective = "x"\n[files]\n"../a" = ""', "[files] names '../a': expected a path inside "),
        ('objective = "x"\n[files]\n"/a" = ""', "[files] names '/a': expected a path inside "),
        ('objective = "x"\n[files]\n".git/config" = ""', "[files] names '.git/config': expected "),
        ('objective = "x"\n[files]\n"a/b" = ""\na = ""', "[files] names 'a/b' and 'a': one of "),
        ('objective = "x"\n[files]\na = 1', "[files] is not a table of texts by path"),
    ],
)
def test_what_is_wrong_is_refused_by_name(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "caesar-conformance.toml"

    with pytest.raises(ProfileError, match=re.escape(f"{path}: {problem}")):
        parse_profile(text, path=path)


def test_programs_of_a_repository_stay_programs(tmp_path: Path) -> None:
    program = tmp_path / "run-tests.sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "notes.txt").write_text("")

    files = from_folder(tmp_path)
    files.commit_into(repository := Repository.create(tmp_path / "committed"))
    files.write_into(tmp_path / "written")

    assert "100755" in repository.git("ls-tree", "HEAD", "run-tests.sh")
    assert "100644" in repository.git("ls-tree", "HEAD", "notes.txt")
    assert repository.status() == ""
    for folder in ("committed", "written"):
        assert os.access(tmp_path / folder / "run-tests.sh", os.X_OK)


def test_a_repository_that_cannot_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "secret").write_text("")
    monkeypatch.setattr(Path, "read_bytes", refuse)

    with pytest.raises(ProfileError, match=r"repository is '\.': it cannot be read: .*secret"):
        parse_profile(
            'objective = "x"\nrepository = "."', path=tmp_path / "caesar-conformance.toml"
        )


def test_a_repository_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.conformance.repository_files.MAX_FILES", 1)
    for name in ("a", "b"):
        (tmp_path / name).write_text("")

    with pytest.raises(ProfileError, match="holds more than 1 files or"):
        parse_profile(
            'objective = "x"\nrepository = "."', path=tmp_path / "caesar-conformance.toml"
        )


@pytest.mark.parametrize("example", ["minimal", "node", "fixer"])
def test_the_profiles_of_the_examples_are_read(example: str) -> None:
    assert load_profile(EXAMPLES / example).path is not None
