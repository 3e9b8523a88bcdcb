from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.agents.definitions import AgentDefinition
from pytest_caesar.agents.discovery import Discovery, Found
from pytest_caesar.agents.spawning import (
    PLAN_MODE_PROMPT,
    SpawnRequest,
    child_session,
    known_tools,
    may_delegate_at,
    output_schema,
    plan_mode,
    refuse_spawn,
    spawn_allowed,
    spawn_policy,
)
from pytest_caesar.agents.tool import Granted, Refused, TaskTool
from pytest_caesar.agents.workflow_commands import (
    WorkflowCommand,
    discover_commands,
    get_command,
)
from tests.pytest_caesar.agents.conftest import Write

FOX = AgentDefinition(name="fox", description="d", system_prompt="Jump.")
THERE = ("fox", "owl")


def refusal(name: str, spawns: str = "*", blocked: str = "") -> str | None:
    return refuse_spawn(SpawnRequest(name=name, parent_spawns=spawns, blocked_agent=blocked), THERE)


# refusals, word for word


def test_an_agent_that_exists_and_is_allowed_is_not_refused() -> None:
    assert refusal("fox") is None
    assert refusal("fox", spawns="owl, fox") is None


def test_an_unknown_agent_is_answered_with_what_there_is() -> None:
    assert refusal("cat") == 'Unknown agent "cat". Available: fox, owl'
    assert refuse_spawn(SpawnRequest(name="cat"), ()) == 'Unknown agent "cat". Available: none'


def test_an_agent_cannot_start_itself_again() -> None:
    assert refusal("fox", blocked="fox") == (
        "Cannot spawn fox agent from within itself (recursion prevention). "
        "Use a different agent type."
    )
    assert refusal("fox", blocked="FOX") is None


def test_policy_is_answered_with_what_is_allowed() -> None:
    assert refusal("fox", spawns="owl") == "Cannot spawn 'fox'. Allowed: owl"
    assert refusal("fox", spawns="") == (
        "Cannot spawn 'fox'. Allowed: none (spawns disabled for this agent)"
    )


def test_unknown_comes_before_recursion_and_recursion_before_policy() -> None:
    assert "Unknown agent" in (refusal("cat", spawns="", blocked="cat") or "")
    assert "recursion prevention" in (refusal("fox", spawns="", blocked="fox") or "")


@pytest.mark.parametrize("policy", [" * ", "owl, *", "Fox", "fo", "fox;owl"])
def test_only_a_star_alone_allows_all(policy: str) -> None:
    assert not spawn_allowed("fox", policy)


@given(st.lists(st.from_regex(r"[a-z_-]{1,6}", fullmatch=True), min_size=1, max_size=5))
def test_exactly_the_names_of_a_list_are_allowed(names: list[str]) -> None:
    agent = replace(FOX, spawns=tuple(names))
    policy = spawn_policy(agent)
    assert all(spawn_allowed(name, policy) for name in names)
    assert not spawn_allowed("".join(names) + "x" * 7, policy)


@pytest.mark.parametrize(
    ("spawns", "policy"), [(None, ""), ("*", "*"), (("*",), "*"), (("a", "b"), "a,b")]
)
def test_the_policy_of_a_child_is_what_its_definition_says(spawns: object, policy: str) -> None:
    assert spawn_policy(replace(FOX, spawns=spawns)) == policy  # type: ignore[arg-type]


# depth


@pytest.mark.parametrize(
    ("max_depth", "depths"), [(0, ()), (1, (0,)), (2, (0, 1)), (-1, (0, 1, 2, 3))]
)
def test_the_limit_says_at_which_depths_one_may_delegate(
    max_depth: int, depths: tuple[int, ...]
) -> None:
    assert tuple(depth for depth in range(4) if may_delegate_at(depth, max_depth)) == depths


def test_at_the_limit_a_child_loses_the_task_tool_and_whom_it_may_start() -> None:
    agent = replace(FOX, tools=("read", "task", "submit_result"), spawns="*")
    deep = child_session(agent, parent_depth=1, max_depth=2)
    assert (deep.depth, deep.tools, deep.spawns, deep.may_delegate) == (
        2,
        ("read", "submit_result"),
        "",
        False,
    )
    shallow = child_session(agent, parent_depth=0, max_depth=2)
    assert (shallow.depth, shallow.tools, shallow.spawns) == (1, agent.tools, "*")


def test_above_the_limit_spawns_bring_the_task_tool() -> None:
    agent = replace(FOX, tools=("read",), spawns=("owl",))
    assert child_session(agent).tools == ("read", "task")
    assert child_session(agent, max_depth=1).tools == ("read",)


def test_an_agent_without_restrictions_has_the_tool_and_may_start_nobody() -> None:
    session = child_session(FOX)
    assert (session.tools, session.may_delegate, session.spawns) == (None, True, "")
    assert child_session(FOX, parent_depth=1).may_delegate is False


def test_who_starts_a_child_sets_its_recursion_guard() -> None:
    assert child_session(FOX).blocked_agent == "fox"


def test_tools_that_nobody_knows_vanish() -> None:
    assert known_tools(("read", "glob", "submit_result"), ["read", "bash"]) == (
        "read",
        "submit_result",
    )


# schemas


@pytest.mark.parametrize(
    ("own", "call", "session", "chosen"),
    [(1, 2, 3, 1), (None, 2, 3, 2), (None, None, 3, 3), (False, 2, 3, False), ({}, 2, 3, {})],
)
def test_the_agents_own_schema_comes_first_and_only_none_is_passed_over(
    own: object, call: object, session: object, chosen: object
) -> None:
    assert output_schema(replace(FOX, output=own), call, session) == chosen


# plan mode


def test_plan_mode_computes_a_restricted_agent_and_starts_the_original() -> None:
    agent = replace(FOX, tools=("bash",), spawns="*", model=("m",), thinking_level="high", output=1)
    plan = plan_mode(agent)
    assert plan.effective.tools == ("read", "grep", "find", "ls", "lsp", "web_search")
    assert plan.effective.spawns is None
    assert plan.effective.system_prompt == PLAN_MODE_PROMPT + "Jump."
    assert plan.started is agent
    assert (plan.model, plan.thinking_level, plan.output) == (("m",), "high", 1)


# the tool


def discovered(*agents: AgentDefinition) -> Discovery:
    return Discovery(agents=tuple(Found(agent=agent) for agent in agents))


def test_the_description_may_be_older_than_what_a_call_finds() -> None:
    there = [FOX]
    tool = TaskTool(lambda: discovered(*there), environ={})
    assert tool.call("owl") == Refused(text='Unknown agent "owl". Available: fox')
    there.append(replace(FOX, name="owl"))
    assert tool.description == "- fox: d"
    assert isinstance(tool.call("owl"), Granted)
    there.pop(0)
    assert tool.call("fox") == Refused(text='Unknown agent "fox". Available: owl')


def test_the_recursion_guard_is_read_when_the_tool_is_made() -> None:
    environ = {"PI_BLOCKED_AGENT": "fox"}
    tool = TaskTool(lambda: discovered(FOX), environ=environ)
    environ["PI_BLOCKED_AGENT"] = ""
    answer = tool.call("fox")
    assert isinstance(answer, Refused)
    assert "recursion prevention" in answer.text


def test_a_granted_child_knows_its_depth() -> None:
    tool = TaskTool(lambda: discovered(FOX), environ={}, depth=1, max_depth=2)
    answer = tool.call("fox")
    assert isinstance(answer, Granted)
    assert (answer.session.depth, answer.session.may_delegate) == (2, False)


# workflow commands


def test_commands_are_found_beside_agents_and_the_first_of_a_name_wins(
    write: Write, tmp_path: Path
) -> None:
    write("p/.claude/commands/ship.md", "---\ndescription: mine\n---\nGo.")
    write("h/.claude/commands/ship.md", "theirs")
    write("h/.claude/commands/plain.md", "No front matter.")
    bundled = [
        WorkflowCommand(
            name=name, description="", instructions="b", source="bundled", file_path="embedded"
        )
        for name in ("ship", "init")
    ]
    commands, findings = discover_commands(tmp_path / "p", tmp_path / "h", bundled=bundled)
    assert findings == ()
    assert [(c.name, c.source, c.instructions) for c in commands] == [
        ("ship", "project", "Go."),
        ("plain", "user", "No front matter."),
        ("init", "bundled", "b"),
    ]
    assert get_command(commands, "ship") is commands[0]
    assert get_command(commands, "Ship") is None


def test_a_command_that_cannot_be_read_is_told(write: Write, tmp_path: Path) -> None:
    folder = write("p/.codex/commands/a.txt").parent
    (folder / "a.md").symlink_to("nowhere")
    commands, findings = discover_commands(tmp_path / "p", None)
    assert commands == ()
    assert [finding.code for finding in findings] == ["definition-skipped"]
