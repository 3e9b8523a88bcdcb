"""Fake agents do what they are told, honestly and dishonestly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.fake_agent.checks import Place, StepError
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.recovery.evidence import Status
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository


@pytest.fixture
def fake(caesar_fake_agent: FakeAgents) -> FakeAgents:
    return caesar_fake_agent


@pytest.fixture
def repo(caesar_repo: Repository) -> Repository:
    caesar_repo.commit({"a.txt": "a\n", "b.txt": "b\n"})
    return caesar_repo


def actions(run: Run) -> dict[str, str]:
    return {change.path: change.action for change in run.changes}


def test_it_declares_what_it_did(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    run = caesar_orchestrator.delegate(
        "Work",
        agent=fake(
            fake.write("a.txt", "A\n"),
            fake.write("new/c.bin", b"\x00\xff"),
            fake.write("gone.txt", "for a moment"),
            fake.delete("gone.txt"),
            fake.delete("b.txt"),
            fake.symlink("link", "a.txt"),
            fake.report("success", "Worked."),
        ),
    )
    assert run.succeeded
    assert actions(run) == {
        "a.txt": "modified",
        "b.txt": "deleted",
        "link": "created",
        "new/c.bin": "created",
    }
    assert len(run.reconciliation.matched) == 4
    assert run.diagnostics == ()


def test_it_can_declare_something_else(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    run = caesar_orchestrator.delegate(
        "Work",
        agent=fake(
            fake.write("a.txt", "A\n"),
            fake.write("c.txt", "c\n"),
            fake.report(
                changes=["b.txt", ("a.txt", "deleted"), {"path": "d", "action": "created"}]
            ),
        ),
    )
    reconciliation = run.reconciliation
    assert [entry.path for entry in reconciliation.undeclared] == ["c.txt"]
    assert [entry.path for entry in reconciliation.phantom] == ["b.txt", "d"]
    assert [entry.path for entry in reconciliation.wrong_action] == ["a.txt"]


def test_it_commits_and_is_seen_all_the_same(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    agent = fake(fake.write("c.txt", "c\n"), fake.commit("Add c"), fake.report())
    run = caesar_orchestrator.delegate("Work", agent=agent)
    assert actions(run) == {"c.txt": "created"}
    assert run.observation.head != repo.head


@pytest.mark.parametrize("place", ["file", "stdout", "fence", "submission"])
def test_it_hands_in_its_report_where_it_is_told(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator, place: Place
) -> None:
    agent = fake(
        fake.report("blocked", "Cannot.", to=place, questions=[{"id": "q", "question": "?"}])
    )
    run = caesar_orchestrator.delegate("Work", agent=agent)
    expected = {"file": "file", "submission": "channel"}
    assert run.source == expected.get(place, "extracted")
    assert run.status == "blocked"


@pytest.mark.parametrize(
    "broken",
    [
        {"cut": 40},
        {"protocol": "caesar.report/v2"},
        {"protocol": None},
        {"task_id": "t_other"},
        {"status": "done"},
        {"summary": ""},
    ],
    ids=str,
)
def test_a_report_that_is_broken_is_not_taken_for_one(
    fake: FakeAgents,
    repo: Repository,
    caesar_orchestrator: Orchestrator,
    broken: dict[str, object],
) -> None:
    run = caesar_orchestrator.delegate("Work", agent=fake(fake.report(**broken)))  # type: ignore[arg-type]
    assert run.source == "synthesized"
    assert not run.succeeded
    assert run.diagnostics


def test_a_report_in_another_encoding_is_read_and_flagged(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    agent = fake(fake.report("failed", "Zu spät.", encoding="utf-16"))
    run = caesar_orchestrator.delegate("Work", agent=agent)
    assert run.source == "file"
    assert run.report.summary == "Zu spät."
    assert run.diagnostics


@pytest.mark.parametrize("kind", ["directory", "fifo", "symlink"])
def test_what_is_no_file_is_not_opened(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator, kind: str
) -> None:
    agent = fake(fake.report_as(kind, "/etc/passwd"))  # type: ignore[arg-type]
    run = caesar_orchestrator.delegate("Work", agent=agent)
    assert run.source == "synthesized"


def test_the_last_of_two_reports_counts(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    agent = fake(fake.report("success", "One."), fake.report("failed", "Two."))
    assert caesar_orchestrator.delegate("Work", agent=agent).report.summary == "Two."


def test_a_brief_that_is_echoed_is_no_report(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    run = caesar_orchestrator.delegate("Work", agent=fake(fake.print_brief(prefix="> ")))
    assert run.source == "synthesized"
    assert run.brief.splitlines()[0] in run.raw_log.decode()


@pytest.mark.parametrize(("end", "code", "signal"), [("exit", 7, None), ("kill", None, "SIGKILL")])
def test_it_ends_as_it_is_told(
    fake: FakeAgents,
    repo: Repository,
    caesar_orchestrator: Orchestrator,
    end: str,
    code: int | None,
    signal: str | None,
) -> None:
    agent = fake(fake.exit(7) if end == "exit" else fake.kill())
    outcome = caesar_orchestrator.delegate("Work", agent=agent).outcome
    assert (outcome.exit_code, outcome.signal) == (code, signal)


def test_it_hangs_until_its_deadline_and_says_goodbye(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    farewell = fake.on_signal("SIGTERM", fake.report("partial", "Was stopped."), fake.exit(0))
    run = caesar_orchestrator.delegate("Work", agent=fake(farewell, fake.hang()), timeout=3)
    assert run.outcome.timed_out
    assert run.report.summary == "Was stopped."


def test_it_leaves_a_process_behind(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    agent = fake(fake.leave(fake.ignore(), fake.hang()), fake.report())
    run = caesar_orchestrator.delegate("Work", agent=agent)
    assert len(run.outcome.leaked) == 1
    assert run.source == "file"


def test_it_logs_events_whole_and_torn(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    run = caesar_orchestrator.delegate(
        "Work",
        agent=fake(
            fake.event("progress", message="half", pct=50),
            fake.event_bytes(b'{"protocol": "caesar.event/v1", "se'),
            fake.report(),
        ),
    )
    assert [event.type for event in run.events].count("progress") == 1
    assert run.diagnostics


def test_its_program_needs_nothing_but_python(fake: FakeAgents) -> None:
    agent = fake(fake.write("x", "1"), fake.read_stdin(), fake.environment(), fake.exit(3))
    assert agent.argv[:3] == (sys.executable, "-I", "-S")
    done = subprocess.run(
        [*agent.argv[:4], "brief"], cwd=agent.project, input=b"in", capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, b"stdin: 2 bytes\nin", b"")
    with open(f"{agent.project}/environment.json") as file:  # noqa: PTH123
        assert "PATH" in json.load(file)


MISTAKES: list[tuple[Callable[[FakeAgents], object], str]] = [
    (
        lambda fake: fake("write"),  # type: ignore[arg-type]
        (
            "'write': this is no step of a fake agent; make one with caesar_fake_agent.write(...), "
            ".report(...), …"
        ),
    ),
    (
        lambda fake: fake.report(to="fenc"),  # type: ignore[arg-type]
        'report(to="fenc"): expected file, submission, message, stdout or fence',
    ),
    (
        lambda fake: fake.report_bytes("", to="disk"),  # type: ignore[arg-type]
        'report_bytes(to="disk"): expected file, submission, message, stdout or fence',
    ),
    (
        lambda fake: fake.report_as("pipe"),  # type: ignore[arg-type]
        'report_as("pipe"): expected directory, fifo or symlink',
    ),
    (
        lambda fake: fake.report(encoding="utf-99"),
        (
            'report(encoding="utf-99"): Python knows no such encoding; expected utf-8, utf-16, '
            "latin-1, …"
        ),
    ),
    (
        lambda fake: fake.leave(),
        (
            "leave(): without steps nothing stays behind; say what it does, as in "
            "leave(caesar_fake_agent.hang())"
        ),
    ),
    (
        lambda fake: fake.kill("SIGKIL"),
        'kill("SIGKIL"): there is no such signal; did you mean "SIGKILL" or "SIGILL"?',
    ),
    (
        lambda fake: fake.run(["ls", "-l"]),  # type: ignore[arg-type]
        "run(['ls', '-l']): words are given one by one: run('ls', '-l')",
    ),
    (lambda fake: fake.git(), "git(): words are given one by one: git('status')"),
    (
        lambda fake: fake.event("progress", pct=object),
        (
            "a step of a fake agent (event): it is written into a program, which <class 'object'> "
            "(type) cannot be; give text, bytes, numbers, lists or dicts"
        ),
    ),
]


@pytest.mark.parametrize(("mistake", "said"), MISTAKES)
def test_a_mistake_is_told_where_it_is_made(
    fake: FakeAgents, mistake: Callable[[FakeAgents], object], said: str
) -> None:
    with pytest.raises(StepError) as raised:
        mistake(fake)
    assert str(raised.value) == said


def test_it_takes_paths_and_words_of_the_documents(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    agent = fake(
        fake.write(PurePosixPath("src/c.txt"), "c\n"),  # type: ignore[arg-type]
        fake.report(Status.PARTIAL),
    )
    run = caesar_orchestrator.delegate("Work", agent=agent)
    assert run.status == "partial"
    assert actions(run) == {"src/c.txt": "created"}


def test_it_does_not_wait_for_an_answer_that_cannot_come(
    fake: FakeAgents, repo: Repository, caesar_orchestrator: Orchestrator
) -> None:
    agent = fake(fake.ask("Keep it?", timeout=1000), fake.report())
    run = caesar_orchestrator.delegate("Work", agent=agent, timeout=60)
    assert run.succeeded
    assert b"open it with the fixture caesar_answers" in run.raw_log


def test_an_agent_that_varies_draws_by_its_seed_and_its_task(tmp_path: Path) -> None:
    report = tmp_path / "report.json"

    def statuses(rate: float, seed: int = 0) -> list[str]:
        fakes = FakeAgents(tmp_path, salt="a test")
        sometimes = fakes.sometimes(
            rate, fakes.report(), otherwise=[fakes.report("failed")], seed=seed
        )
        program = fakes(sometimes).argv
        found = []
        for task in ("t_0001", "t_0002", "t_0003", "t_0004", "t_0005"):
            env = {"CAESAR_TASK_ID": task, "CAESAR_REPORT_PATH": str(report)}
            subprocess.run(program, env=env, check=True, timeout=60)
            found.append(json.loads(report.read_text())["status"])
        return found

    assert statuses(1.0) == ["success"] * 5
    assert statuses(0.0) == ["failed"] * 5
    varied = statuses(0.5)
    assert set(varied) == {"success", "failed"}
    assert statuses(0.5) == varied
    assert statuses(0.5, seed=1) != varied
    with pytest.raises(StepError, match="expected a rate from 0"):
        FakeAgents(tmp_path).sometimes(80)
