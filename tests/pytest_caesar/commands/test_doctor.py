"""``pytest-caesar doctor``: what would keep a delegation from working."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.cli import main


@pytest.fixture
def no_clis(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let PATH hold git and a known CLI of ours alone."""
    import shutil

    git = shutil.which("git")
    assert git is not None
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(git)
    program = folder / "codex"
    program.write_text("#!/bin/sh\necho codex-cli 9.9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def test_it_names_logins_and_never_their_values(
    no_clis: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    assert main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert "codex-cli 9.9" in told
    assert "--caesar-pass-env=OPENAI_API_KEY" in told
    assert "very-secret" not in told
    assert {line.split()[0] for line in told.splitlines()} <= {"ok", "note"}


def test_a_login_is_there_only_where_its_file_is(
    no_clis: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("CODEX_API_KEY", "OPENAI_API_KEY", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["doctor"]) == 0
    assert "Codex: no login was found (CODEX_API_KEY, " in capsys.readouterr().out

    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "auth.json").write_text("v4lue")
    assert main(["doctor"]) == 0
    told = capsys.readouterr().out
    assert "Codex: ~/.codex/auth.json is there; pass it on with --caesar-pass-env=HOME" in told
    assert "v4lue" not in told


def test_an_agent_that_cannot_be_started_is_to_be_fixed(
    no_clis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", str(tmp_path / "nothing.sh")]) == 1
    fixes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("fix")]
    assert len(fixes) == 1
    assert "nothing.sh" in fixes[0]


@pytest.mark.parametrize(("name", "code"), [("codex", 0), ("opencode", 1)])
def test_a_known_cli_can_be_started_only_where_its_program_is(
    no_clis: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    no_clis.joinpath("opencode").unlink(missing_ok=True)
    assert main(["doctor", name]) == code
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("fix " if code else "ok ")
    assert name in last
