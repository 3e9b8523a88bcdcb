"""``pytest-caesar init``: what it makes passes at once, and nothing is overwritten."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_caesar.cli import main
from pytest_caesar.commands.starter_files import AGENTS, LANGUAGES

ALONE = (
    "-p",
    "no:cacheprovider",
    "-p",
    "no:anyio",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:randomly",
)
HIDDEN = {"CI", "GITHUB_ACTIONS", "PYTEST_ADDOPTS"}


def passes(folder: Path, *options: str) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in HIDDEN and not name.startswith("PYTEST_XDIST")
    }
    command = [sys.executable, "-m", "pytest", "-q", *ALONE, *options]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_it_makes_passes_its_tests_and_the_conformance_kit(
    tmp_path: Path, language: str
) -> None:
    if language == "node" and shutil.which("node") is None:
        pytest.skip("Node is not installed: apt install nodejs")
    assert main(["init", str(tmp_path / "agent"), f"--language={language}"]) == 0
    # Its own tests, and the simplest requirements of the kit, which are marked so.
    passes(tmp_path / "agent", "tests", "--caesar-conformance", "-m", "minimal or not conformance")


def test_it_leaves_alone_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / ".gitignore").symlink_to(tmp_path / "nowhere")
    (tmp_path / "agent.py").write_text("mine")
    assert main(["init", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "kept   agent.py: it exists\n" in told
    assert "kept   .gitignore: it exists\n" in told
    assert (tmp_path / "agent.py").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()
    assert (tmp_path / "pyproject.toml").read_text() == "[project]\nname = 'x'\n"
    assert (tmp_path / "pytest.toml").read_text().startswith("[pytest]\n")
    assert main(["init", str(tmp_path)]) == 1
    assert 'caesar_agent = ["agent:main"]' in capsys.readouterr().out


def test_each_language_has_an_agent() -> None:
    assert set(AGENTS) == set(LANGUAGES)
