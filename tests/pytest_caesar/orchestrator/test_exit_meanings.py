"""What the exit code of a known CLI means is said where nobody reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.agents.selection import select
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository


def run_codex(tmp_path: Path, exit_code: int) -> Run:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "codex"
    program.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    program.chmod(0o755)
    agent = select("codex", project=repository.path, start=repository.path)
    settings = OrchestratorSettings(path_first=(str(folder),))
    return Orchestrator(agent, project=repository.path, settings=settings).delegate("Look.")


@pytest.mark.parametrize(
    ("exit_code", "ending"),
    [
        (2, "exit code 2 (it was called in a way it does not know)."),
        (9, "exit code 9."),
    ],
)
def test_an_exit_code_of_a_known_cli_is_explained_where_its_meaning_is_known(
    tmp_path: Path, exit_code: int, ending: str
) -> None:
    run = run_codex(tmp_path, exit_code)
    assert run.source == "synthesized"
    assert f"The process ended with {ending}" in run.summary
