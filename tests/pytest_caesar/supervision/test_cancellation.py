"""Ctrl-C, SIGTERM and SIGHUP while a delegation is under way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.supervision.cancellation import (
    INTERRUPTED_GRACE,
    Cancellation,
    Interruption,
    interruptible,
    listening,
)
from pytest_caesar.workspace.repository import Repository

Handlers = Callable[[int, Any], object]


@pytest.fixture(autouse=True)
def handlers() -> Iterator[Handlers]:
    """Have the handlers of a plain Python, whoever runs these tests, and put theirs back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def install(number: int, handler: Any) -> None:
        signal.signal(number, handler)

    yield install
    for number, handler in before.items():
        signal.signal(number, handler)


def press(number: int = signal.SIGINT) -> None:
    signal.raise_signal(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_and_takes_effect_when_the_delegation_is_over(number: int) -> None:
    cancellation, steps = Cancellation(), []

    def carry_out() -> None:
        with interruptible(cancellation) as signals:
            press(number)
            steps.append(cancellation.grace)
            signals.result = "the run"

    with pytest.raises(Interruption) as caught:
        carry_out()
    assert (caught.value.number, caught.value.result) == (number, "the run")
    assert steps == [INTERRUPTED_GRACE]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_kills_and_the_third_is_not_put_off() -> None:
    cancellation, graces = Cancellation(), []

    def carry_out() -> None:
        with interruptible(cancellation):
            for _ in range(3):
                press()
                graces.append(cancellation.grace)

    with pytest.raises(KeyboardInterrupt):
        carry_out()
    assert graces == [INTERRUPTED_GRACE, 0.0]
    with interruptible(Cancellation()):
        pass  # the next delegation begins anew


def test_an_error_of_a_delegation_that_was_interrupted_is_the_cause() -> None:
    def carry_out() -> None:
        with interruptible(Cancellation()):
            press()
            raise ZeroDivisionError

    with pytest.raises(Interruption) as caught:
        carry_out()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_handler_of_somebody_else_is_called_afterwards_and_an_ignored_signal_stays_so(
    handlers: Handlers,
) -> None:
    heard: list[object] = []
    handlers(signal.SIGTERM, lambda number, _: heard.append(signal.Signals(number).name))
    handlers(signal.SIGINT, signal.SIG_IGN)
    with interruptible(Cancellation()):
        press(signal.SIGINT)
        press(signal.SIGTERM)
        heard.append("over")
    assert heard == ["over", "SIGTERM"]


def test_what_other_threads_have_under_way_is_cancelled_and_the_signal_takes_effect() -> None:
    cancellation, begun, over = Cancellation(), threading.Event(), threading.Event()

    def work() -> None:
        with interruptible(cancellation):
            begun.set()
            over.wait(20)

    thread = threading.Thread(target=work)
    with listening():
        thread.start()
        assert begun.wait(20)
        for number in (signal.SIGINT, signal.SIGTERM):
            with pytest.raises(KeyboardInterrupt):
                press(number)
    over.set()
    thread.join(20)
    assert cancellation.grace == 0.0


def test_a_forked_child_has_the_signals_that_its_parent_had() -> None:
    with interruptible(Cancellation()):
        pid = os.fork()
        if pid == 0:
            signal.raise_signal(signal.SIGTERM)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGTERM


# -- as a user meets it

START = (
    "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "del sys.argv[0]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)
"""Program that is not deaf to Ctrl-C, whoever started these tests."""

SLEEPER = """#!/bin/sh
trap 'echo bye; exit 1' TERM
echo work > new.txt
mkdir ../busy
while :; do sleep 0.05; done
"""

FUNCTION = """
import pathlib, time
def main(agent):
    (agent.workspace / "new.txt").write_text("work\\n")
    (agent.workspace.parent / "busy").mkdir()
    while True:
        time.sleep(0.05)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "repo")
    made.commit({"a.txt": "one\n"})
    agent = tmp_path / "agent.sh"
    agent.write_text(SLEEPER)
    agent.chmod(0o755)
    (made.path / "fn.py").write_text(FUNCTION)
    return made


def interrupted(
    repository: Repository, number: int, *command: str
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run a command, send it a signal once its agent is at work, and wait for its end."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, *command],
        cwd=repository.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not [*repository.path.glob("**/wt/busy")]:
        if process.poll() is not None:
            pytest.fail("\n".join(process.communicate()))
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    [task] = repository.path.glob("**/.caesar/tasks/t_*")
    return subprocess.CompletedProcess(command, process.returncode, out, err), task


@pytest.mark.parametrize(
    ("number", "agent"),
    [(signal.SIGINT, "../agent.sh"), (signal.SIGTERM, "fn:main"), (signal.SIGHUP, "../agent.sh")],
)
def test_an_interrupted_command_prints_and_keeps_its_run(
    repository: Repository, number: int, agent: str
) -> None:
    result, task = interrupted(repository, number, "pytest_caesar", "run", agent, "Work.", "--json")
    assert result.returncode == 128 + number
    printed = json.loads(result.stdout)
    assert printed["outcome"]["status"] == "cancelled"
    assert [change["path"] for change in printed["changes"]] == ["new.txt"]
    assert json.loads((task / "run.json").read_text())["outcome"]["status"] == "cancelled"
    last = json.loads((task / "events.jsonl").read_text().splitlines()[-1])
    assert (last["type"], last["message"]) == (
        "error", "the task was cancelled; the agent was stopped"
    )  # fmt: skip


def test_an_interrupted_test_keeps_its_run_and_ends_the_session(repository: Repository) -> None:
    (repository.path / "test_it.py").write_text(
        "def test_it(caesar_orchestrator, tmp_path):\n"
        "    caesar_orchestrator.project = __import__('pathlib').Path.cwd()\n"
        "    caesar_orchestrator.delegate('Work.')\n"
    )
    result, task = interrupted(
        repository, signal.SIGINT,
        "pytest", "-q", "-p", "no:cacheprovider", "--caesar-agent=../agent.sh", "--caesar-json=x.json",
    )  # fmt: skip
    assert result.returncode == pytest.ExitCode.INTERRUPTED
    assert json.loads((task / "run.json").read_text())["outcome"]["status"] == "cancelled"
    assert f"Interruption: SIGINT; the agent was stopped, see {task}" in result.stdout
    told = json.loads((repository.path / "x.json").read_text())
    [run] = told["runs"]
    assert (run["process"], run["test"]) == ("cancelled", "test_it.py::test_it")
    assert "1 run: 1 failed" in result.stdout
