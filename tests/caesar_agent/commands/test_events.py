from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from caesar_agent import cli
from caesar_agent.events.log import EventLog
from tests.caesar_agent.documents.examples import event


def log(folder: Path, *events: dict[str, Any]) -> None:
    lines = "".join(json.dumps(item) + "\n" for item in events)
    (folder / "events.jsonl").write_text(lines)


def test_each_type_of_event_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log(
        tmp_path,
        event(type="started", agent="codex", command="codex exec"),
        event(seq=1, type="thinking", text="hm"),
        event(seq=2, text="two\nlines"),
        event(seq=3, type="tool_use", tool="bash", input_summary="make", status="failed"),
        event(seq=4, type="file_changed", path="a", action="created"),
        event(seq=5, type="progress", message="half", pct=50),
        event(seq=6, type="question", id="q1", question="Keep?", options=["yes", "no"]),
        event(seq=7, type="answer", id="q1", answer="no"),
        event(seq=8, type="error", message="boom", fatal=True),
        event(seq=9, type="metrics", value=1),
        event(seq=10, type="finished", status="failed", summary="s", exit_code=1),
    )

    assert cli.main(["events", str(tmp_path)]) == 0
    shown = [line.split(None, 3) for line in capsys.readouterr().out.splitlines()]
    assert [(seq, kind, text) for seq, _, kind, text in shown] == [
        ("0", "started", "codex: codex exec"),
        ("1", "thinking", "hm"),
        ("2", "message", "two lines"),
        ("3", "tool_use", "bash make (failed)"),
        ("4", "file_changed", "a (created)"),
        ("5", "progress", "half (50 %)"),
        ("6", "question", "q1: Keep? (yes, no)"),
        ("7", "answer", "q1: no"),
        ("8", "error", "boom (fatal)"),
        ("9", "metrics", '{"value": 1}'),
        ("10", "finished", "failed, exit code 1: s"),
    ]


def test_broken_lines_are_named_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log(tmp_path, event())
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write("npm WARN \x1b[31m\n")

    assert cli.main(["events", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert (
        err == "line 2: invalid event: not JSON: expecting value (column 1) [event-line-invalid]\n"
    )


def test_json_shows_each_event_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = event(text="\x1b[2J\ud83d\u2028" + "x" * 500, extra=[1])
    log(tmp_path, value)

    assert cli.main(["events", str(tmp_path), "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert out.isascii()
    assert "\x1b" not in out


def test_nothing_of_an_event_acts_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log(tmp_path, event(type="\x1b[2J\n", text="\x1b]0;x\x07"), event(text="\x1b[1A\u202e\r"))

    assert cli.main(["events", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 2
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(out)


def test_a_time_of_a_thousand_digits_does_not_fill_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log(tmp_path, event(at=f"2026-08-09T10:00:00.{'1' * 1000}Z", text="hello"))

    assert cli.main(["events", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "hello" in out
    assert len(out) < 100


def test_a_task_without_events_shows_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "task.json").write_text("{}")
    assert cli.main(["events", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_folder_without_a_task_is_an_error_that_says_what_was_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["events", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"caesar-agent: there is no task.json in {tmp_path}; "
        "expected the folder of one task, such as .caesar/tasks/t_0001\n"
    )


@pytest.mark.timeout(30)
def test_following_ends_with_the_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log(tmp_path, event(text="before"), event(seq=1, type="finished", status="success"))

    assert cli.main(["events", str(tmp_path), "--follow"]) == 0
    assert capsys.readouterr().out.count("\n") == 2


def test_what_is_no_folder_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["events", str(tmp_path / "nowhere")]) == 2
    assert "is no task directory" in capsys.readouterr().err


@pytest.mark.timeout(60)
def test_following_shows_events_as_they_come_until_the_folder_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "t_1"
    folder.mkdir()
    path = folder / "events.jsonl"
    writer = EventLog(path, task_id="t_1")
    writer.append(type="message", text="before")
    with subprocess.Popen(
        [sys.executable, "-m", "caesar_agent", "events", str(folder), "--follow", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        giving_up = threading.Timer(50, child.kill)
        giving_up.start()
        try:
            assert child.stdout is not None
            assert json.loads(child.stdout.readline())["text"] == "before"
            writer.append(type="message", text="while")
            assert json.loads(child.stdout.readline())["text"] == "while"
            path.write_text("")
            writer.append(type="message", text="after")
            assert json.loads(child.stdout.readline())["text"] == "after"
            path.unlink()
            folder.rmdir()
            assert child.wait() == 0
        finally:
            giving_up.cancel()
            child.kill()


def test_events_of_another_task_are_skipped_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "task.json").write_text(json.dumps({"id": "t_1"}))
    log(
        tmp_path,
        event(task_id="t_1", text="ours"),
        event(task_id="t_2", seq=1, type="finished", status="success"),
    )
    assert cli.main(["events", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert [line.split(None, 3)[3] for line in told.out.splitlines()] == ["ours"]
    assert told.err.startswith('line 2: expected task "t_1", found "t_2"')


def test_the_end_of_a_call_is_shown_with_the_tool_that_its_start_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log(
        tmp_path,
        event(type="tool_use", tool="bash", id="c1", input_summary="make", status="started"),
        event(seq=1, type="tool_use", tool="", id="c1", input_summary="", status="failed"),
    )
    cli.main(["events", str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[1].endswith("bash (failed)")
