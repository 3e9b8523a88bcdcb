"""``pytest-caesar recover``: a folder, and what an orchestrator makes of it."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.commands import recover as command
from pytest_caesar.commands.recover import BriefFileError, DialectError
from pytest_caesar.runs.kept_task import TaskDirectoryError, read_folder

TASK = {
    "protocol": "caesar.task/v1",
    "id": "t_0042",
    "created_at": "2026-01-01T00:00:00.000Z",
    "agent": "helper",
    "objective": "Fix the parser",
    "mode": "write",
    "isolation": "worktree",
    "workspace": "/ws/tree",
    "deadline_ms": 1000,
    "report_path": "/tasks/t_0042/report.json",
    "events_path": "/tasks/t_0042/events.jsonl",
}


WORDS = {"fifo": "FIFO"}
NO_NEXT_STEPS = "the report says partial and has no next_steps: what remains is not told"


def report(status: str = "success", summary: str = "Done.", **more: Any) -> str:
    return json.dumps(
        {"protocol": "caesar.report/v1", "status": status, "summary": summary, **more}
    )


def block(body: str) -> str:
    return f"```json caesar:report\n{body}\n```\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / ".caesar" / "tasks" / "t_0042"
    path.mkdir(parents=True)
    (path / "task.json").write_text(json.dumps(TASK))
    return path


def call(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["recover", *map(str, arguments)])
    return int(args.run(args))


def verdict(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    call(*arguments, "--json")
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def codes(value: dict[str, Any]) -> list[str]:
    return [diagnostic["code"] for diagnostic in value["diagnostics"]]


def test_the_verdict_is_one_object(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "raw.log").write_text("Hi.\n" + block(report("failed", "No.")))

    value = verdict(capsys, folder, "--exit-code", 1)

    assert set(value) == {"source", "form", "report", "diagnostics", "offsets"}
    assert (value["source"], value["form"]) == ("extracted", "fence")
    assert value["report"]["summary"] == "No."
    assert value["offsets"] == [26, 26 + len(report("failed", "No."))]
    assert value["diagnostics"] == []


def test_the_exit_code_says_whether_the_agent_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder) == 1
    (folder / "report.json").write_text(report("failed"))
    assert call(folder) == 0


def test_the_verdict_is_readable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "raw.log").write_text(block(report("partial", "Half\nof \u001b[31mit.")))

    call(folder)

    assert capsys.readouterr().out.splitlines() == [
        "source   extracted, as fence at bytes 22-112 of raw.log",
        "status   partial",
        "summary  Half of \\x1b[31mit.",
        f"partial-without-next-steps: {NO_NEXT_STEPS}",
    ]


def test_submissions_files_and_logs_are_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "raw.log").write_text(block(report(summary="Printed.")))
    assert verdict(capsys, folder)["source"] == "extracted"
    (folder / "report.json").write_text(report(summary="Filed."))
    assert verdict(capsys, folder)["source"] == "file"
    (folder / "final-message.txt").write_text(report(summary="Structured."))
    (folder / "report.schema.json").write_text("{}")
    assert verdict(capsys, folder)["source"] == "schema"
    (folder / "submission.json").write_text(report(summary="Submitted."))
    assert verdict(capsys, folder)["source"] == "channel"


@pytest.mark.parametrize("kind", ["folder", "link", "fifo"])
def test_what_is_not_a_file_is_never_opened(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    secret = folder.parent / "secret"
    secret.write_text(report())
    names = ("report.json", "raw.log", "submission.json", "final-message.txt", "run.json")
    for name in names:
        if kind == "folder":
            (folder / name).mkdir()
        elif kind == "link":
            (folder / name).symlink_to(secret)
        else:
            os.mkfifo(folder / name)

    value = verdict(capsys, folder)

    assert value["source"] == "synthesized"
    assert {"report-file-not-regular", "submission-not-regular"} <= set(codes(value))
    told = " ".join(item["message"] for item in value["diagnostics"])
    assert all(f"{name} is a {WORDS.get(kind, kind)}, not a regular file" in told for name in names)


def test_the_brief_is_rendered_from_the_task_or_given(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    brief = tmp_path / "brief.txt"
    brief.write_text("Do it, then:\n" + block(report(summary="What you did.")))
    (folder / "raw.log").write_text("> prompt\n" + brief.read_text())

    assert verdict(capsys, folder)["source"] == "extracted"
    assert verdict(capsys, folder, "--brief", brief)["source"] == "synthesized"


def test_the_dialect_can_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"type": "turn.completed", "usage": {}}
    (folder / "raw.log").write_text(json.dumps(line) + "\n" + report() + "\n")

    assert verdict(capsys, folder, "--dialect", "codex")["source"] == "synthesized"
    assert verdict(capsys, folder, "--dialect", "plain")["source"] == "extracted"
    with pytest.raises(DialectError, match="klingon: there is no such stream; expected one of co"):
        call(folder, "--dialect", "klingon")


def test_how_the_process_ended_is_taken_from_the_events(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event = {
        "protocol": "caesar.event/v1",
        "seq": 1,
        "at": "2026-01-01T00:00:00.000Z",
        "task_id": "t_0042",
        "type": "finished",
        "status": "failed",
        "exit_code": 7,
    }
    (folder / "events.jsonl").write_text(json.dumps(event) + "\n")

    assert "exit code 7" in verdict(capsys, folder)["report"]["summary"]
    assert "exit code 3" in verdict(capsys, folder, "--exit-code", 3)["report"]["summary"]


def test_how_the_process_ended_is_taken_from_our_record(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = {"status": "timed_out", "exit_code": None, "signal": "SIGKILL", "timed_out": True}
    changes = [{"path": "a.txt", "action": "created", "outside": False}]
    record = {"outcome": outcome, "changes_verified_by": "git", "changes": changes}
    (folder / "run.json").write_text(json.dumps(record))

    value = verdict(capsys, folder)

    assert (
        "The deadline passed and the process was ended with SIGKILL." in value["report"]["summary"]
    )
    assert [change["path"] for change in value["report"]["changes"]] == ["a.txt"]


def test_a_success_against_the_exit_code_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "report.json").write_text(report())

    assert codes(verdict(capsys, folder, "--exit-code", 4)) == ["success-but-exit-code"]
    assert codes(verdict(capsys, folder)) == []


class TestFoldersOfTheReference:
    @staticmethod
    def state(folder: Path, **fields: object) -> None:
        path = folder.parent.parent / "state" / "tasks" / f"{folder.name}.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"id": folder.name, **fields}))

    def test_how_the_process_ended_stands_in_its_store(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.state(folder, status="failed", exit_code=9)

        assert "exit code 9" in verdict(capsys, folder)["report"]["summary"]

    @pytest.mark.parametrize("source", ["synthesized", "extracted"])
    def test_a_report_that_the_orchestrator_wrote_is_not_the_agents(
        self, folder: Path, capsys: pytest.CaptureFixture[str], source: str
    ) -> None:
        self.state(folder, status="succeeded", exit_code=0, report_source=source)
        (folder / "report.json").write_text(report())

        value = verdict(capsys, folder)

        assert value["source"] == "synthesized"
        assert codes(value) == ["report-file-not-the-agents"]

    def test_a_report_that_the_agent_wrote_is_the_agents(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.state(folder, status="succeeded", exit_code=0, report_source="file")
        (folder / "report.json").write_text(report())

        assert verdict(capsys, folder)["source"] == "file"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"protocol": "caesar.task/v2"}', "null"])
def test_without_a_readable_task_any_report_is_taken_and_that_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (folder / "task.json").write_text(content)
    (folder / "report.json").write_text(report(task_id="t_other"))

    value = verdict(capsys, folder)

    assert value["source"] == "file"
    assert codes(value) == ["task-invalid"]


def test_a_folder_with_nothing_in_it_is_synthesized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = verdict(capsys, tmp_path)

    assert (value["source"], value["report"]["status"]) == ("synthesized", "failed")
    assert codes(value) == ["task-missing"]


def test_strange_records_are_ignored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run.json").write_text('{"outcome": 3, "changes": [4], "changes_verified_by": "git"}')

    assert verdict(capsys, folder)["source"] == "synthesized"


def test_a_log_larger_than_is_read_is_read_from_its_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.runs.kept_task.MAX_LOG_BYTES", 10)
    (folder / "raw.log").write_bytes(b"0123456789abcdef")

    evidence = read_folder(folder).evidence

    assert (evidence.raw_log, evidence.raw_log_offset) == (b"6789abcdef", 6)


def test_a_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    missing, file = tmp_path / "t_1", tmp_path / "file"
    file.write_text("")

    with pytest.raises(TaskDirectoryError) as caught:
        call(missing)
    assert str(caught.value) == (
        f"{missing}: there is nothing of that name; expected the folder of one task, "
        "such as .caesar/tasks/t_0001"
    )
    with pytest.raises(TaskDirectoryError, match="it is not a folder"):
        call(file)
    with pytest.raises(BriefFileError) as brief:
        call(tmp_path, "--brief", missing)
    assert str(brief.value) == (
        f"{missing}: cannot be read as a brief: No such file or directory; expected a file with "
        "the brief as it was sent (without --brief it is rendered from task.json)"
    )
