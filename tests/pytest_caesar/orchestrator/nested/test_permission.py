"""Who may hand something on, without anybody doing so."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_caesar.agents.config import PolicyConfig
from pytest_caesar.agents.definitions import AgentDefinition
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
from pytest_caesar.orchestrator.nested.permission import Asker, guard_of, refuse

NAMES = ("lead", "helper")


def defined(**fields: Any) -> ProcessAgent:
    definition = AgentDefinition(name="lead", description="D", **fields)
    return ProcessAgent(id="lead", origin="definition", argv=("x",), definition=definition)


PLAIN = ProcessAgent(id="lead", origin="path", argv=("x",))


def asked(agent: AgentTarget, name: str = "helper", **more: Any) -> str | None:
    mode = more.pop("wanted", None)
    fields = {"depth": 1, "mode": "write", "policy": PolicyConfig(max_depth=4), "left": 60.0}
    return refuse(Asker(agent=agent, **{**fields, **more}), name=name, mode=mode, available=NAMES)


@pytest.mark.parametrize(
    "agent",
    [
        PLAIN,
        FunctionAgent(id="lead", target="a:b"),
        defined(spawns="*"),
        defined(spawns=("helper",)),
    ],
)
def test_who_may_ask_is_not_refused(agent: AgentTarget) -> None:
    assert asked(agent) is None


def test_the_name_comes_first_then_recursion_then_whom_one_may_start_then_the_rest() -> None:
    agent = defined()
    hopeless: dict[str, Any] = {"mode": "read-only", "wanted": "write", "left": 0.0}
    assert "Unknown agent" in str(asked(agent, "nobody", **hopeless))
    assert "from within itself" in str(asked(agent, "lead", **hopeless))
    assert "Cannot spawn 'helper'" in str(asked(agent, **hopeless))
    assert "read-only" in str(asked(PLAIN, **hopeless))
    assert "No time is left" in str(asked(PLAIN, left=0.0))


def test_where_nobody_delegates_any_more_a_definition_names_nobody() -> None:
    refusal = asked(defined(spawns="*"), depth=4)
    assert refusal == "Cannot spawn 'helper'. Allowed: none (spawns disabled for this agent)"


def test_only_an_agent_of_a_definition_carries_the_guard() -> None:
    assert guard_of(defined()) == "lead"
    assert guard_of(PLAIN) == ""
    assert guard_of(FunctionAgent(id="lead", target="a:b")) == ""
