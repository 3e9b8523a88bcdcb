"""What configuration decides about a delegation: roles, models, network, names, policy."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.errors import CaesarError
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.workspace.repository import Repository

ECHO = """
import json, os, sys
task = json.load(open(os.environ["CAESAR_TASK_FILE"]))
said = json.dumps({"argv": sys.argv[1:], "context": task["context"], "network": task["network"]})
report = {"protocol": "caesar.report/v1", "status": "success", "summary": said}
json.dump(report, open(os.environ["CAESAR_REPORT_PATH"], "w"))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    return repository


def echo(tmp_path: Path, *arguments: str, system_prompt: str = "") -> ProcessAgent:
    script = tmp_path / "echo.py"
    script.write_text(ECHO)
    return ProcessAgent(
        id="echo",
        origin="path",
        argv=(sys.executable, str(script), *arguments),
        system_prompt=system_prompt,
    )


def configure(repository: Repository, text: str) -> None:
    folder = repository.path / ".caesar"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text)


def test_a_model_reaches_the_command_line_that_takes_one(
    repository: Repository, tmp_path: Path
) -> None:
    agent = echo(tmp_path, "--model", "{{model}}", "rest")
    orchestrator = Orchestrator(agent, project=repository.path)
    named = orchestrator.delegate("Look.", mode="read-only", model="big")
    assert json.loads(named.summary)["argv"] == ["--model", "big", "rest"]
    unnamed = orchestrator.delegate("Look.", mode="read-only")
    assert json.loads(unnamed.summary)["argv"] == ["rest"]


@pytest.mark.parametrize("context", ["", "x" * 500_000], ids=["whole", "too long to be given"])
def test_the_brief_is_left_out_of_the_command_line_that_is_told(
    repository: Repository, tmp_path: Path, context: str
) -> None:
    agent = echo(tmp_path, "{{prompt}}", "--ask={{prompt}}", "two words", "")
    orchestrator = Orchestrator(agent, project=repository.path)
    run = orchestrator.delegate("Look.", mode="read-only", context=context)
    command = run.events[0].command  # type: ignore[attr-defined]
    assert command.partition("echo.py ")[2] == "<brief> --ask=<brief> 'two words' ''"


def test_a_model_for_an_agent_that_takes_none_is_refused_by_name(
    repository: Repository, tmp_path: Path
) -> None:
    orchestrator = Orchestrator(echo(tmp_path), project=repository.path)
    with pytest.raises(CaesarError, match='the model "big" cannot be handed to "echo"'):
        orchestrator.delegate("Look.", model="big")


def test_a_configured_model_that_cannot_be_used_is_told(
    repository: Repository, tmp_path: Path
) -> None:
    configure(repository, '[models]\necho = "big"\n')
    run = Orchestrator(echo(tmp_path), project=repository.path).delegate("Look.", mode="read-only")
    assert run.succeeded
    assert "model-not-applied" in run.codes


def test_a_network_that_nobody_can_close_is_told_and_stays_true(
    repository: Repository, tmp_path: Path
) -> None:
    run = Orchestrator(echo(tmp_path), project=repository.path).delegate(
        "Look.", mode="read-only", network="off"
    )
    assert json.loads(run.summary)["network"] is True
    assert "network-not-guaranteed" in run.codes


def test_the_prompts_of_role_and_agent_stand_in_front_of_the_context(
    repository: Repository, tmp_path: Path
) -> None:
    configure(
        repository,
        '[[role]]\nname = "critic"\nagents = ["echo"]\nmode = "read-only"\n'
        'system_prompt_file = "critic.md"\n',
    )
    (repository.path / ".caesar" / "critic.md").write_text("Be strict.\n")
    run = Orchestrator(echo(tmp_path, system_prompt="Be brief."), project=repository.path).delegate(
        "Look.", mode="read-only", role="critic", context="Details."
    )
    expected = "Be strict.\n\nBe brief.\n\n---\n\nDetails."
    assert json.loads(run.summary)["context"] == expected


def test_a_role_elects_an_agent_where_nobody_was_named(
    repository: Repository, tmp_path: Path
) -> None:
    script = tmp_path / "elected.sh"
    script.write_text(
        '#!/bin/sh\nprintf \'{"protocol":"caesar.report/v1","status":"success",'
        '"summary":"elected"}\' > "$CAESAR_REPORT_PATH"\n'
    )
    script.chmod(0o755)
    configure(
        repository,
        f'[[agent]]\nid = "elected"\nbin = "{script}"\nargs = ["{{{{prompt}}}}"]\n'
        '[[role]]\nname = "critic"\nagents = ["nowhere", "elected"]\nmode = "read-only"\n',
    )
    run = Orchestrator(project=repository.path).delegate("Look.", mode="read-only", role="critic")
    assert (run.task.agent, run.summary) == ("elected", "elected")


def test_a_name_is_looked_up_in_the_project_under_test(
    repository: Repository, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / ".caesar").mkdir(parents=True)
    (project / "named.sh").write_text(
        '#!/bin/sh\nprintf \'{"protocol":"caesar.report/v1","status":"success",'
        '"summary":"named"}\' > "$CAESAR_REPORT_PATH"\n'
    )
    (project / "named.sh").chmod(0o755)
    (project / ".caesar" / "config.toml").write_text(
        '[[agent]]\nid = "named"\nbin = "named.sh"\nargs = ["{{prompt}}"]\n'
    )
    run = Orchestrator(
        project=repository.path, settings=OrchestratorSettings(agents_root=project)
    ).delegate("Look.", agent="named", mode="read-only")
    assert run.summary == "named"


def test_the_module_of_a_command_line_is_found_where_the_run_was_started(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = tmp_path / "start"
    start.mkdir()
    (start / "my_module.py").write_text(
        "import os\nopen('path.txt', 'w').write(os.environ['PYTHONPATH'])\nimport beside\n" + ECHO
    )
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "beside.py").write_text("")
    monkeypatch.chdir(start)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "more"))
    settings = OrchestratorSettings(pass_env=("PYTHONPATH",))
    orchestrator = Orchestrator(project=repository.path, settings=settings)
    run = orchestrator.delegate("Look.", agent="python -m my_module")
    assert run.succeeded, run.raw_log
    said = (run.workspace / "path.txt").read_text()
    assert said == f"{start}{os.pathsep}{tmp_path / 'more'}"


DEFAULTS = """
[policy]
default_mode = "read-only"
default_isolation = "worktree"
default_network = "off"
default_timeout = "90s"
[[agent]]
id = "opener"
bin = "true"
args = ["{{prompt}}"]
network_args = ["--online"]
[[role]]
name = "maker"
agents = ["opener"]
mode = "write"
isolation = "inplace"
network = "on"
timeout = "2m"
[[role]]
name = "investigator"
agents = ["opener"]
mode = "write"
"""

Said = tuple[str, str, bool, int]


def said_to(orchestrator: Orchestrator, **wishes: Any) -> Said:
    task = orchestrator.delegate("Look.", **wishes).task
    return task.mode, task.isolation, task.network, task.deadline_ms


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ({}, ("read-only", "worktree", False, 90_000)),
        ({"mode": "write", "timeout": 7}, ("write", "worktree", False, 7_000)),
        ({"isolation": "inplace", "mode": "write"}, ("write", "inplace", False, 90_000)),
        ({"network": "on"}, ("read-only", "worktree", True, 90_000)),
        ({"role": "maker"}, ("write", "inplace", True, 120_000)),
        ({"role": "maker", "isolation": "worktree"}, ("write", "worktree", True, 120_000)),
        ({"role": "any words"}, ("read-only", "worktree", False, 90_000)),
        ({"role": "reviewer"}, ("read-only", "worktree", False, 90_000)),
        ({"role": "investigator"}, ("write", "worktree", True, 600_000)),
    ],
    ids=str,
)
def test_what_a_task_does_not_say_its_role_says_and_then_policy(
    wishes: dict[str, Any], expected: Said, repository: Repository
) -> None:
    configure(repository, DEFAULTS)

    assert said_to(Orchestrator("opener", project=repository.path), **wishes) == expected


def test_a_role_that_elected_the_agent_says_what_the_task_is(repository: Repository) -> None:
    configure(repository, DEFAULTS)

    orchestrator = Orchestrator(project=repository.path)

    assert said_to(orchestrator, role="maker") == ("write", "inplace", True, 120_000)


def test_without_configuration_a_task_writes_for_ten_minutes_at_most(
    repository: Repository, tmp_path: Path
) -> None:
    said = said_to(Orchestrator(echo(tmp_path), project=repository.path))

    assert said == ("write", "worktree", True, 600_000)


def test_a_workspace_that_is_adopted_is_what_it_is(repository: Repository, tmp_path: Path) -> None:
    configure(repository, DEFAULTS)

    said = said_to(Orchestrator(echo(tmp_path), project=repository.path), workspace=repository.path)

    assert said == ("read-only", "inplace", True, 90_000)


CONFIGURE = "import sys; open(sys.argv[1], 'w').write('[policy]\\nmax_depth = 7\\n')\n" + ECHO


@pytest.mark.parametrize("before", ["", "[policy]\nmax_depth = 3\n"])
def test_configuration_that_changes_beside_the_workspace_is_told(
    before: str, repository: Repository, tmp_path: Path
) -> None:
    configure(repository, before)
    file = repository.path / ".caesar" / "config.toml"
    (tmp_path / "configure.py").write_text(CONFIGURE)
    agent = ProcessAgent(
        id="a", origin="path", argv=(sys.executable, str(tmp_path / "configure.py"), str(file))
    )

    run = Orchestrator(agent, project=repository.path).delegate("Look.")

    (told,) = (item for item in run.diagnostics if item.code == "configuration-changed")
    assert told.message == (
        f"While the agent worked, {file} changed. Its agents, its policy and its setup commands "
        "hold for the next delegation: look at it before."
    )
    again = Orchestrator(agent, project=repository.path).delegate("Look.")
    assert "configuration-changed" not in again.codes


def test_configuration_that_changes_in_the_workspace_is_a_change_like_any_other(
    repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "configure.py").write_text(CONFIGURE)
    (repository.path / ".caesar").mkdir()
    agent = ProcessAgent(
        id="a",
        origin="path",
        argv=(sys.executable, str(tmp_path / "configure.py"), ".caesar/config.toml"),
    )

    run = Orchestrator(agent, project=repository.path).delegate("Look.", isolation="inplace")

    assert [change.path for change in run.changes] == [".caesar/config.toml"]
    assert run.codes == {"undeclared-change"}


def test_an_agent_that_policy_denies_is_refused_before_anything_is_written(
    repository: Repository, tmp_path: Path
) -> None:
    configure(repository, '[policy]\ndenied = ["echo"]\n')
    with pytest.raises(CaesarError, match=r"refused by \[policy\] denied"):
        Orchestrator(echo(tmp_path), project=repository.path).delegate("Look.")
    assert [path.name for path in (repository.path / ".caesar").iterdir()] == ["config.toml"]


def test_no_agent_at_all_is_an_error_that_says_how_to_give_one(repository: Repository) -> None:
    with pytest.raises(CaesarError, match="pass agent= or role=, or give one to the Orchestrator"):
        Orchestrator(project=repository.path).delegate("Look.")


def test_a_role_that_nobody_declared_is_named_beside_those_there_are(
    repository: Repository, tmp_path: Path
) -> None:
    configure(repository, '[[role]]\nname = "tester"\nmode = "write"\nagents = []\n')
    with pytest.raises(CaesarError) as caught:
        Orchestrator(project=repository.path).delegate("Look.", role="testr")
    said = str(caught.value)
    assert 'there is no [[role]] "testr" in the configuration; did you mean "tester"?' in said
    assert '"reviewer"' in said.partition("Roles there are: ")[2]
    run = Orchestrator(echo(tmp_path), project=repository.path).delegate("Look.", role="any words")
    assert run.task.role == "any words"


def test_a_path_is_an_agent(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reviewer").write_text(f"#!{sys.executable}\n{ECHO}")
    (tmp_path / "reviewer").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    orchestrator = Orchestrator(project=repository.path)
    assert orchestrator.delegate("Look.", agent=Path("reviewer")).succeeded
    assert Orchestrator(Path("reviewer"), project=repository.path).delegate("Look.").succeeded


@pytest.mark.parametrize(
    ("agent", "says"),
    [
        (
            echo,
            f'the function "echo"; an agent is found again by import: pass agent="{__name__}:echo"',
        ),
        (
            lambda agent: agent.success("Done."),
            "write it at the top level of a module and pass agent=",
        ),
        (["sh", "agent.sh"], "of type list: expected a name as for --caesar-agent"),
        (7, 'agent= is "7", of type int'),
    ],
)
def test_what_can_be_no_agent_is_refused_with_what_can(
    agent: Any, says: str, repository: Repository
) -> None:
    with pytest.raises(DelegationError) as caught:
        Orchestrator(project=repository.path).delegate("Look.", agent=agent)
    assert says in str(caught.value)
    assert not (repository.path / ".caesar").exists()
