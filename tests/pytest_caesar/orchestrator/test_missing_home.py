"""Last words of an agent that miss a file of the user's home."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.orchestrator.missing_home import missing_home
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository

OWN = ", and the agent has a HOME of its own: --caesar-pass-env=HOME"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home of mine"
    for name in (".codex/auth.json", ".acme/token", ".acme/b", ".acme/c", ".acme/d"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("v4lue")
    return folder


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (b"cannot read /tmp/its/.acme/token: no such file", ["~/.acme/token is in your home"]),
        (b"open('~/.acme/token')", ["~/.acme/token is in your home"]),
        (
            b"$HOME/.acme/token, ${HOME}/.acme/b.",
            ["~/.acme/token is in your home", "~/.acme/b is in your home"],
        ),
        (
            b"~/.acme/token ~/.acme/b ~/.acme/c ~/.acme/d",
            [f"~/.acme/{name} is in your home" for name in ("token", "b", "c")],
        ),
        (b"Not logged in", ["~/.codex/auth.json, the login of Codex, is in your home"]),
        (b"Please set an Auth method in your settings", []),
        (b"/tmp/its/.acme/nothing ~/.acme ~/../x a~/.acme/token /x/tmp/its/.acme/token", []),
        (b"~/" + b"a" * 5000 + b"\x00\xff", []),
        (b"", []),
    ],
)
def test_a_file_that_is_in_the_home_of_the_user_is_named(
    home: Path, log: bytes, told: list[str]
) -> None:
    found = missing_home(b"", log, home=home, given="/tmp/its")
    assert [item.message for item in found] == [text + OWN for text in told]
    assert {item.code for item in found} <= {"variable-not-passed"}


def test_nothing_is_missed_where_home_was_passed(home: Path) -> None:
    assert missing_home(b"Not logged in, ~/.acme/token", home=home, given=str(home)) == []


def test_a_wrapper_whose_cli_is_not_logged_in_is_told_which_option_helps(
    caesar_repo: Repository, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("HOME", str(home))
    program = caesar_repo.path.parent / "agent.sh"
    program.write_text("#!/bin/sh\necho 'Not logged in' >&2\nexit 1\n")
    program.chmod(0o755)
    run = Orchestrator(program, project=caesar_repo.path).delegate("Work")
    assert [item.message for item in run.diagnostics if item.code == "variable-not-passed"] == [
        "~/.codex/auth.json, the login of Codex, is in your home" + OWN
    ]
    assert "v4lue" not in repr(run.diagnostics)
