"""One real CLI at a time; absent ones are skipped with the command that installs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.model.scripted_model import ScriptedModel
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.runs.run import Run
from pytest_caesar.session.fixtures import counted_ids
from pytest_caesar.workspace.repository import Repository
from tests.clis.programs import PACKAGES, find, how_to_install

Delegate: TypeAlias = Callable[..., Run]


@pytest.fixture(params=PACKAGES)
def cli(request: pytest.FixtureRequest) -> str:
    """Return the id of a CLI that is installed."""
    name: str = request.param
    if find(name) is None:
        pytest.skip(how_to_install(name))
    return name


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """Make a model for one test; what goes wrong with its script fails the test."""
    with ScriptedModel() as made:
        yield made


@pytest.fixture
def delegate(cli: str, model: ScriptedModel, caesar_repo: Repository) -> Delegate:
    """Delegate to the CLI, on a repository with one file."""
    caesar_repo.commit({"src/parser.py": "def parse(s):\n    return s[0]\n"})
    folder = find(cli)
    assert folder is not None
    defaults = OrchestratorSettings()
    settings = OrchestratorSettings(
        path_first=(folder, *defaults.path_first),
        grace=1.0,
        model_url=model.url_for,
        model_listener=model.listen_at,
    )

    def run(
        objective: str = "Fix the parser",
        *,
        answers: ScriptedAnswers | None = None,
        timeout: float = 90.0,
        **options: Any,
    ) -> Run:
        orchestrator = Orchestrator(
            cli,
            project=caesar_repo.path,
            settings=settings,
            answers=answers,
            new_id=new_id,
        )
        return orchestrator.delegate(objective, timeout=timeout, **options)

    new_id = counted_ids()
    return run
