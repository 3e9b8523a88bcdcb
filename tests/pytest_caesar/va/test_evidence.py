"""What is proven about runs of real agents, and what was said about them."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from caesar_agent.va import (
    CancelPayload,
    CompletedPayload,
    DimensionFeedback,
    DispatchPayload,
    FailedPayload,
    ProgressPayload,
)
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.gates.gates import CommandGate, Evaluation, ModelGate
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.runs.run import Run
from pytest_caesar.va.conversation import Messages, conversation_of
from pytest_caesar.va.evidence import evidence_of, pitfall_of
from tests.caesar_agent.va import reference


def proof_of(run: Run) -> dict[str, Any]:
    """Return the evidence as JSON, after the given schema has looked at it."""
    value = evidence_of(run).dump()
    reference.validator("va-evidence").validate(value)
    assert evidence_of(run).remarks() == ()
    return value


def said_about(run: Run) -> Messages:
    messages = conversation_of(run)
    for message in messages:
        reference.validator("va-message").validate(message.dump())
    assert {message.correlation_id for message in messages} == {run.task.id}
    return messages


def test_completed_work_is_proven_by_what_git_shows(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    agent = fake(
        fake.write("b.txt", "two\n"),
        fake.rename("a.txt", "c.txt"),
        fake.print("working"),
        fake.report(
            "success", "Added b.", outputs={"count": 2}, artifacts=[{"path": "/bench.json"}]
        ),
    )
    run = orchestrator.delegate("Add b", agent=agent, gates=["true"])

    proof = proof_of(run)

    assert (proof["taskId"], proof["status"]) == ("t_0001", "completed")
    assert proof["artifacts"] == [
        {"type": "file", "path": "b.txt", "description": "created"},
        {"type": "file", "path": "c.txt", "description": "renamed from a.txt"},
        {"type": "file", "path": "/bench.json", "description": "kept by the agent, not verified"},
        {"type": "diff", "path": str(run.task_dir / "changes.patch"), "description": "all changes against the start, for git apply"},
        {"type": "report", "path": run.task.report_path, "description": "the agent's own report, from file"},
        {"type": "log", "path": str(run.task_dir / "raw.log"), "description": "what the agent printed"},
    ]  # fmt: skip
    assert proof["outputs"] == {"count": 2}
    assert proof["verification"] == (
        "git shows 2 changes; all as declared; 1 of 1 gates passed; the report came from file; "
        "the process succeeded"
    )
    assert [gate["passed"] for gate in proof["gateResults"]] == [True]
    assert (run.task_dir / "changes.patch").read_bytes() == bytes(run.patch)


def test_a_commit_of_the_agent_is_an_artifact(orchestrator: Orchestrator, fake: FakeAgents) -> None:
    agent = fake(fake.write("b.txt", "two\n"), fake.git("add", "-A"), fake.commit(), fake.report())
    run = orchestrator.delegate("Add b", agent=agent)

    commits = [item for item in proof_of(run)["artifacts"] if item["type"] == "commit"]

    assert [item["path"] for item in commits] == [run.observation.head]
    assert run.observation.head != run.task.base_ref


@pytest.mark.parametrize(
    ("steps", "wishes", "kind", "hypothesis"),
    [
        (lambda f: [f.report()], {"gates": ["false"]}, "gate", "false failed: exit code 1"),
        (lambda f: [f.report("partial", "half", next_steps=["the rest"])], {}, "acceptance", "the agent reports that only some of the work is done"),
        (lambda f: [f.report("failed", "no way")], {}, "unknown", "the agent reports that it did not succeed"),
        (lambda f: [f.report(), f.exit(3)], {}, "crash", "the report says success, and the exit code is 3"),
        (lambda f: [f.exit(3)], {}, "crash", "the agent left no report, and exit code 3"),
        (lambda f: [], {"mode": "read-only"}, "unknown", "the agent left no report that can be read"),
        (lambda f: [f.report(), f.kill()], {}, "crash", "the agent was ended by SIGKILL"),
        (lambda f: [f.hang()], {"timeout": 0.5}, "timeout", "the deadline of 0.5 s passed"),
        (lambda f: [f.hang()], {"timeout": 0.5, "gates": ["false"]}, "timeout", "the deadline of 0.5 s passed"),
        (lambda f: [f.write("b", ""), f.report()], {"mode": "read-only"}, "acceptance", "the task is read-only, and files were changed"),
        (lambda f: [f.report(outputs={"a": 1})], {"promised": ["a", "b"]}, "acceptance", "promised outputs are missing: b"),
        (lambda f: [f.report(outputs=[1])], {"promised": ["a"]}, "acceptance", "promised outputs are missing: a"),
    ],
)  # fmt: skip
def test_a_failure_says_what_kind_it_is_and_why(
    steps: Any,
    wishes: dict[str, Any],
    kind: str,
    hypothesis: str,
    orchestrator: Orchestrator,
    fake: FakeAgents,
) -> None:
    run = orchestrator.delegate("Work", agent=fake(*steps(fake)), **wishes)

    proof = proof_of(run)

    assert proof["status"] == "failed"
    detail = proof["failureDetail"]
    assert (detail["failureType"], detail["hypothesis"]) == (kind, hypothesis)
    assert detail["attempted"] == run.report.summary
    (last,) = said_about(run)[-1:]
    assert isinstance(last.payload, FailedPayload)
    assert last.payload.retryable


def test_an_agent_that_had_to_be_ended_after_its_report_has_completed_its_task(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    orchestrator.settings = OrchestratorSettings(linger=0.1)
    run = orchestrator.delegate("Look", agent=fake(fake.report(), fake.hang()))

    assert run.outcome.killed_after_report
    assert proof_of(run)["status"] == "completed"


def test_the_dimensions_of_a_failure_say_which_side_it_was(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    def judge(run: Run) -> Evaluation:
        return Evaluation(
            score=0.25, dimensions={"tone": DimensionFeedback(status="mismatch", detail="shrill")}
        )

    agent = fake(fake.write("b.txt", ""), fake.report(changes=[]))
    run = orchestrator.delegate(
        "Write", agent=agent, gates=["true", ModelGate("style", judge, 0.5)], promised=["url"]
    )

    assert proof_of(run)["failureDetail"]["dimensions"] == {
        "report": {"status": "ok", "detail": "from file: success"},
        "changes": {"status": "mismatch", "detail": "b.txt undeclared"},
        "outputs": {"status": "missing", "detail": "url"},
        "gate: true": {"status": "ok"},
        "gate: style": {"score": 0.25, "status": "mismatch", "detail": "failed: its score is 0.25, it passes from 0.5"},
        "tone": {"status": "mismatch", "detail": "shrill"},
    }  # fmt: skip


def test_what_a_failed_gate_printed_is_there_for_the_next_attempt(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    run = orchestrator.delegate(
        "Write", agent=fake(fake.report("success", "Wrote it.")), gates=["ls no-such-file"]
    )

    pitfall = pitfall_of(evidence_of(run), attempt=1)

    assert (pitfall.id, pitfall.failure_type, pitfall.attempted) == (
        "t_0001#1",
        "gate",
        "Wrote it.",
    )
    assert pitfall.missing_context is not None
    assert "no-such-file" in pitfall.missing_context


def test_how_a_gate_ended_is_said_once(orchestrator: Orchestrator, fake: FakeAgents) -> None:
    gates = [CommandGate(["sh", "-c", "echo begun; kill -9 $$"], name="crash")]
    run = orchestrator.delegate("Write", agent=fake(fake.report()), gates=gates)

    side = proof_of(run)["failureDetail"]["dimensions"]["gate: crash"]

    assert side["detail"] == "failed: the gate was ended by SIGKILL\nbegun"


def test_what_did_not_fail_is_no_pitfall(orchestrator: Orchestrator, fake: FakeAgents) -> None:
    run = orchestrator.delegate("Look", agent=fake(fake.report()))

    with pytest.raises(ValueError, match="the evidence of 't_0001' is completed, not failed"):
        pitfall_of(evidence_of(run), attempt=1)


def test_questions_say_what_a_blocked_task_waits_for(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    questions = [
        {"id": "q1", "question": "Keep it?", "options": ["yes", "no"]},
        {"id": "q2", "question": "Which name?"},
    ]
    agent = fake(fake.report("blocked", "Two things are open.", questions=questions))
    run = orchestrator.delegate("Rename", agent=agent, gates=["false"])

    proof = proof_of(run)

    assert proof["status"] == "blocked"
    assert proof["blockReason"] == {
        "type": "human-decision",
        "description": "Two things are open.",
        "requiredAction": "answer: Keep it? (yes / no); Which name?",
    }
    assert said_about(run)[-1].type == "blocked"


def test_what_was_changed_against_the_rules_is_no_open_question(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    report = fake.report("blocked", "?", questions=[{"id": "q", "question": "Why?"}])
    run = orchestrator.delegate("Look", agent=fake(fake.write("b", ""), report), mode="read-only")

    proof = proof_of(run)

    assert proof["status"] == "failed"
    assert proof["failureDetail"]["hypothesis"] == "the task is read-only, and files were changed"


@pytest.mark.parametrize(
    ("mode", "status", "why"),
    [
        ("write", "blocked", "Git could not tell what changed: the folder "),
        ("read-only", "failed", "the task is read-only, and nobody can say that it was kept"),
    ],
)
def test_what_git_cannot_tell_is_not_completed(
    mode: Any, status: str, why: str, orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    code = "import os, shutil; tree = os.getcwd(); os.chdir('/'); shutil.rmtree(tree)"
    agent = fake(fake.report(), fake.run(sys.executable, "-c", code))
    run = orchestrator.delegate("Write", agent=agent, mode=mode)

    proof = proof_of(run)

    assert run.succeeded
    assert proof["status"] == status
    told = proof["blockReason" if status == "blocked" else "failureDetail"]
    assert told["description" if status == "blocked" else "hypothesis"].startswith(why)


def test_a_warning_has_a_person_look_at_it(orchestrator: Orchestrator, fake: FakeAgents) -> None:
    gate = ModelGate("style", lambda run: 0.6, threshold=0.8, soft_threshold=0.5)
    run = orchestrator.delegate("Write", agent=fake(fake.report()), gates=[gate])

    proof = proof_of(run)

    assert proof["status"] == "blocked"
    assert proof["blockReason"]["type"] == "human-decision"
    assert proof["blockReason"]["description"] == (
        "style gave a warning: its score is 0.6, it passes from 0.8, and warnings from 0.5"
    )


def test_a_run_is_told_as_a_conversation(orchestrator: Orchestrator, fake: FakeAgents) -> None:
    agent = fake(
        fake.event("progress", message="half way", pct=50),
        fake.event("message", text="nearly"),
        fake.write("b.txt", ""),
        fake.report(),
    )
    run = orchestrator.delegate("Add b", agent=agent, acceptance_criteria=["b is there"])

    messages = said_about(run)

    assert [message.type for message in messages] == [
        "dispatch",
        "accepted",
        "progress",
        "progress",
        "completed",
    ]
    assert [message.source_id for message in messages] == ["orchestrator", *["fake"] * 4]
    dispatch, _, half, _, completed = (message.payload for message in messages)
    assert isinstance(dispatch, DispatchPayload)
    assert dispatch.task.acceptance_criteria == ("b is there",)
    assert isinstance(half, ProgressPayload)
    assert (half.summary, half.completion_estimate) == ("half way", 0.5)
    assert isinstance(completed, CompletedPayload)
    assert completed.evidence == evidence_of(run)
    # The times between are the agent's own word.
    assert messages[0].timestamp <= messages[1].timestamp <= messages[-1].timestamp
    assert len(messages.of_type("progress")) == 2


@pytest.mark.parametrize("end", ["9999-12-31T23:59:59.999-02:00", "2001-01-01T00:00:00Z"])
def test_events_of_any_time_leave_a_conversation_that_is_valid(
    end: str, orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    lines = "".join(
        f'{{"protocol":"caesar.event/v1","seq":{seq},"at":"{at}","task_id":"t_0001",{rest}}}\n'
        for seq, at, rest in [
            (50, "0001-01-01T00:00:00+02:00", '"type":"started","agent":"x"'),
            (51, "9999-12-31T23:59:59.999-02:00", '"type":"message","text":"late \\ud83d"'),
            (52, "0000-01-01T00:00:00Z", '"type":"message","text":"early"'),
            (53, end, '"type":"finished","status":"success"'),
        ]
    )
    run = orchestrator.delegate("Look", agent=fake(fake.event_bytes(lines), fake.report()))

    messages = said_about(run)

    assert [message.type for message in messages] == [
        *("dispatch", "accepted", "progress", "progress", "completed")
    ]
    first, accepted, last = messages[0], messages[1], messages[-1]
    assert first.timestamp <= accepted.timestamp <= last.timestamp
    assert last.timestamp < "9999"


def test_a_task_that_was_taken_back_ends_with_cancel(
    orchestrator: Orchestrator, fake: FakeAgents
) -> None:
    begun = threading.Event()
    orchestrator.settings = OrchestratorSettings(on_event=lambda event: begun.set())
    pending = orchestrator.start("Wait", agent=fake(fake.event("message", text="x"), fake.hang()))
    assert begun.wait(30)
    pending.cancel()
    run = pending.wait()

    messages = said_about(run)

    assert messages[-1].type == "cancel"
    assert messages[-1].source_id == "orchestrator"
    assert isinstance(messages[-1].payload, CancelPayload)
    assert messages[-1].timestamp >= messages[-2].timestamp, "the harness tells of the end later"
    assert proof_of(run)["failureDetail"]["hypothesis"] == "the task was cancelled"


def test_paths_of_any_bytes_can_be_told(orchestrator: Orchestrator, fake: FakeAgents) -> None:
    code = "open(b'caf\\xe9.txt', 'w').close()"
    run = orchestrator.delegate(
        "Add", agent=fake(fake.run("python3", "-c", code), fake.report(changes=[]))
    )

    paths = [item.get("path") for item in proof_of(run)["artifacts"]]

    assert "caf\\xe9.txt" in paths
    assert evidence_of(run).to_json().encode()


def test_outside_git_nothing_is_verified_and_that_is_said(fake: FakeAgents, tmp_path: Any) -> None:
    (tmp_path / "plain").mkdir()
    orchestrator = Orchestrator(project=tmp_path / "plain")
    agent = fake(fake.write("b.txt", ""), fake.report())
    run = orchestrator.delegate("Add b", agent=agent, isolation="inplace")

    proof = proof_of(run)

    assert proof["status"] == "completed"
    assert proof["artifacts"][0] == {
        "type": "file", "path": "b.txt", "description": "created, not verified",
    }  # fmt: skip
    assert proof["verification"].startswith("git could not tell what changed")
    failed = orchestrator.delegate("Add b", agent=agent, isolation="inplace", gates=["false"])
    assert set(proof_of(failed)["failureDetail"]["dimensions"]) == {"report", "gate: false"}
