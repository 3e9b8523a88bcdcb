from __future__ import annotations

import os
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.agents.errors import ConfigError, SelectionError
from pytest_caesar.agents.selection import select, select_all
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
from tests.pytest_caesar.agents.conftest import Write

SH = "#!/bin/sh\n"
CONFIG = """\
[[agent]]
id = "reviewer2"
bin = "my-agent.sh"
args = ["{{prompt}}"]
"""
DEFINITION = "---\nname: {name}\ndescription: d\n---\nDo it.\n"


def choose(text: str, folder: Path, **more: Any) -> AgentTarget:
    arguments: dict[str, Any] = {
        "project": folder,
        "start": folder,
        "environ": {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(folder / "home")},
    }
    return select(text, **{**arguments, **more})


def process(text: str, folder: Path, **more: Any) -> ProcessAgent:
    agent = choose(text, folder, **more)
    assert isinstance(agent, ProcessAgent)
    return agent


def refusal(text: str, folder: Path, **more: Any) -> SelectionError:
    with pytest.raises(SelectionError) as caught:
        choose(text, folder, **more)
    return caught.value


# paths


@pytest.mark.parametrize("text", ["agent.sh", "./agent.sh", "sub/../agent.sh"])
def test_an_executable_file_is_run_directly(text: str, write: Write, tmp_path: Path) -> None:
    write("sub/x")
    file = write("agent.sh", SH, mode=0o755)
    agent = process(text, tmp_path)
    assert (agent.id, agent.origin, agent.argv) == ("agent", "path", (str(file),))


def test_a_path_is_meant_from_the_starting_folder_not_from_the_project(
    write: Write, tmp_path: Path
) -> None:
    file = write("tests/agent.sh", SH, mode=0o755)
    assert process("agent.sh", tmp_path, start=tmp_path / "tests").argv == (str(file),)


def test_a_python_file_is_run_by_this_interpreter(write: Write, tmp_path: Path) -> None:
    file = write("agent.py", "print()\n")
    assert process("agent.py", tmp_path).argv == (sys.executable, str(file))


def test_an_executable_python_file_with_its_own_first_line_is_run_directly(
    write: Write, tmp_path: Path
) -> None:
    file = write("agent.py", "#!/usr/bin/env python3\n", mode=0o755)
    assert process("agent.py", tmp_path).argv == (str(file),)


def test_a_node_file_is_run_by_node(write: Write, tmp_path: Path) -> None:
    file = write("agent.mjs")
    assert process("agent.mjs", tmp_path).argv == ("node", str(file))


def test_a_link_is_kept_because_a_program_may_go_by_its_name(tmp_path: Path, write: Write) -> None:
    write("real", SH, mode=0o755)
    (tmp_path / "alias").symlink_to("real")
    agent = process("./alias", tmp_path)
    assert (agent.id, agent.argv) == ("alias", (str(tmp_path / "alias"),))


def test_a_script_that_is_not_executable_says_chmod(write: Write, tmp_path: Path) -> None:
    file = write("agent.sh", SH)
    assert str(refusal("./agent.sh", tmp_path)) == (
        f'cannot select the agent "./agent.sh": "{file}" is not executable: run chmod +x {file}'
    )


def test_a_folder_says_what_to_name(write: Write, tmp_path: Path) -> None:
    write("pkg/__main__.py")
    write("empty/x")
    assert f'--caesar-agent="python {tmp_path}/pkg"' in str(refusal("pkg", tmp_path))
    assert refusal("empty", tmp_path).problem == (
        f'"{tmp_path}/empty" is a folder; name the program in it'
    )


def test_a_pipe_is_not_an_agent(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert "not a regular file" in refusal("pipe.py", tmp_path).problem


def test_an_id_is_safe_in_branches_and_test_names(write: Write, tmp_path: Path) -> None:
    write("mein agent (ß).sh", SH, mode=0o755)
    assert process("mein agent (ß).sh", tmp_path).id == "mein-agent"


# functions


def test_a_function_is_found_without_importing_it(write: Write, tmp_path: Path) -> None:
    write("pack/__init__.py", "raise RuntimeError('imported')\n")
    write("pack/mod.py", "def work(agent): ...\n")
    assert choose("pack.mod:work", tmp_path) == FunctionAgent(
        id="work", target="pack.mod:work", import_root=str(tmp_path)
    )


def test_a_function_can_be_run_in_a_process(write: Write, tmp_path: Path) -> None:
    write("mod.py", "def work(agent): ...\n")
    agent = choose("mod:work", tmp_path, subprocess=True)
    assert isinstance(agent, FunctionAgent)
    assert agent.subprocess is True


def test_a_missing_module_is_named_with_the_near_one(write: Write, tmp_path: Path) -> None:
    write("worker.py")
    problem = refusal("worke:main", tmp_path).problem
    assert problem.startswith('there is no module "worke" (looked for in ')
    assert problem.endswith('did you mean "worker"?')


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("worker.py:main", "worker:main"),
        ("./worker.py:main", "worker:main"),
        ("pack/mod.py:work.inner", "pack.mod:work.inner"),
        ("pack/mod:work", "pack.mod:work"),
    ],
)
def test_a_function_that_is_named_by_its_file_is_named_by_its_module(
    write: Write, tmp_path: Path, text: str, meant: str
) -> None:
    write("worker.py")
    write("pack/mod.py")
    assert f'; did you mean "{meant}"?' in refusal(text, tmp_path).problem


@pytest.mark.parametrize("text", ["other.py:main", "worker.py:", "worker.py:a b", "../worker.py:f"])
def test_no_function_is_meant_where_there_is_none(write: Write, tmp_path: Path, text: str) -> None:
    write("worker.py")
    assert re.search(r'did you mean "[^"]*:', refusal(text, tmp_path).problem) is None


def test_a_missing_function_is_named_with_the_near_one(write: Write, tmp_path: Path) -> None:
    file = write("mod.py", "def work(agent): ...\n")
    assert refusal("mod:wrok", tmp_path).problem == (
        f'the module "mod" ({file}) has no "wrok"; did you mean "work"?'
    )


# configuration, catalogue


def test_an_agent_of_the_configuration_is_found_by_its_id(write: Write, tmp_path: Path) -> None:
    write(".caesar/config.toml", CONFIG)
    agent = process("reviewer2", tmp_path)
    assert (agent.origin, agent.argv, agent.project) == (
        "config",
        ("my-agent.sh", "{{prompt}}"),
        str(tmp_path),
    )


def test_a_broken_configuration_is_an_error_of_its_own(write: Write, tmp_path: Path) -> None:
    write(".caesar/config.toml", "[polcy]\n")
    with pytest.raises(ConfigError):
        choose("anything", tmp_path)


def test_a_path_does_not_need_the_configuration(write: Write, tmp_path: Path) -> None:
    write(".caesar/config.toml", "[polcy]\n")
    write("agent.sh", SH, mode=0o755)
    assert process("./agent.sh", tmp_path).id == "agent"


def test_the_users_own_agents_count_only_when_asked_for(write: Write, tmp_path: Path) -> None:
    write("home/.config/caesar/config.toml", CONFIG)
    refusal("reviewer2", tmp_path)
    assert process("reviewer2", tmp_path, user_config=True).id == "reviewer2"


def test_a_known_cli_is_found_by_its_name(tmp_path: Path) -> None:
    agent = process("codex", tmp_path)
    assert (agent.origin, agent.cli, agent.dialect, agent.brief_on_stdin) == (
        "catalogue",
        "codex",
        "codex",
        True,
    )


# definitions


def test_a_definition_needs_a_runner_and_says_so(write: Write, tmp_path: Path) -> None:
    file = write(".claude/agents/sec.md", DEFINITION.format(name="sec"))
    error = refusal("sec", tmp_path)
    assert f"it is an agent definition ({file})" in error.problem
    assert "--caesar-runner=NAME" in error.problem


def test_a_definition_is_run_through_a_known_cli(write: Write, tmp_path: Path) -> None:
    text = "---\nname: sec\ndescription: d\ntools: Read, Grep\nmodel: gpt-x\n---\nLook.\n"
    file = write(".claude/agents/sec.md", text)
    agent = process("sec", tmp_path, runner="codex")
    assert (agent.id, agent.origin, agent.cli, agent.model) == (
        "sec",
        "definition",
        "codex",
        "gpt-x",
    )
    assert agent.system_prompt == "Look.\n\nUse no other tools than these: read, grep."
    assert agent.tools == ("read", "grep", "submit_result")
    assert agent.where == str(file)
    assert agent.definition is not None


def test_a_definition_is_run_through_an_agent_of_the_configuration_or_a_program(
    write: Write, tmp_path: Path
) -> None:
    write(".caesar/config.toml", CONFIG)
    write("fake.sh", SH, mode=0o755)
    write(".claude/agents/sec.md", DEFINITION.format(name="sec"))
    assert process("sec", tmp_path, runner="reviewer2").argv == ("my-agent.sh", "{{prompt}}")
    assert process("sec", tmp_path, runner="./fake.sh").argv == (str(tmp_path / "fake.sh"),)


def test_a_runner_that_is_none_is_named(write: Write, tmp_path: Path) -> None:
    write(".claude/agents/sec.md", DEFINITION.format(name="sec"))
    assert (
        'its runner "codx": there is no such file'
        in refusal("sec", tmp_path, runner="codx").problem
    )


def test_a_definition_can_be_given_as_a_path(write: Write, tmp_path: Path) -> None:
    write("elsewhere/sec.md", DEFINITION.format(name="sec"))
    agent = process("elsewhere/sec.md", tmp_path, runner="codex")
    assert (agent.id, agent.system_prompt) == ("sec", "Do it.")


def test_a_markdown_file_that_is_no_definition_says_what_is_missing(
    write: Write, tmp_path: Path
) -> None:
    write("notes.md", "# Notes\n")
    problem = refusal("notes.md", tmp_path, runner="codex").problem
    assert problem == (
        "it is read as an agent definition, but there is no front matter, since the file does not "
        "start with ---"
    )


def test_the_users_definitions_count_only_when_asked_for_and_may_be_moved(
    write: Write, tmp_path: Path
) -> None:
    write("home/.other/agent/agents/sec.md", DEFINITION.format(name="sec"))
    environ = {"HOME": str(tmp_path / "home"), "PI_CONFIG_DIR": ".other"}
    refusal("sec", tmp_path, runner="codex", environ=environ)
    assert process("sec", tmp_path, runner="codex", environ=environ, user_config=True).id == "sec"


def test_definitions_above_the_project_do_not_count(write: Write, tmp_path: Path) -> None:
    write(".claude/agents/sec.md", DEFINITION.format(name="sec"))
    (tmp_path / "p").mkdir()
    error = refusal("sec", tmp_path, project=tmp_path / "p", start=tmp_path / "p")
    assert "no agent of that name" in error.problem


# two things at once


def test_a_name_that_fits_a_file_and_the_configuration_names_both(
    write: Write, tmp_path: Path
) -> None:
    config = write(".caesar/config.toml", CONFIG)
    write("reviewer2", SH, mode=0o755)
    error = refusal("reviewer2", tmp_path)
    assert error.fits == (
        f"the path {tmp_path}/reviewer2",
        f'the [[agent]] "reviewer2" of {config}:1',
    )
    assert all(fit in str(error) for fit in error.fits)
    assert process("./reviewer2", tmp_path).origin == "path"


def test_a_name_that_fits_the_configuration_and_a_known_cli_names_both(
    write: Write, tmp_path: Path
) -> None:
    write(".caesar/config.toml", CONFIG.replace("reviewer2", "codex"))
    assert len(refusal("codex", tmp_path).fits) == 2


def test_a_name_that_fits_the_configuration_and_a_definition_names_both(
    write: Write, tmp_path: Path
) -> None:
    write(".caesar/config.toml", CONFIG)
    write(".claude/agents/x.md", DEFINITION.format(name="reviewer2"))
    assert len(refusal("reviewer2", tmp_path, runner="codex").fits) == 2


def test_a_folder_gives_way_because_nobody_can_run_it(write: Write, tmp_path: Path) -> None:
    write(".caesar/config.toml", CONFIG)
    write("reviewer2/x")
    assert process("reviewer2", tmp_path).origin == "config"


def test_a_path_with_a_slash_is_only_ever_a_path(write: Write, tmp_path: Path) -> None:
    write("tools/sec", SH, mode=0o755)
    write(".claude/agents/x.md", DEFINITION.format(name="tools/sec"))
    assert process("tools/sec", tmp_path, runner="codex").origin == "path"


def test_a_definition_may_be_called_like_a_function(write: Write, tmp_path: Path) -> None:
    write(".claude/agents/x.md", DEFINITION.format(name="plug:sec"))
    assert process("plug:sec", tmp_path, runner="codex").id == "plug-sec"


def test_an_id_may_end_with_a_dot(write: Write, tmp_path: Path) -> None:
    write(".caesar/config.toml", CONFIG.replace("reviewer2", "r-2."))
    assert process("r-2.", tmp_path).id == "r-2."


def test_a_folder_gives_way_to_a_command_of_its_name(write: Write, tmp_path: Path) -> None:
    write("tool/x")
    write("bin/tool", SH, mode=0o755)
    assert process("tool", tmp_path).origin == "command"


def test_a_bundled_definition_gives_way_to_anything_of_the_projects(
    write: Write, tmp_path: Path
) -> None:
    write(".caesar/config.toml", CONFIG.replace("reviewer2", "reviewer"))
    assert process("reviewer", tmp_path).origin == "config"


def test_a_command_on_path_never_changes_what_a_name_means(write: Write, tmp_path: Path) -> None:
    write(".caesar/config.toml", CONFIG)
    write("bin/reviewer2", SH, mode=0o755)
    assert process("reviewer2", tmp_path).origin == "config"


def test_a_path_with_blanks_that_is_also_a_command_line_names_both(
    write: Write, tmp_path: Path
) -> None:
    write("run", SH, mode=0o755)
    write("run me.sh", SH, mode=0o755)
    assert process("run me.sh", tmp_path).origin == "path"
    write("x/run", SH, mode=0o755)
    write("x/run me.sh", SH, mode=0o755)
    assert len(refusal("x/run me.sh", tmp_path).fits) == 2


# command lines


def test_a_command_line_keeps_its_program_and_makes_its_files_absolute(
    write: Write, tmp_path: Path
) -> None:
    file = write("agent.py")
    agent = process("python agent.py --fast 'two words' nothing.py", tmp_path)
    assert agent.argv == ("python", str(file), "--fast", "two words", "nothing.py")
    assert (agent.id, agent.origin, agent.project) == ("agent", "command", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "ident"),
    [
        ("python -m my_agent", "my_agent"),
        ("python3 -c pass", "python3"),
        ("sh -e agent.sh", "agent"),
        ("tool --python x.py", "tool"),
        ("./tools/run.sh {{prompt}}", "run"),
    ],
)
def test_the_id_is_what_people_would_call_it(
    text: str, ident: str, write: Write, tmp_path: Path
) -> None:
    write("bin/tool", SH, mode=0o755)
    write("tools/run.sh", SH, mode=0o755)
    assert process(text, tmp_path).id == ident


def test_the_folder_of_this_interpreter_leads_the_path(tmp_path: Path) -> None:
    assert process(Path(sys.executable).name, tmp_path, environ={"PATH": ""}).origin == "command"


def test_a_quote_that_is_never_closed_is_named(tmp_path: Path) -> None:
    assert "never closed" in refusal("sh 'x", tmp_path).problem


@pytest.mark.parametrize(
    "text",
    [
        "python -m my_agent",
        "python -u -X dev -mmy_agent",
        "python3 -um my_agent.__main__ --fast",
    ],
)
def test_a_python_that_runs_a_module_finds_it_from_the_starting_folder(
    text: str, write: Write, tmp_path: Path
) -> None:
    for name in ("python", "python3"):
        write(f"bin/{name}", SH, mode=0o755)
    agent = process(text, tmp_path)
    assert (agent.id, agent.import_root) == ("my_agent", str(tmp_path))


@pytest.mark.parametrize(
    "text", ["python agent.py -m x", "python -c pass -m x", "sh -m x", "python"]
)
def test_no_other_command_line_has_an_import_root(text: str, write: Write, tmp_path: Path) -> None:
    for name in ("python", "sh"):
        write(f"bin/{name}", SH, mode=0o755)
    assert process(text, tmp_path).import_root == ""


def test_an_unknown_token_in_a_command_line_is_named(tmp_path: Path) -> None:
    assert "unknown token {{promt}}" in refusal("sh {{promt}}", tmp_path).problem


# nothing


def test_an_unknown_name_lists_what_there_is_with_the_near_miss(
    write: Write, tmp_path: Path
) -> None:
    write(".caesar/config.toml", CONFIG)
    error = refusal("reviewr2", tmp_path)
    assert str(error) == (
        f'cannot select the agent "reviewr2": there is no such file in {tmp_path}, no agent of '
        'that name, and no command "reviewr2" on PATH; did you mean "reviewer2" or "reviewer"? '
        "Agents there are: reviewer2, codex, opencode, gemini, copilot, qwen, pi, cn, claude, antigravity, "
        "explore, plan, designer, reviewer, task, quick_task"
    )
    assert error.available[0] == "reviewer2"


def test_a_missing_file_is_answered_with_the_near_one(write: Write, tmp_path: Path) -> None:
    write("agent.sh", SH, mode=0o755)
    assert 'did you mean "agent.sh"?' in refusal("./agnet.sh", tmp_path).problem


@pytest.mark.parametrize("text", ["", "   ", "a\0b", "x" * 5000, "~nobody/x", "\x1b[31mred"])
def test_text_that_names_nothing_is_refused_and_shown_safely(text: str, tmp_path: Path) -> None:
    message = str(refusal(text, tmp_path))
    assert message.isprintable()
    assert len(message) < 1500


def test_the_refusal_survives_pickling(tmp_path: Path) -> None:
    error = refusal("nothing", tmp_path)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.available) == (str(error), error.available)


# several


def test_ids_of_several_agents_are_unique(write: Write, tmp_path: Path) -> None:
    for folder in ("a", "b", "c"):
        write(f"{folder}/agent.sh", SH, mode=0o755)
    agents = select_all(
        ["a/agent.sh", "b/agent.sh", "c/agent.sh"], project=tmp_path, start=tmp_path
    )
    assert [agent.id for agent in agents] == ["agent", "agent-2", "agent-3"]
