"""Commands that are started as modules, and the one clear refusal on Windows."""

from __future__ import annotations

import subprocess
import sys

import pytest


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("module", "program"),
    [
        ("pytest_caesar", "pytest-caesar"),
        ("pytest_caesar.cli", "pytest-caesar"),
        ("caesar_agent", "caesar-agent"),
        ("caesar_agent.cli", "caesar-agent"),
    ],
)
def test_each_command_can_be_started_as_a_module(module: str, program: str) -> None:
    done = python("-m", module, "--version")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{program} ")


def test_a_command_that_is_started_as_a_module_passes_on_its_exit_code() -> None:
    assert python("-m", "pytest_caesar.cli").returncode == 2


@pytest.mark.parametrize("package", ["pytest_caesar", "caesar_agent"])
def test_a_refusal_shows_what_it_quotes_without_its_control_characters(package: str) -> None:
    command = "recover" if package == "pytest_caesar" else "questions"
    done = python("-m", package, command, "\x1b[31mred\x07")
    assert done.returncode == 2
    assert r"\x1b[31mred\x07" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    "statement",
    ["import pytest_caesar.supervision.reaper", "from pytest_caesar import Orchestrator"],
)
def test_on_windows_the_orchestrator_is_refused_by_name(statement: str) -> None:
    done = python("-c", f"import sys; sys.platform = 'win32'; {statement}")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: pytest_caesar.orchestrator needs Linux or macOS: Windows")
