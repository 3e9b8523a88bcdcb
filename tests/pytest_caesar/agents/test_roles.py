from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.agents.config import PolicyConfig, Role
from pytest_caesar.agents.errors import SelectionError
from pytest_caesar.agents.roles import elect_agent, role_prompt
from pytest_caesar.agents.selection_context import Place
from pytest_caesar.agents.target import ProcessAgent
from tests.pytest_caesar.agents.conftest import Write

ROLE = Role(
    name="tester",
    agents=("codex", "gemini", "opencode"),
    mode="write",
    system_prompt_file="roles/tester.md",
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(project=tmp_path, start=tmp_path, path=str(tmp_path / "bin"))


def elect(place: Place, **policy: tuple[str, ...]) -> ProcessAgent:
    agent = elect_agent(ROLE, place, PolicyConfig(**policy))  # type: ignore[arg-type]
    assert isinstance(agent, ProcessAgent)
    return agent


def test_the_first_agent_whose_command_is_there_is_elected(write: Write, place: Place) -> None:
    write("bin/opencode", "#!/bin/sh\n", mode=0o755)
    assert elect(place).id == "opencode"
    write("bin/gemini", "#!/bin/sh\n", mode=0o755)
    assert elect(place).id == "gemini"


def test_policy_comes_before_the_order(write: Write, place: Place) -> None:
    for name in ROLE.agents:
        write(f"bin/{name}", "#!/bin/sh\n", mode=0o755)
    assert elect(place).id == "codex"
    assert elect(place, denied=("codex",)).id == "gemini"
    assert elect(place, allowed=("opencode",)).id == "opencode"


def test_when_none_can_run_each_reason_is_told(place: Place) -> None:
    with pytest.raises(SelectionError) as caught:
        elect(place, denied=("codex",))
    assert "codex: policy does not allow it" in caught.value.problem
    assert 'gemini: the command "gemini" was not found on PATH' in caught.value.problem


def test_the_prompt_of_the_role_comes_first(write: Write, place: Place, tmp_path: Path) -> None:
    write("bin/codex", "#!/bin/sh\n", mode=0o755)
    assert elect(place).system_prompt == ""
    write(".caesar/roles/tester.md", "Test it.\n")
    assert elect(place).system_prompt == "Test it."
    assert role_prompt(ROLE, tmp_path) == "Test it."


def test_a_prompt_that_is_no_file_is_not_waited_for(write: Write, tmp_path: Path) -> None:
    write(".caesar/roles/other.md", "")
    os.mkfifo(tmp_path / ".caesar" / "roles" / "tester.md")
    assert role_prompt(ROLE, tmp_path) == ""
