"""Real CLIs that speak ACP, with a scripted model; absent ones are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.agents.selection import select
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.model.scripted_model import ScriptedModel
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.workspace.repository import Repository
from tests.clis.programs import find, how_to_install


@pytest.mark.parametrize(("cli", "arguments"), [("gemini", "--acp"), ("opencode", "acp")])
def test_it_works_as_under_its_own_command_line(
    cli: str, arguments: str, caesar_repo: Repository
) -> None:
    folder = find(cli)
    if folder is None:
        pytest.skip(how_to_install(cli))
    caesar_repo.commit({"README.md": "hello\n"})
    answers = ScriptedAnswers().permit("edit *", optional=True).permit("execute *", optional=True)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    agent = select(
        f"acp:{cli} {arguments}", project=Path.cwd(), start=Path.cwd(), environ={"PATH": path}
    )
    with ScriptedModel() as model:
        model.write("made.txt", "hi\n")
        model.report("success", "Made it.", changes=[("made.txt", "created")])
        settings = OrchestratorSettings(path_first=(folder,), grace=1.0, model_url=model.url_for)
        run = Orchestrator(
            agent, project=caesar_repo.path, settings=settings, answers=answers
        ).delegate("Make made.txt", timeout=90, channel=False)
        assert model.judge(stopped=False) is None
    assert (run.status, run.source) == ("success", "extracted")
    assert [change.path for change in run.changes] == ["made.txt"]
    assert run.usage.input_tokens
    assert all(permission.allowed for permission in run.permissions)
