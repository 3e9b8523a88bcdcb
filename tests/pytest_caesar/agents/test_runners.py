from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_caesar.agents.definitions import AgentDefinition
from pytest_caesar.agents.runners import at_depth, run_definition
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


@pytest.mark.parametrize(
    ("fields", "depth", "max_depth", "tools"),
    [
        ({"tools": ("read", "task", "submit_result"), "spawns": "*"}, 1, 3, "read, task"),
        ({"tools": ("read", "task", "submit_result"), "spawns": "*"}, 2, 3, "read"),
        ({"tools": ("read", "submit_result"), "spawns": ("owl",)}, 1, 3, "read, task"),
        ({"tools": ("read", "submit_result"), "spawns": ("owl",)}, 1, 2, "read"),
        ({"tools": ("read", "submit_result")}, 1, 9, "read"),
    ],
)
def test_the_depth_decides_about_the_tool_that_hands_tasks_on(
    fields: dict[str, Any], depth: int, max_depth: int, tools: str
) -> None:
    agent = run_definition(definition(**fields), runner(), ident="fox")
    agent = replace(agent, system_prompt=f"As a role.\n\n{agent.system_prompt}")
    deep = at_depth(agent, depth=depth, max_depth=max_depth)
    assert isinstance(deep, ProcessAgent)
    assert deep.system_prompt == (f"As a role.\n\nJump.\n\nUse no other tools than these: {tools}.")
    assert [tool for tool in deep.tools or () if tool != "submit_result"] == tools.split(", ")
    assert deep.definition == agent.definition


def test_an_agent_that_is_no_definition_stays_as_it_is_at_any_depth() -> None:
    assert at_depth(runner(), depth=5, max_depth=5) == runner()
    free = run_definition(definition(), runner(), ident="fox")
    assert at_depth(free, depth=5, max_depth=5) == free
