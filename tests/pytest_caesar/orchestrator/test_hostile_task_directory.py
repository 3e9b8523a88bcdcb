"""An agent that turns its task directory against the orchestrator's own files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from caesar_agent.errors import EventLogError
from caesar_agent.events.log import EventLog
from caesar_agent.mailbox import files
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository

OURS = ("run.json", "changes.patch", "events.jsonl", "report.json")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    return repository


def delegate(
    repository: Repository, tmp_path: Path, script: str, *, dialect: str | None = None
) -> Run:
    program = tmp_path / "agent.sh"
    program.write_text(f"#!/bin/sh\nset -e\n{script}\n")
    program.chmod(0o755)
    agent = ProcessAgent(id="agent", origin="path", argv=(str(program),), dialect=dialect)
    return Orchestrator(agent, project=repository.path).delegate("Misbehave.", timeout=30)


def precious(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in OURS:
        (folder / name).write_text("precious\n")
    return folder


@pytest.mark.parametrize("level", ["task directory", "folder above"])
def test_nothing_is_written_through_a_link_in_the_place_of_a_folder(
    repository: Repository, tmp_path: Path, level: str
) -> None:
    mine = tmp_path / "mine"
    if level == "task directory":
        precious(mine)
        script = f'rm -r "$CAESAR_TASK_DIR"; ln -s {mine} "$CAESAR_TASK_DIR"'
    else:
        precious(mine / "t_x")
        script = (
            f'mv {mine}/t_x "{mine}/$CAESAR_TASK_ID"; cd "$CAESAR_TASK_DIR/.."; mv . ../gone '
            f'2>/dev/null || mv "$PWD" "$PWD.gone"; ln -s {mine} "$PWD"'
        )

    run = delegate(repository, tmp_path, script)

    folder = next(path.parent for path in mine.rglob("run.json"))
    assert sorted(path.name for path in folder.iterdir()) == sorted(OURS)
    assert {(folder / name).read_text() for name in OURS} == {"precious\n"}
    assert {"record-unwritable", "events-unwritable"} <= set(run.codes)


@pytest.mark.parametrize("level", ["task directory", "folder above"])
@pytest.mark.parametrize("name", ["report.json", "submission.json", "final-message.txt"])
def test_no_report_is_read_through_a_link_in_the_place_of_a_folder(
    repository: Repository, tmp_path: Path, level: str, name: str
) -> None:
    report = '{"protocol": "caesar.report/v1", "status": "partial", "summary": "From elsewhere."}'
    mine = tmp_path / "mine"
    mine.mkdir()
    if level == "task directory":
        (mine / name).write_text(report)
        script = f'mv "$CAESAR_TASK_DIR" "$CAESAR_TASK_DIR.gone"; ln -s {mine} "$CAESAR_TASK_DIR"'
    else:
        (mine / "t_x").mkdir()
        (mine / "t_x" / name).write_text(report)
        script = (
            f'mv {mine}/t_x "{mine}/$CAESAR_TASK_ID"; cd "$CAESAR_TASK_DIR/.."; '
            f'mv "$PWD" "$PWD.gone"; ln -s {mine} "$PWD"'
        )
    run = delegate(repository, tmp_path, script)
    assert run.source == "synthesized"
    assert {"report-file-unreadable", "submission-unreadable"} <= set(run.codes)


@pytest.mark.parametrize("gone", ["mv", "rm -r"])
def test_no_event_is_read_through_a_link_in_the_place_of_a_folder(
    repository: Repository, tmp_path: Path, gone: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    away = "mv tasks gone" if gone == "mv" else "rm -r tasks"
    run = delegate(
        repository,
        tmp_path,
        f'mkdir "{mine}/$CAESAR_TASK_ID"; cd "$CAESAR_TASK_DIR/../.."; '
        f'cp "$CAESAR_EVENTS_PATH" "{mine}/$CAESAR_TASK_ID"; {away}; ln -s {mine} tasks',
    )
    assert run.events == ()
    told = [item.message for item in run.diagnostics if item.code == "file-unreadable"]
    assert told[0] == (
        "events.jsonl was not read: another folder, or a link to one, took the place of the "
        "task directory"
    )


def test_a_message_file_that_cannot_be_read_is_told(repository: Repository, tmp_path: Path) -> None:
    run = delegate(repository, tmp_path, 'mkfifo "$CAESAR_TASK_DIR/final-message.txt"')
    (told,) = (item for item in run.diagnostics if item.code == "file-not-regular")
    assert told.message == "final-message.txt is a FIFO, not a regular file, and was not opened"


def test_a_task_directory_that_was_made_anew_keeps_the_record(
    repository: Repository, tmp_path: Path
) -> None:
    run = delegate(repository, tmp_path, 'rm -r "$CAESAR_TASK_DIR"; mkdir "$CAESAR_TASK_DIR"')

    assert (run.task_dir / "run.json").exists()
    assert "record-unwritable" not in run.codes


def test_a_hard_link_in_the_place_of_the_log_is_not_appended_to(
    repository: Repository, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("precious\n")

    run = delegate(repository, tmp_path, f'ln -f {mine} "$CAESAR_EVENTS_PATH"')

    assert mine.read_text() == "precious\n"
    assert "events-unwritable" in run.codes


def test_an_agent_may_append_to_a_log_with_two_names(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    log.touch()
    os.link(log, tmp_path / "second")

    EventLog(log, task_id="t_1").append(type="progress", message="on")
    with pytest.raises(EventLogError, match="another name"):
        EventLog(log, task_id="t_1", directory=TaskDirectory(tmp_path)).append(
            type="progress", message="on"
        )


def test_a_link_that_an_agent_left_for_the_next_delegation_is_not_followed(
    repository: Repository, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    script = f'ln -sf {outside} "$CAESAR_TASK_DIR/../.gitignore"'

    delegate(repository, tmp_path, script)
    delegate(repository, tmp_path, "true")

    assert not outside.exists()


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ["events.jsonl", "raw.log"])
def test_a_sparse_log_of_a_terabyte_costs_no_more_than_the_end_of_it(
    repository: Repository, tmp_path: Path, name: str
) -> None:
    script = f'truncate -s 1T "$CAESAR_TASK_DIR/{name}"'

    run = delegate(repository, tmp_path, script, dialect="codex")

    assert run.outcome.exit_code == 0
    assert [event.type for event in run.events][-1] == "finished"
    assert "events-cut" in run.codes


def test_folders_deeper_than_python_recurses_lose_no_run(
    repository: Repository, tmp_path: Path
) -> None:
    script = (
        f'cd "$HOME"; {sys.executable} -c "import os\nfor _ in range(1500): '
        "os.mkdir('d'); os.chdir('d')\"; echo $HOME"
    )

    run = delegate(repository, tmp_path, script)

    assert run.outcome.exit_code == 0
    assert not Path(bytes(run.raw_log).decode().strip()).exists()


def test_no_answer_is_written_through_a_link(tmp_path: Path) -> None:
    tasks, mine = tmp_path / "tasks", tmp_path / "mine"
    (tasks / "t_1" / "questions").mkdir(parents=True)
    mine.mkdir()
    parent = os.open(tasks, os.O_RDONLY)
    try:
        directory = TaskDirectory(tasks / "t_1", parent)
        with files.folder(directory, "questions") as folder:
            assert folder is not None
        (tasks / "t_1").rename(tasks / "gone")
        with files.folder(directory, "questions") as folder:
            assert folder is None
        (tasks / "t_1").symlink_to(mine)
        with (
            pytest.raises(OSError, match="t_1"),
            files.folder(directory, "answers", create=True),
        ):
            pass
    finally:
        os.close(parent)
    assert list(mine.iterdir()) == []
