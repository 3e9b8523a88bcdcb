"""The fixture ``caesar_model``, with a small CLI in the place of the real ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from caesar_agent import Agent, Report
from pytest_caesar.agents.target import FunctionAgent
from pytest_caesar.model.scripted_model import ScriptedModel
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.model import small_cli
from tests.pytest_caesar.plugin.running import Runs

CLI = f"{sys.executable} -S {small_cli.__file__} chat {{{{modelUrl}}}} stream {{{{prompt}}}}"
"""A command line whose agent talks to the scripted model."""


def test_an_agent_of_ones_own_is_pointed_at_the_model(
    caesar_orchestrator: Orchestrator, caesar_model: ScriptedModel, caesar_repo: Repository
) -> None:
    caesar_repo.commit({"a.txt": "one\n"})
    caesar_model.say("Looking.").shell("cat a.txt; exit 3")
    caesar_model.write("b.txt", "two\n").expect(lambda asked: "one" in asked.last_result)
    caesar_model.report("success", "Done.", changes=[("b.txt", "created")])

    run = caesar_orchestrator.delegate("Write b.txt", agent=CLI)

    assert run.succeeded
    assert run.source == "file"
    assert run.reconciliation.undeclared == ()
    assert (run.workspace / "b.txt").read_text() == "two\n"
    assert [request.turn for request in caesar_model.requests] == [1, 2, 3, 4]
    assert {request.task for request in caesar_model.requests} == {"t_0001"}
    assert [call.exit_code for call in caesar_model.requests[-1].calls] == [3, None, None]


def test_delegations_that_run_at_once_have_their_own_conversations(
    caesar_orchestrator: Orchestrator, caesar_model: ScriptedModel, caesar_repo: Repository
) -> None:
    caesar_repo.commit({"a.txt": "one\n"})
    caesar_model.shell("true")
    caesar_model.report("partial", "Main.", next_steps=["x"])
    caesar_model.on("the tests").shell("true").shell("true")
    caesar_model.on("the tests").report("success", "Other.")

    started = [
        caesar_orchestrator.start(objective, agent=CLI, mode="read-only", isolation="worktree")
        for objective in ("Look", "Look at the tests")
    ]

    assert [pending.wait().report.summary for pending in started] == ["Main.", "Other."]


def work_in_this_process(agent: Agent) -> Report:
    """Talk to the model by the variables that libraries read."""
    url = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
    said = small_cli.work(url, "messages", agent.task.objective, cwd=Path.cwd())
    return agent.success(f"{said} with the key {os.environ['ANTHROPIC_API_KEY']}")


def test_an_agent_in_this_process_finds_the_model_in_its_environment(
    caesar_orchestrator: Orchestrator,
    caesar_model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-my-own")
    caesar_model.say("Fine")
    agent = FunctionAgent(
        id="mine", target=f"{__name__}:work_in_this_process", import_root=str(Path.cwd())
    )
    run = caesar_orchestrator.delegate("Look", agent=agent, mode="read-only")
    assert run.report.summary == "Fine with the key none"
    assert os.environ["OPENAI_API_KEY"] == "sk-my-own"
    assert "OPENAI_BASE_URL" not in os.environ


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HOME", "CODEX_HOME", "OPENAI_BASE_URL"])
def test_a_login_of_the_user_does_not_meet_the_model(caesar_repo: Repository, name: str) -> None:
    from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings

    with ScriptedModel() as model:
        settings = OrchestratorSettings(model_url=model.url_for, pass_env=(name,))
        orchestrator = Orchestrator(CLI, project=caesar_repo.path, settings=settings)
        with pytest.raises(DelegationError) as caught:
            orchestrator.delegate("Look")
    assert str(caught.value) == (
        f"--caesar-pass-env (or caesar_pass_env) passes {name} to an agent that talks to "
        "caesar_model: a scripted model needs no login, and none of yours goes with it; remove "
        "it, or leave caesar_model out"
    )


def test_a_pattern_lets_no_login_through(
    caesar_repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings

    for name in ("ACME_API_KEY", "ACME_TOKEN", "ACME_LEVEL"):
        monkeypatch.setenv(name, "mine")
    caesar_repo.commit({"a.txt": "one\n"})
    with ScriptedModel() as model:
        model.shell("env > env.txt")
        model.report("success", "Done.", changes=[("env.txt", "created")])
        settings = OrchestratorSettings(model_url=model.url_for, pass_env=("ACME_*",))
        orchestrator = Orchestrator(CLI, project=caesar_repo.path, settings=settings)
        run = orchestrator.delegate("Look")
    seen = dict(line.split("=", 1) for line in _lines(run.workspace / "env.txt"))
    assert [name for name in seen if name.startswith("ACME")] == ["ACME_LEVEL"]
    assert seen["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if "=" in line]


def inner(script: str, *, last: str = "", name: str = "test_it") -> str:
    """Return a test of a user."""
    return f"""
def {name}(caesar_repo, caesar_orchestrator, caesar_model):
    caesar_repo.commit({{"a.txt": "one"}})
    {script}
    caesar_orchestrator.delegate("Look", agent={CLI!r})
    {last}
"""


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            "caesar_model.shell('exit 4')",
            "the model was asked for turn 2, and the script has 1. Last the CLI said: 'Exit Code: 4'.",
        ),
        (
            "caesar_model.edit('a.txt', 'one', 'two')",
            "turn 1: small_cli offers no tool for edit(path='a.txt'); it offers: bash, write_file",
        ),
        (
            "caesar_model.report('success', 'x'); caesar_model.shell('ls')",
            "caesar_model: turn 2 was never asked for",
        ),
    ],
    ids=["a turn too many", "no tool", "never asked for"],
)
def test_what_goes_wrong_with_the_script_fails_its_test_once(
    script: str, told: str, pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(inner(script))
    result = run()
    result.assert_outcomes(failed=1)
    lines = [line for line in result.outlines if line.startswith("caesar_model: ")]
    assert [told in line for line in lines] == [True]


def test_a_test_that_fails_by_itself_says_it_in_a_section(
    pytester: pytest.Pytester, run: Runs
) -> None:
    script = "caesar_model.shell('true')"
    pytester.makepyfile(inner(script, last="assert 1 == 2"))
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*assert 1 == 2", "*what else was found*", "caesar_model: *"])


def test_two_workers_need_no_common_state(pytester: pytest.Pytester) -> None:
    from tests.pytest_caesar.plugin.running import QUIET

    script = "caesar_model.shell('true'); caesar_model.report('success', 'x')"
    pytester.makepyfile(inner(script) + inner(script, name="test_that"))
    pytester.runpytest_inprocess(*QUIET, "-n", "2").assert_outcomes(passed=2)
