from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.events import lines
from caesar_agent.events import reading as log_reading
from caesar_agent.events.lines import EventReading
from caesar_agent.events.reading import EventTail, follow, read_events
from tests.caesar_agent.documents.examples import event


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def line(**fields: Any) -> bytes:
    return json.dumps(event(**fields)).encode() + b"\n"


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def seqs(reading: EventReading) -> list[int]:
    return [item.seq for item in reading.events]


def codes(reading: EventReading) -> list[str]:
    return [item.code for item in reading.diagnostics]


def test_a_log_that_is_not_there_has_no_events(path: Path) -> None:
    assert read_events(path) == EventReading()


def test_diagnostics_name_the_file(path: Path) -> None:
    path.write_bytes(b"x\n")

    assert read_events(path).diagnostics[0].path == str(path)


@pytest.mark.timeout(20)
def test_a_log_that_is_no_file_is_a_diagnostic(path: Path) -> None:
    os.mkfifo(path)
    assert codes(read_events(path)) == ["file-not-regular"]
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert codes(read_events(path)) == ["file-not-regular"]
    assert codes(EventTail(path).read()) == ["file-not-regular"]


def test_of_a_log_beyond_the_bound_the_end_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line(seq=number) for number in range(10)]
    monkeypatch.setattr(log_reading, "MAX_EVENTS_BYTES", 3 * len(lines[0]) + 10)
    path.write_bytes(b"".join(lines) + b"x\n")
    reading = read_events(path)

    assert seqs(reading) == [7, 8, 9]
    assert [(item.code, item.line) for item in reading.diagnostics] == [
        ("events-cut", 7),
        ("event-line-invalid", 11),
    ]


def test_of_a_log_of_too_many_lines_the_end_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_reading, "MAX_EVENTS", 3)
    path.write_bytes(b"".join(line(seq=number) for number in range(5)) + b"x\n")
    reading = read_events(path)

    assert seqs(reading) == [3, 4]
    assert [(item.code, item.line) for item in reading.diagnostics] == [
        ("events-cut", 3),
        ("event-line-invalid", 6),
    ]


def test_a_tail_gives_each_event_once(path: Path) -> None:
    tail = EventTail(path)
    assert tail.read() == EventReading()
    add(path, line(seq=0) + line(seq=1))
    assert seqs(tail.read()) == [0, 1]
    assert tail.read() == EventReading()
    add(path, line(seq=2))
    assert seqs(tail.read()) == [2]


def test_a_tail_holds_a_line_back_until_its_newline(path: Path) -> None:
    tail = EventTail(path)
    whole = line(seq=3)
    add(path, line(seq=0) + whole[:30])
    assert seqs(tail.read()) == [0]
    add(path, whole[30:60])
    assert tail.read() == EventReading()
    add(path, whole[60:])
    assert seqs(tail.read()) == [3]


def test_a_tail_counts_lines(path: Path) -> None:
    tail = EventTail(path)
    add(path, line() + b"\n")
    tail.read()
    add(path, b"x\n")

    assert [item.line for item in tail.read().diagnostics] == [3]


@pytest.mark.parametrize("way", ["truncated", "rewritten longer", "replaced", "removed"])
def test_a_tail_survives_a_log_that_starts_again(path: Path, way: str) -> None:
    tail = EventTail(path)
    add(path, line(seq=0) + line(seq=1) + b'{"torn')
    tail.read()
    new = line(seq=5) + b"x\n"
    if way == "truncated":
        os.truncate(path, 0)
        add(path, new)
    elif way == "rewritten longer":
        os.truncate(path, 0)
        add(path, new + line(seq=6) * 5)
    elif way == "replaced":
        other = path.with_name("other")
        other.write_bytes(new)
        other.replace(path)
    else:
        path.unlink()
        assert tail.read() == EventReading()
        add(path, new)
    reading = tail.read()

    assert seqs(reading)[0] == 5
    assert codes(reading) == ["events-restarted", "event-line-invalid"]
    assert reading.diagnostics[0].line is None
    assert reading.diagnostics[1].line == 2


def test_a_tail_skips_a_line_that_does_not_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_reading, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)
    tail = EventTail(path)
    add(path, line(seq=0) + b"x" * 1500)
    first = tail.read()
    assert (seqs(first), codes(first)) == ([0], ["event-line-too-long"])
    add(path, b"x" * 5000)
    assert tail.read() == EventReading()
    add(path, b"x\n" + line(seq=1) + b"y\n")
    last = tail.read()
    assert seqs(last) == [1]
    assert [(item.code, item.line) for item in last.diagnostics] == [("event-line-invalid", 4)]


def test_a_problem_that_lasts_is_told_once(path: Path) -> None:
    path.mkdir()
    tail = EventTail(path)
    assert codes(tail.read()) == ["file-not-regular"]
    assert tail.read() == EventReading()
    path.rmdir()
    add(path, line(seq=0))
    assert seqs(tail.read()) == [0]


def test_following_ends_after_a_last_look(path: Path) -> None:
    steps: Iterator[bytes] = iter([line(seq=0), b"", line(seq=1), line(seq=2)])
    waits: list[float] = []
    done = False

    def stop() -> bool:
        nonlocal done
        data = next(steps, None)
        if data is None:
            done = True
        else:
            add(path, data)
        return done

    readings = list(follow(path, stop=stop, wait=waits.append, interval=0.5))

    assert [seqs(reading) for reading in readings] == [[0], [1], [2]]
    assert waits == [0.5] * 4


def test_lines_before_the_end_of_a_huge_log_are_not_counted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)
    monkeypatch.setattr(log_reading, "MAX_EVENTS_BYTES", 1000)
    add(path, b"\n" + line(seq=7) + b"x\n")

    reading = read_events(path)

    assert seqs(reading) == [7]
    [cut, broken] = reading.diagnostics
    assert cut.code == "events-cut"
    assert cut.message.endswith("bytes were not read; line numbers count from there")
    assert broken.line == 3


@pytest.mark.parametrize("before", [0, 2**20 - 3, 2**20, 3 * 2**20 - 1])
def test_a_word_is_found_wherever_it_stands(path: Path, before: int) -> None:
    assert not log_reading.mentions(path, b"word")
    path.write_bytes(b" " * before + b"word" + b" " * 10)

    assert log_reading.mentions(path, b"word")
    assert not log_reading.mentions(path, b"words")


def test_a_word_before_what_is_read_does_not_count(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_reading, "MAX_EVENTS_BYTES", 10)
    path.write_bytes(b"word" + b" " * 10)

    assert not log_reading.mentions(path, b"word")
