"""Gates asked after real agents, with real commands."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.errors import CaesarError
from caesar_agent.va import DimensionFeedback
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.gates.gates import CommandGate, Evaluation, Gate, GateError, GateLike, ModelGate
from pytest_caesar.gates.messages import gate_lines
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.runs.run import Run
from pytest_caesar.supervision import printed
from pytest_caesar.workspace.repository import Repository


def python(code: str, *, name: str = "gate", timeout: float = 60) -> CommandGate:
    return CommandGate([sys.executable, "-c", code], name=name, timeout=timeout)


def test_a_gate_sees_the_tree_that_the_agent_left(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    run = orchestrator.delegate(
        "Add b",
        agent=fake(fake.write("b.txt", "two\n"), fake.report()),
        gates=["grep -c two b.txt"],
    )

    (gate,) = run.gates
    assert (gate.gate, gate.type, gate.command) == (
        "grep -c two b.txt",
        "command",
        "grep -c two b.txt",
    )
    assert (gate.passed, gate.exit_code, gate.output, gate.severity) == (True, 0, "1", None)
    assert gate.duration_ms is not None
    assert run.codes == frozenset()


def test_a_criterion_that_is_a_command_is_a_gate(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    run = orchestrator.delegate(
        "Look",
        agent=fake(fake.report()),
        acceptance_criteria=["$ test -e a.txt", "everything is fine"],
    )

    assert [(gate.gate, gate.passed) for gate in run.gates] == [("test -e a.txt", True)]
    assert run.task.acceptance_criteria == ("$ test -e a.txt", "everything is fine")


def test_success_with_a_failing_gate_is_a_diagnostic(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    run = orchestrator.delegate(
        "Look", agent=fake(fake.report()), gates=[python("print('no'); exit(3)", name="tests")]
    )

    (gate,) = run.gates
    assert (gate.passed, gate.exit_code, gate.output, gate.severity) == (False, 3, "no", "error")
    assert [(item.code, item.message) for item in run.diagnostics] == [
        ("gate-failed", "the report says success, and the gate 'tests' failed: exit code 3")
    ]
    assert run.succeeded, "the status stays the agent's word"


@pytest.mark.parametrize("status", ["failed", "blocked", "partial"])
def test_where_nobody_claims_success_a_failing_gate_contradicts_nothing(
    status: str, orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    report = fake.report(
        status, "no", next_steps=["more"], questions=[{"id": "q", "question": "?"}]
    )
    run = orchestrator.delegate("Look", agent=fake(report), gates=["false"])

    assert [gate.passed for gate in run.gates] == [False]
    assert run.codes == frozenset()


def test_another_source_of_the_report_is_judged_anew(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    run = orchestrator.delegate("Look", agent=fake(fake.report()), gates=["false"])

    assert "gate-failed" in run.codes
    assert "gate-failed" not in run.without("file").codes
    assert run.without("file").gates == run.gates


def test_what_a_gate_writes_is_not_the_agents_work(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    run = orchestrator.delegate(
        "Add b",
        agent=fake(fake.write("b.txt", "two\n"), fake.report()),
        gates=["touch c.txt", "test -e c.txt"],
    )

    assert [change.path for change in run.changes] == ["b.txt"]
    assert [gate.passed for gate in run.gates] == [True, True]
    assert b"c.txt" not in bytes(run.patch)


def test_a_gate_is_asked_when_the_agent_and_what_it_started_are_gone(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    # The agent leaves a process that would undo its work a moment later.
    agent = fake(
        fake.write("b.txt", "two\n"),
        fake.leave(fake.wait_for("never"), fake.delete("b.txt")),
        fake.report(),
    )

    run = orchestrator.delegate("Add b", agent=agent, gates=["rm b.txt"])

    assert run.outcome.leaked
    assert run.gates[0].passed
    assert [change.path for change in run.changes] == ["b.txt"]


def test_a_gate_has_the_environment_of_an_agent(
    orchestrator: Orchestrator, fake: FakeAgents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("SECRET", "x")
    code = (
        "import os; print(*(os.environ.get(name) for name in "
        "('CAESAR_TASK_ID', 'GIT_DIR', 'SECRET')), os.environ['HOME'], os.getcwd(), sep='|')"
    )

    run = orchestrator.delegate("Look", agent=fake(fake.report()), gates=[python(code)])

    assert run.gates[0].output is not None
    task_id, git, secret, home, folder = run.gates[0].output.split("|")
    assert (task_id, git, secret) == ("t_0001", "None", "None")
    assert home != os.environ["HOME"]
    assert Path(folder).samefile(run.workspace)


def test_a_gate_that_takes_too_long_is_ended_and_failed(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    code = "import time; print('begun', flush=True); time.sleep(60)"

    run = orchestrator.delegate(
        "Look", agent=fake(fake.report()), gates=[python(code, timeout=0.5), "true"]
    )

    slow, after = run.gates
    assert (slow.passed, slow.exit_code, slow.severity) == (False, None, "error")
    assert slow.output is not None
    assert slow.output.endswith("(the gate still ran after 0.5 s and was ended)")
    assert after.passed


def test_a_gate_that_prints_without_end_keeps_the_end(
    orchestrator: Orchestrator, fake: FakeAgents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printed, "MAX_FILE", 100_000)
    code = "for n in range(200_000): print('line', n)\nprint('\\udcff\\x1b'.encode('utf-8', 'surrogateescape'))"

    run = orchestrator.delegate("Look", agent=fake(fake.report()), gates=[python(code)])

    output = run.gates[0].output
    assert run.gates[0].passed
    assert output is not None
    assert len(output) < printed.MAX_OUTPUT + 100
    assert output.startswith("(… ")
    assert output.endswith("line 199999\nb'\\xff\\x1b'")


def test_what_a_gate_prints_does_not_fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed, "MAX_FILE", 1000)
    with printed.Printed.capture(keep=10) as kept:
        os.write(kept.fd, b"x" * 1001)
        kept.drop_surplus()
        assert os.fstat(kept.fd).st_size == 0
        os.write(kept.fd, b"the end")
        assert kept.text() == "(… 998 bytes before)\nxxxthe end"


def test_what_a_gate_printed_is_told_safely(orchestrator: Orchestrator, fake: FakeAgents) -> None:
    code = r"print('early\n' * 20 + '\x1b[2J\u202eno\tway'); exit(1)"

    run = orchestrator.delegate("Look", agent=fake(fake.report()), gates=["true", python(code)])

    assert gate_lines(run) == [
        "  true: passed",
        "  gate: failed: exit code 1",
        *["    | early"] * 7,
        "    | \\x1b[2J\\u202eno\tway",
    ]


def test_a_gate_ends_before_the_test_around_it(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    left = 600.0

    def judge(run: Run) -> float:
        nonlocal left
        left = 3.0
        return 1.0

    orchestrator.settings = OrchestratorSettings(seconds_left=lambda: left)
    gates: list[Gate] = [ModelGate("j", judge, 1), python("import time; time.sleep(60)")]

    run = orchestrator.delegate("Look", agent=fake(fake.report()), gates=gates)

    assert run.gates[1].output == "(the gate still ran after 0.75 s and was ended)"


def test_a_gate_sees_what_agents_may_see(
    orchestrator: Orchestrator, fake: FakeAgents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "x")
    orchestrator.settings = OrchestratorSettings(pass_env=("TOKEN",))

    run = orchestrator.delegate("Look", agent=fake(fake.report()), gates=["printenv TOKEN"])

    assert run.gates[0].output == "x"


def test_no_gate_is_asked_about_a_task_that_was_taken_back(
    orchestrator: Orchestrator, fake: FakeAgents, tmp_path: Path
) -> None:
    agent = fake(fake.event("message", text="x"), fake.hang())
    begun = threading.Event()
    orchestrator.settings = OrchestratorSettings(on_event=lambda event: begun.set())
    pending = orchestrator.start("Wait", agent=agent, gates=[f"touch {tmp_path / 'canary'}"])
    assert begun.wait(30)

    pending.cancel()

    assert pending.wait().gates == ()
    assert not (tmp_path / "canary").exists()


def test_a_gate_that_runs_is_ended_when_the_task_is_taken_back(
    orchestrator: Orchestrator, fake: FakeAgents, tmp_path: Path
) -> None:
    # Opening the FIFO waits for the gate, which opens its other end.
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    gates: list[GateLike] = [
        python(f"open({str(fifo)!r}, 'w'); import time; time.sleep(60)"),
        "true",
    ]
    pending = orchestrator.start("Look", agent=fake(fake.report()), gates=gates)
    with fifo.open():
        pending.cancel()

    (gate,) = pending.wait().gates

    assert (gate.passed, gate.output) == (False, "(the task was cancelled, and the gate was ended)")


def test_a_program_that_the_agent_should_have_brought_is_a_failed_gate(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    run = orchestrator.delegate("Add check", agent=fake(fake.report()), gates=["./check.sh"])

    (gate,) = run.gates
    assert (gate.passed, gate.exit_code) == (False, None)
    assert gate.output is not None
    assert gate.output == (
        "the gate could not be started: command not found: './check.sh' (No such file or directory)"
    )
    assert "gate-failed" in run.codes


def test_a_program_that_is_nowhere_is_refused_before_anything_is_written(
    orchestrator: Orchestrator, fake: FakeAgents, repository: Repository
) -> None:
    with pytest.raises(GateError) as caught:
        orchestrator.delegate("Look", agent=fake(fake.report()), gates=["no-such-program-here"])

    assert str(caught.value) == (
        "gate 'no-such-program-here': the program 'no-such-program-here' is not on the PATH of "
        "agents: install it, or name it by its path"
    )
    assert not (repository.path / ".caesar").exists()


def test_a_gate_never_runs_what_the_agent_put_into_a_relative_folder_of_path(
    orchestrator: Orchestrator, fake: FakeAgents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join(["bin", "", os.environ["PATH"]]))
    agent = fake(
        fake.write("bin/grep", "#!/bin/sh\n", executable=True),
        fake.write("grep", "#!/bin/sh\n", executable=True),
        fake.report(),
    )

    run = orchestrator.delegate(
        "Write", agent=agent, gates=["grep x a.txt", ["sh", "-c", "grep x a.txt"]]
    )

    assert [(gate.passed, gate.exit_code) for gate in run.gates] == [(False, 1), (False, 1)]
    with pytest.raises(GateError) as caught:
        orchestrator.delegate("Write", agent=agent, gates=["no-such-program-here"])
    assert caught.value.problem == (
        "the program 'no-such-program-here' is not on the PATH of agents, whose relative folders "
        "an agent could fill: install it, or name it by its path"
    )


def test_a_gate_never_runs_where_a_link_in_place_of_the_workspace_leads(
    orchestrator: Orchestrator, fake: FakeAgents, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    code = (
        "import os, shutil; tree = os.getcwd(); os.chdir('/'); shutil.rmtree(tree); "
        f"os.symlink({str(outside)!r}, tree)"
    )
    agent = fake(fake.report(), fake.run(sys.executable, "-c", code))

    run = orchestrator.delegate("Write", agent=agent, gates=["touch here", "true"])

    assert list(outside.iterdir()) == []
    assert [(gate.passed, gate.exit_code) for gate in run.gates] == [(False, None)] * 2
    assert run.gates[0].output == (
        f"the gate was not asked: the workspace was replaced by a symbolic link to {outside}"
    )
    assert "gate-failed" in run.codes


def test_a_gate_never_runs_where_a_link_that_a_gate_left_leads(
    orchestrator: Orchestrator, fake: FakeAgents, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    code = (
        "import os; tree = os.getcwd(); os.rename(tree, tree + '-'); "
        f"os.symlink({str(outside)!r}, tree)"
    )

    run = orchestrator.delegate(
        "Write", agent=fake(fake.report()), gates=[python(code, name="swap"), "touch here"]
    )

    assert [gate.passed for gate in run.gates] == [True, False]
    assert list(outside.iterdir()) == []


def test_words_of_the_agent_never_reach_a_command(
    orchestrator: Orchestrator, fake: FakeAgents, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    report = fake.report(summary=f"$(touch {canary})", next_steps=[f"$ touch {canary}"])

    run = orchestrator.delegate("Look", agent=fake(report), gates=["true"])

    assert [gate.command for gate in run.gates] == ["true"]
    assert not canary.exists()


def test_nobody_else_writes_to_the_tree_while_gates_are_asked(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    refusals = []

    def judge(run: Run) -> float:
        with pytest.raises(CaesarError) as caught:
            orchestrator.delegate("Write", agent=fake(fake.report()), isolation="inplace")
        refusals.append(caught.value)
        return 1.0

    wishes: dict[str, Any] = {"agent": fake(fake.report()), "isolation": "inplace"}
    orchestrator.delegate("Write", gates=[ModelGate("j", judge, 1)], **wishes)

    assert [type(error).__name__ for error in refusals] == ["BusyError"]
    assert orchestrator.delegate("Write", **wishes).succeeded, "the lock is given back"


# --- judges ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "passed", "severity", "code"),
    [
        (1, True, None, None),
        (0.8, True, None, None),
        (0.79, False, "warning", "gate-warning"),
        (0.5, False, "warning", "gate-warning"),
        (0.49, False, "error", "gate-failed"),
        (0, False, "error", "gate-failed"),
    ],
)
def test_a_score_passes_warns_or_fails(
    *,
    score: float,
    passed: bool,
    severity: str | None,
    code: str | None,
    orchestrator: Orchestrator,
    fake: FakeAgents,
) -> None:
    gate = ModelGate("style", lambda run: score, threshold=0.8, soft_threshold=0.5, evaluator="me")

    run = orchestrator.delegate("Write", agent=fake(fake.report()), gates=[gate])

    (result,) = run.gates
    assert (result.type, result.evaluator, result.command) == ("model-evaluation", "me", None)
    assert (result.score, result.threshold, result.soft_threshold) == (score, 0.8, 0.5)
    assert (result.passed, result.severity) == (passed, severity)
    assert run.codes == frozenset(filter(None, [code]))


def test_without_a_soft_threshold_every_failure_is_an_error(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    gate = ModelGate("style", lambda run: 0.79, threshold=0.8)

    run = orchestrator.delegate("Write", agent=fake(fake.report()), gates=[gate])

    assert run.gates[0].severity == "error"
    assert run.diagnostics[-1].message == (
        "the report says success, and the gate 'style' failed: its score is 0.79, it passes from 0.8"
    )


def test_a_judge_sees_the_run_and_says_why(orchestrator: Orchestrator, fake: FakeAgents) -> None:
    def judge(run: Run) -> Evaluation:
        assert run.gates == ()
        return Evaluation(
            score=float("b.txt" in {change.path for change in run.changes}),
            rationale="there it is",
            dimensions={"tone": DimensionFeedback(status="ok")},
        )

    agent = fake(fake.write("b.txt", ""), fake.report())
    run = orchestrator.delegate("Add b", agent=agent, gates=["true", ModelGate("j", judge, 1)])

    assert [gate.passed for gate in run.gates] == [True, True]
    assert run.gates[1].rationale == "there it is"
    assert run.dimensions == {"tone": DimensionFeedback(status="ok")}


def test_a_judge_that_raises_is_no_fault_of_the_agent(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    def judge(run: Run) -> float:
        raise ConnectionError("no route\nto model")

    with pytest.raises(GateError) as caught:
        orchestrator.delegate("Write", agent=fake(fake.report()), gates=[ModelGate("j", judge, 1)])

    assert str(caught.value) == "gate 'j': the judge raised ConnectionError: no route to model"
    assert isinstance(caught.value.__cause__, ConnectionError)


@pytest.mark.parametrize("score", [1.1, -0.1, float("nan"), True, "good", None])
def test_a_judge_that_gives_no_score_is_an_error(
    score: object, orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    gate = ModelGate("j", lambda run: score, threshold=1)  # type: ignore[arg-type, return-value]

    with pytest.raises(GateError, match=r"the score is .*: expected a number from 0 to 1"):
        orchestrator.delegate("Write", agent=fake(fake.report()), gates=[gate])


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"rationale": 3}, "the rationale is 3: expected a string"),
        ({"dimensions": None}, "the dimensions are None: expected a DimensionFeedback by name"),
        ({"dimensions": {"tone": "ok"}}, "the dimensions are {'tone': 'ok'}: expected a DimensionFeedback by name"),
    ],
)  # fmt: skip
def test_an_evaluation_that_no_evidence_can_hold_is_an_error_of_the_judge(
    said: dict[str, Any], text: str, orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    gate = ModelGate("j", lambda run: Evaluation(score=0, **said), threshold=1)

    with pytest.raises(GateError) as caught:
        orchestrator.delegate("Write", agent=fake(fake.report()), gates=[gate])

    assert caught.value.problem == f"the judge raised TypeError: {text}"
