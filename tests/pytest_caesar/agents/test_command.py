from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.agents.command import MAX_ARGUMENT_BYTES, build_command
from pytest_caesar.agents.errors import BadArgument, CommandNotFoundError, PromptTooLong
from pytest_caesar.agents.target import ProcessAgent

TRUE = "/bin/sh"
AGENT = ProcessAgent(id="a", origin="config", argv=(TRUE, "{{prompt}}"))


def build(agent: ProcessAgent, **more: Any) -> tuple[tuple[str, ...], Path]:
    arguments: dict[str, Any] = {
        "prompt": "P",
        "workspace": Path("/w"),
        "task_dir": Path("/t"),
        "report_path": Path("/t/report.json"),
        "model": None,
        "network": True,
        "path": "/bin",
    }
    return build_command(agent, **{**arguments, **more})


def with_args(*args: str, **more: Any) -> ProcessAgent:
    return dataclasses.replace(AGENT, argv=(TRUE, *args), **more)


def test_argv_starts_with_the_absolute_program_and_the_workspace_is_the_working_folder() -> None:
    assert build(dataclasses.replace(AGENT, argv=("sh", "{{prompt}}"))) == (
        ("/bin/sh", "P"),
        Path("/w"),
    )


def test_cwd_mode_flag_works_in_the_task_directory() -> None:
    agent = with_args("{{prompt}}", "--dir", "{{workspace}}", cwd_mode="flag")
    assert build(agent) == ((TRUE, "P", "--dir", "/w"), Path("/t"))


def test_network_args_are_added_when_the_task_has_the_network() -> None:
    agent = with_args("{{prompt}}", network_args=("--net", "{{taskDir}}"))
    assert build(agent)[0] == (TRUE, "P", "--net", "/t")
    assert build(agent, network=False)[0] == (TRUE, "P")


def test_network_args_lose_a_flag_without_its_value_too() -> None:
    agent = with_args("{{prompt}}", network_args=("--via", "{{model}}"))
    assert build(agent)[0] == (TRUE, "P")


def test_extra_arguments_come_last_and_are_not_substituted() -> None:
    assert build(AGENT, extra_args=["--e", "{{prompt}}"])[0] == (TRUE, "P", "--e", "{{prompt}}")


def test_the_tasks_model_comes_before_the_agents_own() -> None:
    agent = with_args("{{prompt}}", "-m", "{{model}}", model="own")
    assert build(agent)[0][-1] == "own"
    assert build(agent, model="asked")[0][-1] == "asked"


def test_an_agent_without_the_prompt_in_its_template_does_not_get_it() -> None:
    assert build(with_args())[0] == (TRUE,)


def test_a_prompt_that_shares_its_argument_with_a_missing_value_is_refused() -> None:
    with pytest.raises(BadArgument) as caught:
        build(with_args("{{prompt}} as {{model}}"))
    assert str(caught.value) == (
        'cannot run agent "a": the only argument with {{prompt}} also holds {{model}}, which has '
        "no value, so the agent would never see its task: give {{prompt}} an argument of its own"
    )
    assert build(with_args("{{prompt}} as {{model}}"), model="m")[0] == (TRUE, "P as m")


def test_the_longest_argument_that_the_system_takes_is_taken() -> None:
    prompt = "é" * (MAX_ARGUMENT_BYTES // 2)
    argv, _ = build(AGENT, prompt=prompt)
    assert argv[1] == prompt


def test_one_byte_more_is_refused_with_the_remedy() -> None:
    with pytest.raises(PromptTooLong) as caught:
        build(AGENT, prompt="x" * (MAX_ARGUMENT_BYTES + 1))
    assert (caught.value.size, caught.value.limit) == (131_072, 131_071)
    assert "task.json" in str(caught.value)
    assert "stdin" in str(caught.value)


@pytest.mark.parametrize("prompt", ["a\0b", "half \ud800"])
def test_what_no_program_can_be_given_is_refused(prompt: str) -> None:
    with pytest.raises(BadArgument):
        build(AGENT, prompt=prompt)


def test_the_program_is_looked_for_on_the_childs_path() -> None:
    with pytest.raises(CommandNotFoundError):
        build(dataclasses.replace(AGENT, argv=("sh", "{{prompt}}")), path="/nowhere")
