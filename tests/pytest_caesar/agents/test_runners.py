from __future__ import annotations

import pytest

from pytest_caesar.agents.definitions import AgentDefinition
from pytest_caesar.agents.runners import run_definition
from pytest_caesar.agents.target import ProcessAgent


def runner(cli: str | None = None, model: str | None = None) -> ProcessAgent:
    return ProcessAgent(id="r", origin="config", argv=("x",), cli=cli, model=model)


def definition(**more: object) -> AgentDefinition:
    return AgentDefinition(name="fox", description="d", system_prompt="Jump.", **more)  # type: ignore[arg-type]


def test_an_agent_without_restrictions_is_told_nothing_about_tools() -> None:
    agent = run_definition(definition(), runner(), ident="fox")
    assert (agent.system_prompt, agent.tools, agent.id) == ("Jump.", None, "fox")


def test_an_agent_with_nothing_but_its_result_is_told_so() -> None:
    agent = run_definition(definition(tools=("submit_result",)), runner(), ident="fox")
    assert agent.system_prompt == "Jump.\n\nUse no tools at all."


@pytest.mark.parametrize(
    ("models", "cli", "asked"),
    [
        (("opus",), "claude", "opus"),
        (("opus",), "codex", None),
        (("opus", "gpt-x"), "codex", "gpt-x"),
        (("inherit",), "claude", None),
        (("smol",), None, None),
        (None, "codex", None),
    ],
)
def test_the_first_model_that_means_something_to_the_cli_is_asked_for(
    models: tuple[str, ...] | None, cli: str | None, asked: str | None
) -> None:
    assert run_definition(definition(model=models), runner(cli), ident="fox").model == asked


def test_the_runners_own_model_stays_when_the_definition_has_none() -> None:
    assert run_definition(definition(), runner(model="m"), ident="fox").model == "m"
