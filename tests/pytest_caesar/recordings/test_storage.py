"""Recordings as files: read whatever lies there, clearly refused when it is not ours."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.recordings import storage
from pytest_caesar.recordings.errors import RecordingBrokenError
from pytest_caesar.recordings.recording import (
    FILES,
    FormatError,
    RecordedQuestion,
    Recording,
    head_text,
    outcome_value,
    parse_head,
    parse_outcome,
)
from pytest_caesar.supervision.outcome import LeakedProcess, Outcome

RECORDING = Recording(
    task={"objective": "Fix", "odd": "\udcff"},
    outcome={"status": "failed", "exit_code": 3},
    questions=(RecordedQuestion(id="q1", question="Why?", state="answered", answer="So."),),
    findings=(Diagnostic(code="refs-changed", message="Changed."),),
    files={"raw.log": b"\xff\x1b\\\r\n", "report.json": b"{}", "changes.patch": b""},
)


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "test_it.recording"
    assert storage.write(folder, 2, RECORDING) == folder / "2"
    assert storage.read(folder, 2) == RECORDING
    assert storage.numbers(folder) == (2,)
    assert sorted(path.name for path in (folder / "2").iterdir()) == [
        *("changes.patch", "raw.log.escaped", "recording.json", "report.json"),
    ]


def test_writing_again_replaces_the_whole_recording(tmp_path: Path) -> None:
    storage.write(tmp_path, 1, RECORDING)
    storage.write(tmp_path, 1, Recording(task={}, outcome={"status": "succeeded"}))
    assert [path.name for path in (tmp_path / "1").iterdir()] == ["recording.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_names_that_are_no_numbers_are_not_recordings(tmp_path: Path) -> None:
    for name in ("1", "12", "0", "01", "1x", ".tmp", "٣", "12345678"):
        (tmp_path / name).mkdir()
    assert storage.numbers(tmp_path) == (1, 12)
    assert storage.numbers(tmp_path / "none") == ()


def test_recordings_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(NotADirectoryError, match="a link or no folder"):
        storage.write(tmp_path / "link", 1, RECORDING)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_linked_recording_is_replaced_and_what_it_leads_to_is_kept(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "1").symlink_to("../precious")
    storage.forget(tmp_path / "set")
    assert (tmp_path / "precious" / "file").read_text() == "x"
    assert list((tmp_path / "set").iterdir()) == []


def broken(folder: Path) -> str:
    with pytest.raises(RecordingBrokenError) as caught:
        storage.read(folder, 1)
    return str(caught.value).replace(str(folder), "<folder>")


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    storage.write(tmp_path, 1, RECORDING)
    report = tmp_path / "1" / "report.json"
    report.unlink()
    if kind == "link":
        report.symlink_to("/etc/passwd")
    elif kind == "fifo":
        os.mkfifo(report)
    else:
        report.mkdir()
    name = {"link": "a link", "fifo": "a FIFO", "folder": "a folder"}[kind]
    assert broken(tmp_path) == (
        f"<folder>/1: report.json is {name}, not a regular file, and was not opened; "
        "record anew with --caesar-record=all"
    )


def test_a_recording_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    storage.write(tmp_path / "real", 1, RECORDING)
    (tmp_path / "1").symlink_to("real/1")
    assert broken(tmp_path).startswith("<folder>/1: it cannot be read: ")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    storage.write(tmp_path, 1, RECORDING)
    with (tmp_path / "1" / "events.jsonl").open("wb") as file:
        file.truncate(2**40)
    assert "events.jsonl is larger than 67108864 bytes and was not read" in broken(tmp_path)


def test_a_missing_head_is_told(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    assert "recording.json is missing" in broken(tmp_path)


def test_two_forms_of_one_file_are_told(tmp_path: Path) -> None:
    storage.write(tmp_path, 1, RECORDING)
    (tmp_path / "1" / "raw.log").write_text("x")
    assert "there are both raw.log and raw.log.escaped" in broken(tmp_path)


def test_a_wrong_escape_is_told_with_its_line(tmp_path: Path) -> None:
    storage.write(tmp_path, 1, RECORDING)
    (tmp_path / "1" / "raw.log.escaped").write_text("a\n\\q")
    assert "raw.log.escaped, line 2: expected" in broken(tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": 2}, "it is of format 2, and this version reads format 1"),
        ({"format": None}, "format is NoneType, expected int"),
        ({"task": []}, "task is list, expected dict"),
        ({"outcome": {}}, "outcome.status is missing"),
        ({"outcome": {"status": "odd"}}, "outcome.status is 'odd', expected one of succeeded"),
        ({"outcome": {"status": "failed", "exit_code": "1"}}, "outcome.exit_code is str"),
        ({"outcome": {"status": "failed", "exit_code": True}}, "outcome.exit_code is bool"),
        ({"outcome": {"status": "failed", "leaked": [1]}}, "outcome.leaked is int"),
        ({"questions": [{"id": "../../x"}]}, "questions.question is missing"),
        (
            {"questions": [{"id": "../x", "question": "?", "state": "expired"}]},
            "questions: '../x' cannot be the id of a question",
        ),
        (
            {"questions": [{"id": "q", "question": "?", "state": "answered"}]},
            "questions: q lacks its text or its answer",
        ),
        ({"findings": [{"code": 1}]}, "findings.code is int"),
    ],
)
def test_a_field_that_is_wrong_is_named(change: dict[str, object], problem: str) -> None:
    value = {**json.loads(head_text(RECORDING)), **change}
    with pytest.raises(FormatError) as caught:
        parse_head(json.dumps(value).encode(), {})
    assert str(caught.value).startswith(problem)


@given(st.binary(max_size=100) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["format", "task", "outcome", "status", "questions", "id"]), inner,
        max_size=4,
    ),
    max_leaves=10,
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_nothing_but_a_clear_error_comes_of_any_head(data: bytes) -> None:
    with suppress(FormatError):
        assert parse_head(data, {}).outcome["status"]


def test_deep_nesting_is_a_clear_error() -> None:
    with pytest.raises(FormatError, match="not JSON"):
        parse_head(b"[" * 200_000, {})


def test_every_part_of_an_outcome_comes_back() -> None:
    outcome = Outcome(
        status="timed_out",
        signal="SIGKILL",
        timed_out=True,
        killed_after_report=True,
        duration_ms=12,
        leaked=(LeakedProcess(pid=7, name="sleep", found_by="group"),),
        diagnostics=(Diagnostic(code="deadline-exceeded", message="Late.", line=3),),
    )
    assert parse_outcome(json.loads(json.dumps(outcome_value(outcome)))) == outcome
    plain = Outcome(status="succeeded", exit_code=0)
    assert outcome_value(plain) == {
        "status": "succeeded",
        "exit_code": 0,
        "duration_ms": 0,
    }
    assert parse_outcome(outcome_value(plain)) == plain


def test_the_files_of_a_recording_are_plain_names() -> None:
    assert all(Path(name).name == name for name in FILES)
