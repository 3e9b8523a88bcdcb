"""README, tutorial and how-to pages work: their files, their commands, and what those print."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

# Before the first run in this process: pytester takes away again what a run has imported, and
# a package still has the former copy of its module then.
import pytest_caesar.orchestrator.nested.server  # noqa: F401
from tests.conftest import ROOT

Shell: TypeAlias = Callable[[str], str]

PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "tutorial.md",
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
]
BLOCK = re.compile(r"(?:`([\w./]+)`:\n\n)?^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
QUIET = ("-p", "no:cacheprovider", "-p", "no:randomly")
NEEDED = {"agent.mjs": "node"}
MODULES = {"assistant:main": "pydantic_ai", "graph:main": "langchain_core"}
"""What an agent imports that is not everywhere: the first needs Python 3.11, and the second brings
a plugin of pytest along, so that nobody is made to install it."""


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Return each command of a console block with the lines that it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        yield command, lines


def assert_told(expected: list[str], printed: str, command: str) -> None:
    """Compare in order; ``…`` and times stand for anything on one line, which may be folded."""
    rest = printed
    for line in expected:
        parts = re.split("…|[0-9]+(?= ms)", line)
        pattern = ".*?".join(re.sub(r"(?:\\ )+", r"\\s+", re.escape(part)) for part in parts)
        found = re.search(pattern, rest)
        assert found, f"$ {command}\nshould print {line!r}, and printed:\n{printed}"
        rest = rest[found.end() :]


@pytest.fixture
def shell(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Return what carries out a command of a page; pytest alone runs in this process, for time."""
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if not shutil.which("codex"):
        here = f"{_stand_in(pytester.path / 'stand-ins', 'codex')}{os.pathsep}{here}"
    for name, value in {"PATH": here, "COLUMNS": "200", "PYTHONPATH": str(ROOT)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CI", raising=False)  # where nothing is recorded

    def run(command: str) -> str:
        if command.startswith("pytest "):
            result = pytester.runpytest_inprocess(*QUIET, *shlex.split(command)[1:])
            return f"{result.stdout.str()}\n{result.stderr.str()}"
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=pytester.path,
            env={**os.environ, "PYTEST_ADDOPTS": shlex.join(QUIET)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}"
        return done.stdout

    return run


def _stand_in(folder: Path, name: str) -> Path:
    """Put a program in the place of a CLI that is not installed."""
    folder.mkdir()
    (folder / name).write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tests.stand_ins.{name} "$@"\n'
    )
    (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_works_as_it_is_told(page: Path, pytester: pytest.Pytester, shell: Shell) -> None:
    ran = 0
    missing: set[str] = set()
    for name, language, text in BLOCK.findall(page.read_text("utf-8")):
        if name:
            (pytester.path / name).parent.mkdir(parents=True, exist_ok=True)
            (pytester.path / name).write_text(text, "utf-8")
        elif language == "console":
            for command, expected in commands(text):
                if any(file in command and not shutil.which(NEEDED[file]) for file in NEEDED):
                    continue
                absent = {
                    module
                    for agent, module in MODULES.items()
                    if agent in command and importlib.util.find_spec(module) is None
                }
                missing |= absent
                if absent:
                    continue
                ran += 1
                assert_told(expected, shell(command), command)
    if missing and not ran:
        pytest.skip(f"pip install {' '.join(sorted(missing)).replace('_', '-')}")
    assert ran, (
        f"{page.name} runs nothing: give it a console block with a command and what it prints"
    )
