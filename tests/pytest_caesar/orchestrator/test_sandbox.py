"""Agents in a sandbox: they work as without, and what they cannot do is not done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.runs.run import Run
from pytest_caesar.sandboxes.choice import proof_of
from pytest_caesar.sandboxes.sandbox import SandboxError
from pytest_caesar.workspace.repository import Repository

REPORT = """
printf '{"protocol":"caesar.report/v1","task_id":"%s","status":"success","summary":"done"}' \\
  "$CAESAR_TASK_ID" > "$CAESAR_REPORT_PATH"
"""


@pytest.fixture(autouse=True)
def _works() -> None:
    try:
        if broken := proof_of("bubblewrap").broken:
            pytest.skip(f"on this machine the sandbox is weak: {broken}")
    except SandboxError as error:
        pytest.skip(str(error))


def delegate(repository: Repository, script: str, **fields: object) -> Run:
    """Run a shell script in the sandbox."""
    folder = repository.path.parent / "agents"
    folder.mkdir(exist_ok=True)
    program = folder / "agent.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    settings = OrchestratorSettings(pass_env=("HOME",) if fields.pop("home", False) else ())
    return Orchestrator(program, project=repository.path, settings=settings).delegate(
        "Do it",
        **{"sandbox": "bubblewrap", **fields},  # type: ignore[arg-type]
    )


def log(run: Run) -> str:
    return run.raw_log.decode()


# -- git


def test_what_the_branch_reaches_is_in_the_repository_afterwards(repository: Repository) -> None:
    run = delegate(
        repository,
        "echo one > b.txt; git add -A; git commit -qm first; git mv a.txt e.txt; git commit -qm second"
        "; echo staged > c.txt; git add c.txt; echo loose > d.txt",
    )
    assert "commits-left-out" not in run.codes
    assert {change.path for change in run.changes} == {"b.txt", "c.txt", "d.txt", "e.txt"}
    branch = repository.git("branch", "--list", "caesar/*").strip(" +*\n")
    assert repository.git("log", "--format=%s", branch).split()[:2] == ["second", "first"]
    staged = subprocess.run(
        ["git", "show", ":c.txt"], cwd=run.workspace, capture_output=True, check=True
    )
    assert staged.stdout == b"staged\n"
    repository.git("fsck", "--strict")
    assert not os.path.lexists(repository.path / ".git" / "objects" / "info" / "alternates")


def test_commits_without_a_branch_and_on_another_are_taken_too(repository: Repository) -> None:
    run = delegate(repository, "git checkout -q --detach; git commit -q --allow-empty -m alone")
    assert "branch-switched" in run.codes
    shown = ["git", "log", "-1", "--format=%s"]
    assert subprocess.check_output(shown, cwd=run.workspace) == b"alone\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [
        pytest.param("rm -rf {git}/objects/*", "commits-left-out", id="removed"),
        pytest.param(
            "cd {git}/objects; for f in ??/*; do chmod u+w $f; echo bad > $f; done",
            "commits-left-out",
            id="corrupt",
        ),
        pytest.param(
            "cd {git}/objects; for f in ??/*; do mv $f /tmp/x; ln -s /etc/passwd $f; done",
            "commits-left-out",
            id="links",
        ),
        pytest.param(
            'echo 1111111111111111111111111111111111111111 > "{git}/$(git symbolic-ref HEAD)"',
            "commits-left-out",
            id="a-ref-to-nothing",
        ),
        pytest.param(
            'rm -rf {git}/objects/*; d=$(git rev-parse --git-dir); rm -rf "$d/logs"; '
            'ln -s {git} "$d/logs"',
            "commits-left-out",
            id="logs-that-lead-elsewhere",
        ),
        pytest.param(
            "git config -f evil core.hooksPath /tmp; mkfifo {git}/objects/aa; rm -f .git; "
            "printf 'gitdir: %s/evil-dir\\n' \"$PWD\" > .git; rm -rf {git}/objects/??",
            "commits-left-out",
            id="another-git-folder",
        ),
    ],
)
def test_nothing_that_it_broke_of_its_own_is_brought_over(
    repository: Repository, script: str, code: str
) -> None:
    before = repository.git("rev-parse", "HEAD")
    git = repository.path / ".git"
    run = delegate(
        repository,
        f"git commit -q --allow-empty -m x; {script.format(git=git)}; true" + REPORT,
    )
    assert code in run.codes
    assert run.report.status == "success"
    repository.git("fsck", "--strict")
    branch = repository.git("branch", "--list", "caesar/*").strip(" +*\n")
    assert repository.git("rev-parse", branch) == before


def test_the_users_repository_survives_what_destroys_it_otherwise(repository: Repository) -> None:
    git = repository.path / ".git"
    run = delegate(
        repository,
        f"rm -rf {git}/objects/* {git}/refs/* {git}/hooks {git}/config {git}; "
        f"echo evil > {repository.path}/a.txt; git tag t; git config core.pager evil; true",
    )
    assert run.outcome.status == "succeeded"
    repository.git("fsck", "--strict")
    assert repository.git("status", "--porcelain") == ""
    assert (repository.path / "a.txt").read_text() == "one\n"
    assert repository.git("tag") == ""


def test_in_place_git_is_only_read_and_a_read_only_task_writes_nothing(
    repository: Repository,
) -> None:
    run = delegate(
        repository, "echo two > a.txt; git add a.txt; git status --short", isolation="inplace"
    )
    assert [change.path for change in run.changes] == ["a.txt"]
    assert "Read-only file system" in log(run)
    assert " M a.txt" in log(run)


# -- surroundings


def test_it_has_a_home_and_a_tmp_of_its_own_and_its_files_end_with_it(
    repository: Repository,
) -> None:
    run = delegate(
        repository,
        'echo x > /tmp/mine && echo y > "$HOME/mine" && ls /tmp/mine "$HOME" && id -u && pwd',
    )
    assert run.outcome.status == "succeeded", log(run)
    assert not Path("/tmp/mine").exists()
    assert str(run.workspace) in log(run)
    assert "\n0\n" not in log(run)


def test_paths_are_added_and_taken_away_by_the_policy(repository: Repository) -> None:
    base = repository.path.parent
    for name in ("seen", "written", "hidden"):
        (base / name).mkdir()
        (base / name / "file").write_text(f"{name}\n")
    config = repository.path / ".caesar" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(
        f'[policy]\nsandbox = "bubblewrap"\nsandbox_read = ["../seen"]\n'
        f'sandbox_write = ["{base}/written"]\nhide = ["../hidden"]\n'
    )
    run = delegate(
        repository,
        f"cat {base}/seen/file; echo more >> {base}/seen/file; echo more >> {base}/written/file; "
        f"cat {base}/hidden/file; true",
        sandbox=None,
    )
    assert run.sandbox is not None
    assert log(run).startswith("seen\n")
    assert (base / "seen" / "file").read_text() == "seen\n"
    assert (base / "written" / "file").read_text() == "written\nmore\n"
    assert "hidden\n" not in log(run)
    config.write_text('[policy]\nhide = ["nowhere"]\n')
    with pytest.raises(SandboxError, match=r"\[policy\] hide names 'nowhere'"):
        delegate(repository, "true")


def test_the_network_is_closed_or_open_as_the_task_says(repository: Repository) -> None:
    script = "test -d /sys/class/net; cat /proc/net/dev | tail -n +3 | cut -d: -f1"
    closed = delegate(repository, script, network="off")
    assert log(closed).split() == ["lo"]
    assert closed.task.network is False
    assert "network-not-guaranteed" not in closed.codes
    assert closed.sandbox is not None
    assert "ipv4" in closed.sandbox.held
    opened = delegate(repository, "true")
    assert opened.sandbox is not None
    assert "ipv4" not in opened.sandbox.held


# -- supervision


def test_its_true_end_and_what_it_leaves_behind_are_told(repository: Repository) -> None:
    killed = delegate(repository, "kill -KILL $$")
    assert (killed.outcome.signal, killed.outcome.exit_code) == ("SIGKILL", None)
    odd = delegate(repository, "exit 137")
    assert (odd.outcome.signal, odd.outcome.exit_code) == (None, 137)
    left = delegate(repository, "setsid sleep 300 & echo x")
    assert [item.name for item in left.outcome.leaked] == ["sleep 300"]
    late = delegate(
        repository,
        f"bye() {{\n{REPORT}\nexit 5\n}}\ntrap bye TERM; sleep 60 & wait",
        timeout=5,
    )
    assert (late.outcome.timed_out, late.outcome.exit_code) == (True, 5)
    assert late.report.summary == "done"


# -- other programs


def test_gates_run_in_it_on_the_tree_alone(repository: Repository) -> None:
    secret = repository.path / "a.txt"
    run = delegate(
        repository,
        "echo made > b.txt" + REPORT,
        gates=[
            f"sh -c 'cat b.txt && ! echo x >> {secret} && test ! -w \"$CAESAR_TASK_DIR\"'",
        ],
        network="off",
    )
    assert [gate.passed for gate in run.gates] == [True], run.gates


def test_a_function_is_refused_and_runs_in_a_process_of_its_own(repository: Repository) -> None:
    here = Orchestrator(
        "tests.pytest_caesar.orchestrator.test_sandbox:work", project=repository.path
    )
    with pytest.raises(DelegationError, match="--caesar-subprocess"):
        here.delegate("x", sandbox="bubblewrap")
    apart = Orchestrator(
        "tests.pytest_caesar.orchestrator.test_sandbox:work",
        project=repository.path,
        settings=OrchestratorSettings(subprocess=True, agents_root=Path.cwd()),
    ).delegate("x", sandbox="bubblewrap")
    assert apart.succeeded, log(apart)
    assert apart.report.summary != "0"


def work(task: object) -> object:
    """An agent that is a function."""
    from caesar_agent import Report

    return Report(protocol="caesar.report/v1", status="success", summary=f"user {os.getuid()}")


def test_it_asks_and_is_answered(
    repository: Repository, orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    from pytest_caesar.answers.scripted_answers import ScriptedAnswers

    orchestrator.answers = ScriptedAnswers().on("Which?", "this")
    run = orchestrator.delegate(
        "x", agent=fake(fake.ask("Which?"), fake.report()), sandbox="bubblewrap", network="off"
    )
    assert [question.answer for question in run.questions] == ["this"]
    assert run.succeeded


def test_it_talks_to_the_scripted_model_without_any_network(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it(caesar_repo, caesar_orchestrator, caesar_model, tmp_path):
            caesar_model.say("hello from the model")
            agent = tmp_path / "agent.py"
            agent.write_text('''
        import json, os, urllib.request
        tools = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]
        body = {"model": "m", "tools": tools, "messages": [{"role": "user", "content": "hi"}]}
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        print(urllib.request.urlopen(request, timeout=20).read().decode())
        ''')
            run = caesar_orchestrator.delegate(
                "x", agent=f"{sys.executable} {agent}", sandbox="bubblewrap", network="off"
            )
            assert b"hello from the model" in run.raw_log
            assert run.task.network is False
        """
    )
    pytester.runpytest("-p", "no:randomly").assert_outcomes(passed=1)


def test_it_is_told_in_json_and_in_the_section(repository: Repository) -> None:
    from pytest_caesar.reporting.sections import run_section
    from pytest_caesar.runs.record import run_as_json

    run = delegate(repository, "true", network="off")
    told = run_as_json(run)["sandbox"]
    assert (told["name"], "objects" in told["held"]) == ("bubblewrap", True)
    assert json.dumps(told)
    assert "sandbox" in run_section(run)[1]


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_it_works_for_an_ordinary_user(tmp_path: Path) -> None:
    program = (
        "import sys; from pytest_caesar.sandboxes.choice import proof_of; "
        "proof = proof_of('bubblewrap'); sys.exit(str(proof.broken) if proof.broken else 0)"
    )
    nobody = 65534
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            user=nobody,
            group=nobody,
            extra_groups=[],
            capture_output=True,
            check=False,
            cwd="/",
            env={"PATH": os.environ["PATH"], "HOME": "/", "PYTHONPATH": str(Path.cwd())},
            text=True,
        )
    except PermissionError:
        pytest.skip("this Python lies where only root may look: chmod o+x its folders")
    assert done.returncode == 0, done.stderr
