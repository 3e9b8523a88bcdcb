from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from caesar_agent import cli
from caesar_agent.commands import validate
from tests.caesar_agent.documents.examples import event, report, task

Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, list[str]]:
        code = cli.main(["validate", *arguments])
        return code, capsys.readouterr().out.splitlines()

    return call


def write(name: str, value: Any) -> str:
    Path(name).write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return name


def test_a_valid_file_is_said_to_be_valid(run: Run) -> None:
    assert run(write("any.json", report())) == (0, ["any.json: valid report"])


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("a.json", report(), "report"),
        ("a.json", task(), "task"),
        ("a.json", event(), "event"),
        ("a.jsonl", b"\n", "events"),
        ("a.json", {"id": "q", "question": "?"}, "question"),
        ("a.json", {"id": "q", "answer": "x"}, "answer"),
    ],
)
def test_the_kind_is_told_from_the_file(run: Run, name: str, value: Any, kind: str) -> None:
    assert run(write(name, value)) == (0, [f"{name}: valid {kind}"])


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("a.json", report(changes={}, next_steps="x"), "invalid report: at changes: expected an array, found an object [wrong-type] (and 1 more)"),
        ("a.json", report(protocol="caesar.report/v2"), 'invalid report: at protocol: a newer version of this document: found "caesar.report/v2", supported is "caesar.report/v1" [unsupported-version]'),
        ("report.json", b"", "invalid report: found nothing [empty-document]"),
        ("report.json", b'{"protocol": "caesar.repo', "invalid report: ends before it is complete (line 1, column 14) [truncated]"),
        ("task.json", {}, 'invalid task: at protocol: not a caesar document: no protocol field; supported is "caesar.task/v1" [not-a-caesar-document]'),
        ("e.jsonl", b"\n{}\nx\n", 'invalid events: line 2: invalid event at protocol: not a caesar document: no protocol field; supported is "caesar.event/v1" [event-line-invalid] (and 1 more)'),
    ],
)  # fmt: skip
def test_an_invalid_file_is_told_where_and_why_on_one_line(
    run: Run, name: str, value: Any, line: str
) -> None:
    assert run(write(name, value)) == (1, [f"{name}: {line}"])


def test_what_is_odd_and_valid_is_told_too(run: Run) -> None:
    code, lines = run(write("a.json", b"\xef\xbb\xbf" + json.dumps(report()).encode()))

    assert code == 0
    (line,) = lines
    assert line.startswith("a.json: valid report: a byte order mark stands before the document")
    assert line.endswith("[byte-order-mark]")


def test_the_worst_of_several_files_is_the_exit_code(run: Run) -> None:
    write("good.json", report())
    write("bad.json", report(status="done"))

    assert run("good.json", "good.json")[0] == 0
    code, lines = run("good.json", "bad.json", "good.json")
    assert (code, len(lines)) == (1, 3)
    assert run("bad.json", "absent.json", "good.json")[0] == 2


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["absent", "folder", "FIFO", "link"])
def test_what_is_no_file_is_unreadable(run: Run, kind: str) -> None:
    if kind == "folder":
        Path("a.json").mkdir()
    elif kind == "FIFO":
        os.mkfifo("a.json")
    elif kind == "link":
        Path("a.json").symlink_to("absent")
    code, (line,) = run("a.json")

    assert code == 2
    assert line.startswith("a.json: not read: ")


def test_a_file_that_could_be_anything_needs_to_be_named(run: Run) -> None:
    code, (line,) = run(write("a.json", {"x": 1}))

    assert code == 2
    assert "cannot tell what it is; say --as report|task" in line
    assert run("a.json", "--as", "report")[0] == 1


def test_a_broken_file_of_any_name_is_told_to_be_broken_first(run: Run) -> None:
    Path("notes.json").write_text('{"status": ')
    code, (line,) = run("notes.json")

    assert code == 2
    assert line == (
        "notes.json: not read: ends before it is complete (line 1, column 12) [truncated] "
        "(and 1 more)"
    )


def test_as_decides_what_a_file_is(run: Run) -> None:
    code, (line,) = run(write("a.json", task()), "--as", "report")

    assert code == 1
    assert "a caesar task, not a report" in line


def test_json_has_one_object_a_file_with_every_problem(run: Run) -> None:
    write("bad.json", report(status="done", changes=["x"]))
    write("log.jsonl", json.dumps(event()).encode() + b"\nx\n")
    code, lines = run("bad.json", "log.jsonl", "absent.json", "--json")
    bad, log, absent = (json.loads(line) for line in lines)

    assert code == 2
    assert bad == {
        "file": "bad.json",
        "as": "report",
        "valid": False,
        "problem_count": 2,
        "problems": [
            {
                "code": "wrong-value",
                "where": "status",
                "message": "expected 'success', 'partial', 'failed' or 'blocked', found \"done\"",
            },
            {
                "code": "wrong-type",
                "where": "changes[0]",
                "message": 'expected an object, found "x"',
            },
        ],
        "remarks": [],
    }
    assert (log["as"], log["problems"][0]["line"]) == ("events", 2)
    assert absent["problems"][0]["code"] == "file-unreadable"


def test_stdin_is_a_file_called_minus(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(report()).encode())))

    assert run("-") == (0, ["-: valid report"])


def test_nothing_of_a_file_acts_on_the_terminal(run: Run) -> None:
    name = write("a\x1b[2J.json", report(status="\x1b[31m", **{"\x1b": 1}))
    _, (line,) = run(name)

    assert "\x1b" not in line


def test_another_kind_can_be_added(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(validate.KINDS, "evidence", lambda data: validate.Verdict())

    assert run(write("a.json", b""), "--as", "evidence") == (0, ["a.json: valid evidence"])


def test_numbers_of_events_that_do_not_count_on_are_remarks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(json.dumps(event(seq=seq)) + "\n" for seq in (0, 0))
    (tmp_path / "events.jsonl").write_text(lines)
    assert cli.main(["validate", str(tmp_path / "events.jsonl")]) == 0
    assert "[event-seq-repeated]" in capsys.readouterr().out


UNIT = {"id": "U-1", "objective": "Add", "acceptanceCriteria": ["added"]}
ODD_UNIT = {**UNIT, "dependsOn": ["U-1"]}


def test_a_folder_stands_for_the_documents_in_it(run: Run) -> None:
    Path("units/later").mkdir(parents=True)
    write("units/a.json", UNIT)
    write("units/later/b.json", {"id": "U-2"})
    write("units/notes.txt", b"no document")
    Path("units/link.json").symlink_to("a.json")

    code, lines = run("--as", "va-task-unit", "units")

    assert code == 2  # a link is never followed
    assert lines[0] == "units/a.json: valid va-task-unit"
    assert lines[1].startswith("units/link.json: not read va-task-unit: ")
    assert lines[2].startswith("units/later/b.json: invalid va-task-unit: ")
    assert len(lines) == 3


def test_strict_takes_what_is_odd_for_invalid(run: Run) -> None:
    write("a.json", ODD_UNIT)

    assert run("--as", "va-task-unit", "a.json")[0] == 0
    code, (line,) = run("--as", "va-task-unit", "--strict", "a.json")

    assert code == 1
    assert line == "a.json: invalid va-task-unit: the task depends on itself [va-reference]"


def test_each_line_of_jsonl_is_a_document_of_its_own(run: Run) -> None:
    lines = [json.dumps(UNIT), "", json.dumps({"id": "U-2"}), json.dumps(ODD_UNIT)]
    write("units.jsonl", "\n".join(lines).encode())

    code, (line,) = run("--as", "va-task-unit", "units.jsonl")
    _, (as_json,) = run("--as", "va-task-unit", "--json", "units.jsonl")

    assert code == 1
    assert line.startswith("units.jsonl: invalid va-task-unit: line 3: ")
    assert [one["line"] for one in json.loads(as_json)["remarks"]] == [4]
