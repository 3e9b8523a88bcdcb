"""A delegation that is played back is the delegation that was recorded."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.fake_agent.agent import FakeAgents, Step
from pytest_caesar.recordings.cassette import Mode
from pytest_caesar.recordings.errors import (
    RecordingBrokenError,
    RecordingMismatchError,
    RecordingMissingError,
)
from pytest_caesar.runs.run import Run
from tests.pytest_caesar.recordings.staging import Execution, Stage, same

LEAD = """\
def main(agent):
    return agent.success(agent.delegate("helper", "Help").summary)
"""
"""Python of an agent that hands its task on."""

GONE = ("/no/such/program", "{{prompt}}")


Steps: TypeAlias = Callable[[FakeAgents], list[Step]]


def unstartable(agent: ProcessAgent) -> ProcessAgent:
    """Return the same agent, which cannot be started."""
    return replace(agent, argv=GONE)


def record_and_replay(stage: Stage, *steps: Step, **wishes: Any) -> tuple[Run, Run]:
    """Return a live run and what was played back of it, by an agent that cannot be started."""
    agent = stage.fake(*steps)
    recording = stage.begin("once")
    live = recording.delegate(agent, **wishes)
    assert recording.cassette.judge() is None
    replaying = stage.begin("none")
    played = replaying.delegate(unstartable(agent), **wishes)
    assert replaying.cassette.judge() is None
    return live, played


def test_everything_is_as_it_was_without_starting_the_agent(stage: Stage) -> None:
    fake = stage.fake
    live, played = record_and_replay(
        stage,
        fake.print(b"colours \x1b[31m, bytes \xff\0, {{caesar:home}} \\x41\r\n"),
        fake.event("progress", message="half", pct=50),
        fake.write("src/new.py", "x = 1\n"),
        fake.write("b.bin", bytes(range(256))),
        fake.write("run.sh", "#!/bin/sh\n", executable=True),
        fake.rename("a.txt", "c.txt"),
        fake.symlink("link", "c.txt"),
        fake.report(),
    )
    assert same(played) == same(live)
    assert live.recording is None
    assert played.recording == stage.folder / "1"
    assert (played.workspace / "src/new.py").read_text() == "x = 1\n"


@pytest.mark.parametrize(
    "steps",
    [
        lambda fake: [fake.exit(3)],
        lambda fake: [fake.kill("SIGKILL")],
        lambda fake: [fake.report(cut=20)],
        lambda fake: [fake.report(to="submission", status="partial")],
        lambda fake: [fake.write("x", "x"), fake.report(to="fence")],
        lambda fake: [fake.report(to="stdout", encoding="utf-16")],
        lambda fake: [fake.report(changes=["phantom.txt"])],
        lambda fake: [fake.event_bytes(b'{"torn": '), fake.report()],
        lambda fake: [fake.report(), fake.report(status="failed", to="fence")],
        lambda fake: [fake.report(), fake.leave(fake.hang())],
    ],
    ids=[
        *("exit code", "signal", "torn report", "submission", "fence", "utf-16", "phantom"),
        *("torn event", "contradiction", "left behind"),
    ],
)
def test_however_it_ended_and_reported(stage: Stage, steps: Steps) -> None:
    live, played = record_and_replay(stage, *steps(stage.fake))
    assert same(played) == same(live)
    tiers = [run.without("channel", "file") for run in (live, played)]
    assert tiers[0].source == tiers[1].source


def test_an_agent_that_was_ended_at_its_deadline(stage: Stage) -> None:
    live, played = record_and_replay(stage, stage.fake.hang(), timeout=0.3)
    assert live.outcome.timed_out
    assert same(played) == same(live)


def test_a_native_stream_is_not_told_twice(stage: Stage) -> None:
    fake = stage.fake
    line = '{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Hello."}}\n'
    agent = fake(fake.print(line), fake.print("noise\n", stderr=True), dialect="codex")
    live = stage.begin("once").delegate(agent)
    played = stage.begin("none").delegate(unstartable(agent))
    assert same(played) == same(live)
    assert (played.task_dir / "stderr.log").read_bytes() == b"noise\n"


def test_what_the_agent_did_to_git_is_told_as_it_was(stage: Stage) -> None:
    fake = stage.fake
    live, played = record_and_replay(
        stage, fake.write("x", "x"), fake.commit(), fake.git("tag", "v1"), fake.report()
    )
    assert "refs-changed" in live.codes
    assert same(played) == same(live)


def test_ids_and_folders_are_those_of_the_replay(stage: Stage) -> None:
    fake = stage.fake
    live, played = record_and_replay(
        stage, fake.environment("env.json"), fake.report(), context="Look around."
    )
    text = (played.workspace / "env.json").read_text()
    assert str(played.task_dir) in text
    assert str(live.task_dir) not in text
    assert played.task.id != live.task.id
    assert played.report.task_id == played.task.id


def test_no_path_of_the_machine_is_left_in_a_recording(stage: Stage) -> None:
    fake = stage.fake
    live, _ = record_and_replay(stage, fake.environment("env.json"), fake.report())
    kept = b"".join(path.read_bytes() for path in stage.folder.rglob("*") if path.is_file())
    for gone in (live.task_dir, live.workspace, live.task.id, "caesar-home-"):
        assert str(gone).encode() not in kept


@pytest.mark.parametrize("mode", ["write", "read-only"])
def test_in_place_beside_work_that_is_not_committed(stage: Stage, mode: str) -> None:
    fake = stage.fake
    agent = fake(fake.write("a.txt", "one\nTWO\nthree\n"), fake.report())
    runs = []
    modes: tuple[Mode, ...] = ("once", "none")
    for how in modes:
        execution = stage.begin(how)
        execution.repository.write("mine.txt", "not the agent's\n")
        runs.append(execution.delegate(agent, isolation="inplace", mode=mode))
        assert (runs[-1].workspace / "a.txt").read_text() == "one\nTWO\nthree\n"
        assert execution.cassette.judge() is None
    assert same(runs[0]) == same(runs[1])
    assert [change.path for change in runs[1].changes] == ["a.txt"]


@pytest.mark.parametrize("setting", ["core.autocrlf=true", "apply.whitespace=fix", "none"])
def test_settings_and_states_of_the_repository_do_not_matter(stage: Stage, setting: str) -> None:
    fake = stage.fake
    agent = fake(
        fake.write("a.txt", "one  \r\n", append=True), fake.write("new.txt", "x \n"), fake.report()
    )
    runs = []
    modes: tuple[Mode, ...] = ("once", "none")
    for how in modes:
        execution = stage.begin(how)
        if setting == "none":
            shutil.rmtree(execution.repository.path / ".git")
            execution.repository.git("init", "-q")  # no commit
        else:
            execution.repository.git("config", *setting.split("="))
        runs.append(execution.delegate(agent))
        assert execution.cassette.judge() is None
    assert same(runs[0]) == same(runs[1])
    assert runs[1].changes


# -- secrets


def test_secrets_of_the_environment_are_in_no_file(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-verysecret-1")
    fake = stage.fake
    _, played = record_and_replay(
        stage,
        fake.print("key: sk-verysecret-1\n"),
        fake.event("progress", message="sk-verysecret-1"),
        fake.write("conf.txt", "key = sk-verysecret-1\n"),
        fake.report(summary="Used sk-verysecret-1."),
    )
    kept = b"".join(path.read_bytes() for path in stage.folder.rglob("*") if path.is_file())
    assert b"verysecret" not in kept
    assert played.report.summary == "Used {{caesar:secret:SOME_API_KEY}}."
    assert "{{caesar:secret:SOME_API_KEY}}" in (played.workspace / "conf.txt").read_text()


@pytest.mark.parametrize("where", ["binary", "context"])
def test_a_secret_that_cannot_be_hidden_is_not_recorded(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "sk-verysecret-1")
    fake = stage.fake
    stage.files["conf.txt"] = "sk-verysecret-1\nx\n"
    step = {
        "binary": fake.write("b.bin", b"\0sk-verysecret-1\xff"),
        "context": fake.write("conf.txt", "sk-verysecret-1\ny\n"),
    }[where]
    execution = stage.begin("once")
    run = execution.delegate(fake(step, fake.report()))
    assert run.succeeded
    assert "the value of the variable SOME_TOKEN" in (execution.cassette.judge() or "")
    assert not (stage.folder / "1").exists()


# -- questions


def asking(stage: Stage, *, after: float = 10.0) -> ProcessAgent:
    fake = stage.fake
    return fake(fake.ask("Keep it?", ["yes", "no"], timeout=after), fake.report())


def test_questions_are_asked_again_and_use_the_script(stage: Stage) -> None:
    agent = asking(stage)
    live = stage.begin("once", answers=ScriptedAnswers().on("Keep", "no")).delegate(agent)
    script = ScriptedAnswers().on("Keep", "no")
    played = stage.begin("none", answers=script).delegate(unstartable(agent))
    assert same(played) == same(live)
    assert played.questions[0].answer == "no"
    assert script.judge() is None


@pytest.mark.parametrize("after", [0.0, None])
def test_silence_is_played_back_too(stage: Stage, after: float | None) -> None:
    agent = asking(stage, after=0.2)

    def silence() -> ScriptedAnswers:
        return ScriptedAnswers().silence("Keep", after=after)

    live = stage.begin("once", answers=silence()).delegate(agent)
    script = silence()
    played = stage.begin("none", answers=script).delegate(unstartable(agent))
    assert same(played) == same(live)
    assert script.judge() is None


def test_an_answer_that_has_changed_is_named(stage: Stage) -> None:
    agent = asking(stage)
    stage.begin("once", answers=ScriptedAnswers().on("Keep", "no")).delegate(agent)
    with pytest.raises(RecordingMismatchError) as caught:
        stage.begin("none", answers=ScriptedAnswers().on("Keep", "yes")).delegate(agent)
    assert str(caught.value) == (
        f"{stage.folder}/1: a question of the agent is answered otherwise than when it was "
        "recorded: answer to 'Keep it?'\n"
        "  answer to 'Keep it?', as recorded: 'no'\n"
        "  answer to 'Keep it?', now:         'yes'\n"
        "Where that is meant, record anew with --caesar-record=all."
    )


def test_a_question_that_is_scripted_no_more_is_named(stage: Stage) -> None:
    agent = asking(stage)
    stage.begin("once", answers=ScriptedAnswers().on("Keep", "no")).delegate(agent)
    script = ScriptedAnswers()
    with pytest.raises(RecordingMismatchError, match=r"now: +'rejected'"):
        stage.begin("none", answers=script).delegate(agent)
    assert "unscripted question" in (script.judge() or "")


# -- what must match


def test_a_task_that_differs_is_refused_field_by_field(stage: Stage) -> None:
    agent = stage.fake(stage.fake.report())
    stage.begin("once").delegate(agent, "Fix the parser", constraints=["No new files."])
    execution = stage.begin("none")
    with pytest.raises(RecordingMismatchError) as caught:
        execution.delegate(agent, "Fix the lexer", mode="read-only")
    assert [name for name, _, _ in caught.value.differences] == ["objective", "constraints", "mode"]
    assert "  objective, as recorded: 'Fix the parser'\n" in str(caught.value)
    assert "  objective, now:         'Fix the lexer'\n" in str(caught.value)
    assert list((execution.repository.path / ".caesar").rglob("t_*")) == []


@pytest.mark.parametrize(
    ("field", "wishes"),
    [
        ("context", {"context": "More."}),
        ("acceptance_criteria", {"acceptance_criteria": ["It works."]}),
        ("isolation", {"isolation": "inplace"}),
        ("channel", {"channel": True}),
        ("ticket", {"task_fields": {"ticket": 7}}),
    ],
)
def test_every_field_of_the_task_counts(stage: Stage, field: str, wishes: dict[str, Any]) -> None:
    agent = stage.fake(stage.fake.report())
    stage.begin("once").delegate(agent)
    with pytest.raises(RecordingMismatchError, match=f"was recorded: {field}\n"):
        stage.begin("none").delegate(agent, **wishes)


def test_the_files_that_the_agent_starts_from_count(stage: Stage) -> None:
    agent = stage.fake(stage.fake.report())
    stage.begin("once").delegate(agent)
    stage.files["a.txt"] = "other\n"
    with pytest.raises(RecordingMismatchError, match="base_tree"):
        stage.begin("none").delegate(agent)


def test_another_agent_is_named(stage: Stage) -> None:
    fake = stage.fake
    stage.begin("once").delegate(fake(fake.report(), id="one"))
    with pytest.raises(RecordingMismatchError, match="agent, as recorded: 'one'"):
        stage.begin("once").delegate(fake(fake.report(), id="two"))


def test_deadlines_and_commits_do_not_count(stage: Stage) -> None:
    agent = stage.fake(stage.fake.report())
    stage.begin("once").delegate(agent, timeout=100)
    execution = stage.begin("none")
    execution.repository.git("commit", "-q", "--allow-empty", "-m", "Another id, the same files")
    assert execution.delegate(agent, timeout=50).succeeded


def test_paths_of_the_test_do_not_count(stage: Stage) -> None:
    agent = stage.fake(stage.fake.report())
    first = stage.begin("once")
    first.delegate(agent, f"Look at {first.repository.path}/a.txt")
    second = stage.begin("none")
    assert second.delegate(agent, f"Look at {second.repository.path}/a.txt").succeeded


# -- several delegations


def both(execution: Execution, agents: list[object], order: list[int]) -> list[str]:
    """Delegate two tasks; return what was reported."""
    return [execution.delegate(agents[i], f"Task {i}").summary for i in order]


def test_several_delegations_are_found_by_their_task(stage: Stage) -> None:
    fake = stage.fake
    agents: list[object] = [fake(fake.report(summary=f"Did {i}.")) for i in range(2)]
    assert both(stage.begin("once"), agents, [0, 1]) == ["Did 0.", "Did 1."]
    assert both(stage.begin("none"), agents, [1, 0]) == ["Did 1.", "Did 0."]


def test_delegations_of_the_same_task_are_played_in_order(stage: Stage) -> None:
    fake = stage.fake
    execution = stage.begin("once")
    for i in range(2):
        execution.delegate(fake(fake.report(summary=f"Did {i}.")))
    execution = stage.begin("once")
    agent = fake(fake.report())
    assert [execution.delegate(agent).summary for _ in range(2)] == ["Did 0.", "Did 1."]
    with pytest.raises(RecordingMissingError) as caught:
        execution.delegate(agent)
    assert str(caught.value) == (
        f"{stage.folder}: 2 delegations are recorded, and this is one more; "
        "record anew with --caesar-record=all"
    )


def test_delegations_in_the_background_are_played_back(stage: Stage) -> None:
    fake = stage.fake
    agents = [fake(fake.write(f"{i}", "x"), fake.report(summary=f"Did {i}.")) for i in range(2)]
    modes: tuple[Mode, ...] = ("once", "none")
    for mode in modes:
        execution = stage.begin(mode)
        pending = [
            execution.orchestrator.start(f"Task {i}", agent=agents[i], isolation="worktree")
            for i in range(2)
        ]
        assert [one.wait().summary for one in pending] == ["Did 0.", "Did 1."]


# -- modes


def test_nothing_to_play_back_is_an_error_that_says_how_to_record(stage: Stage) -> None:
    with pytest.raises(RecordingMissingError) as caught:
        stage.begin("none").delegate(stage.fake(stage.fake.report()))
    assert str(caught.value) == (
        f"{stage.folder}: nothing is recorded; record with --caesar-record=once"
    )
    assert not stage.folder.exists()


def test_all_records_anew_and_leaves_nothing_old(stage: Stage) -> None:
    fake = stage.fake
    execution = stage.begin("all")
    for i in range(3):
        execution.delegate(fake(fake.report(summary=f"Old {i}.")))
    (stage.folder / "notes.txt").write_text("mine")
    stage.begin("all").delegate(fake(fake.report(summary="New.")))
    assert sorted(path.name for path in stage.folder.iterdir()) == ["1", "notes.txt"]
    assert stage.begin("none").delegate(fake(fake.report())).summary == "New."


def test_recording_twice_the_same_gives_the_same_but_for_times(stage: Stage) -> None:
    fake = stage.fake
    agent = fake(fake.write("x", "x"), fake.environment("e.json"), fake.report())
    texts = []
    for _ in range(2):
        stage.begin("all").delegate(agent)
        files = sorted(path for path in stage.folder.rglob("*") if path.is_file())
        texts.append([
            re.sub(
                r'"at": "[^"]*"|"duration_ms": \d+|execution-\d+|index \S+', "", path.read_text()
            )
            for path in files
        ])  # fmt: skip
    assert texts[0] == texts[1]


def test_a_question_that_fails_its_test_is_not_recorded(stage: Stage) -> None:
    script = ScriptedAnswers()
    stage.begin("once", answers=script).delegate(asking(stage))
    assert script.judge()
    assert not stage.folder.exists()


def test_an_agent_that_somebody_ended_is_not_recorded(stage: Stage) -> None:
    agent = stage.fake(stage.fake.hang())
    pending = stage.begin("once").orchestrator.start("Work", agent=agent)
    pending.cancel()
    assert pending.wait().outcome.status == "cancelled"
    assert not stage.folder.exists()


@pytest.mark.parametrize("kind", ["directory", "fifo", "symlink"])
def test_what_is_no_file_is_not_recorded_and_said_so(stage: Stage, kind: str) -> None:
    fake = stage.fake
    execution = stage.begin("once")
    step = fake.report_as(kind, "/etc/passwd" if kind == "symlink" else "")  # type: ignore[arg-type]
    execution.delegate(fake(step))
    assert "t_0011 was not recorded: report.json is " in (execution.cassette.judge() or "")
    assert not (stage.folder / "1").exists()


def test_outside_git_nothing_is_recorded_and_said_so(stage: Stage) -> None:
    execution = stage.begin("once")
    plain = stage.root / "plain"
    plain.mkdir()
    execution.orchestrator.project = plain
    execution.delegate(stage.fake(stage.fake.report()), isolation="inplace")
    assert "git could not tell what changed" in (execution.cassette.judge() or "")


def test_a_recording_that_cannot_be_written_fails_its_test(stage: Stage) -> None:
    stage.folder.parent.parent.mkdir()
    stage.folder.parent.write_text("in the way")
    execution = stage.begin("once")
    assert execution.delegate(stage.fake(stage.fake.report())).succeeded
    assert "t_0011 was not recorded: [Errno 17]" in (execution.cassette.judge() or "")


def test_an_agent_that_asked_for_others_is_not_recorded_and_said_so(stage: Stage) -> None:
    (stage.root / "recorded_lead.py").write_text(LEAD)
    lead = FunctionAgent(
        id="lead", target="recorded_lead:main", import_root=str(stage.root), subprocess=True
    )
    fake = stage.fake
    stage.files[".caesar/config.toml"] = "[policy]\nmax_depth = 3\n"
    execution = stage.begin("once")
    execution.orchestrator.team["helper"] = fake(fake.write("helped.txt", "x"), fake.report())
    live = execution.delegate(lead)
    assert [child.task.agent for child in live.children] == ["helper"]
    assert "the agent asked for other agents" in (execution.cassette.judge() or "")
    assert not (stage.folder / "1").exists()


# -- broken recordings


def damaged(stage: Stage, name: str, content: bytes) -> str:
    """Record, replace one file, play back, and return the error."""
    fake = stage.fake
    agent = fake(fake.write("x", "x\n"), fake.report())
    stage.begin("once").delegate(agent)
    (stage.folder / "1" / name).write_bytes(content)
    execution = stage.begin("none")
    with pytest.raises(RecordingBrokenError) as caught:
        execution.delegate(agent)
    assert list((execution.repository.path / ".caesar").rglob("t_*")) == []
    return str(caught.value)


@pytest.mark.parametrize(
    "path", ["../out", "/tmp/out", ".git/hooks/pre-commit", "a/../../out", ".GIT/config"]
)
def test_a_patch_that_leads_out_of_the_workspace_is_refused(stage: Stage, path: str) -> None:
    patch = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    error = damaged(stage, "changes.patch", f"{patch}@@ -0,0 +1 @@\n+evil\n".encode())
    assert "changes.patch does not apply: error: " in error
    assert not (stage.root / "out").exists()


def test_a_patch_through_a_link_is_refused(stage: Stage) -> None:
    target = stage.root / "outside"
    target.mkdir()
    patch = (
        "diff --git a/d b/d\nnew file mode 120000\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n"
        f"+{target}\n\\ No newline at end of file\n"
        "diff --git a/d/x b/d/x\nnew file mode 100644\n--- /dev/null\n+++ b/d/x\n"
        "@@ -0,0 +1 @@\n+evil\n"
    )
    assert "does not apply" in damaged(stage, "changes.patch", patch.encode())
    assert list(target.iterdir()) == []


def test_a_patch_that_does_not_fit_is_told(stage: Stage) -> None:
    patch = b"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-four\n+five\n"
    assert damaged(stage, "changes.patch", patch).startswith(
        f"{stage.folder}/1: changes.patch does not apply: error: patch failed: a.txt:1"
    )


def test_a_placeholder_that_there_is_not_is_told(stage: Stage) -> None:
    error = damaged(stage, "raw.log", b"{{caesar:nowhere}}")
    assert "there is no placeholder '{{caesar:nowhere}}'; record anew" in error


def test_a_file_that_was_edited_by_hand_is_played_back(stage: Stage) -> None:
    fake = stage.fake
    agent = fake(fake.report())
    stage.begin("once").delegate(agent)
    report = stage.folder / "1" / "report.json"
    report.write_text(report.read_text().replace("Done.", "Edited."))
    assert stage.begin("none").delegate(agent).summary == "Edited."
