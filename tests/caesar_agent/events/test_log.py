from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.documents import ProgressEvent
from caesar_agent.errors import DocumentError, EventLogError
from caesar_agent.events import log
from caesar_agent.events.log import EventLog
from caesar_agent.events.reading import read_events
from caesar_agent.task_directory import TaskDirectory
from tests.caesar_agent.documents.examples import event

NOON = datetime(2026, 8, 9, 12, 0, 0, 7_000, timezone.utc)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def line(**fields: Any) -> bytes:
    return json.dumps(event(**fields)).encode() + b"\n"


def tell(path: Path, text: str = "m") -> int:
    return EventLog(path, task_id="t_1").append(type="progress", message=text).seq


def test_an_event_is_written_as_the_specification_has_it(path: Path) -> None:
    log = EventLog(path, task_id="t_1", now=lambda: NOON)
    written = log.append(type="progress", message="half", pct=50)

    assert isinstance(written, ProgressEvent)
    assert json.loads(path.read_text()) == {
        "protocol": "caesar.event/v1",
        "seq": 0,
        "at": "2026-08-09T12:00:00.007Z",
        "task_id": "t_1",
        "type": "progress",
        "message": "half",
        "pct": 50,
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_task_and_time_can_be_said_with_the_event(path: Path) -> None:
    written = EventLog(path).append(
        type="message", text="x", task_id="t_9", at="2026-01-01T00:00:00Z"
    )

    assert (written.task_id, written.at) == ("t_9", "2026-01-01T00:00:00Z")


def test_a_log_without_a_task_needs_it_with_each_event(path: Path) -> None:
    with pytest.raises(DocumentError, match="invalid event at task_id"):
        EventLog(path).append(type="message", text="x")


def test_numbers_go_on_from_what_is_there(path: Path) -> None:
    path.write_bytes(line(seq=0) + line(seq=7) + b"npm WARN\n" + line(seq=3))

    assert [tell(path), tell(path)] == [8, 9]


def test_one_log_takes_notice_of_what_others_append(path: Path) -> None:
    log = EventLog(path, task_id="t_1")
    assert log.append(type="message", text="a").seq == 0
    tell(path)
    with path.open("ab") as other:
        other.write(line(seq=40))

    assert log.append(type="message", text="b").seq == 41


def test_one_log_reads_only_what_is_new(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(line() * 10_000)
    log = EventLog(path, task_id="t_1")
    log.append(type="message", text="a")
    taken: list[int] = []
    pread = os.pread

    def counted(descriptor: int, length: int, offset: int) -> bytes:
        taken.append(length)
        return pread(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", counted)
    log.append(type="message", text="b")

    assert sum(taken) < 10


def test_a_number_at_the_seam_of_two_chunks_is_not_missed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "_CHUNK", 100)
    for shift in range(100):
        path.write_bytes(line(seq=0, text="x" * shift) + line(seq=12345))
        assert tell(path) == 12346


def test_numbers_that_would_leave_none_are_not_counted_from(path: Path) -> None:
    path.write_bytes(line(seq=4) + line(seq=2**53 - 1) + b'{"seq": 1e300}\n{"seq": 9e1}\n')

    assert tell(path) == 91


@pytest.mark.timeout(20)
def test_a_log_with_a_hole_of_a_terabyte_is_appended_to(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + line(seq=6))
    appender = EventLog(path, task_id="t_1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "MAX_LOOK_BYTES", 2**20)
        assert appender.append(type="message", text="a").seq == 7
    assert appender.append(type="message", text="b").seq == 8


def test_what_was_cut_off_is_not_glued_to_the_next_event(path: Path) -> None:
    rest = line(seq=1)[:40]
    path.write_bytes(line(seq=0) + rest)
    tell(path)

    assert path.read_bytes().split(b"\n")[1] == rest
    reading = read_events(path)
    # The number of the line that was cut off counts as given.
    assert [item.seq for item in reading.events] == [0, 2]
    assert [item.line for item in reading.diagnostics] == [2]


def test_a_log_that_was_replaced_is_numbered_from_what_it_holds(path: Path) -> None:
    log = EventLog(path, task_id="t_1")
    for _ in range(5):
        log.append(type="message", text="a long enough text")
    path.write_bytes(line(seq=1))
    assert log.append(type="message", text="b").seq == 2
    path.unlink()
    assert log.append(type="message", text="c").seq == 0


def test_an_event_that_is_none_is_refused_and_nothing_is_written(path: Path) -> None:
    log = EventLog(path, task_id="t_1")

    with pytest.raises(DocumentError, match="invalid event at pct: expected at most 100"):
        log.append(type="progress", message="m", pct=101)
    assert not path.exists()


def test_lone_surrogates_and_newlines_stay_on_one_line(path: Path) -> None:
    EventLog(path, task_id="t").append(type="message", text="a\nb\ud83d\u2028")

    assert path.read_bytes().count(b"\n") == 1
    assert read_events(path).events[0].dump()["text"] == "a\nb\ud83d\u2028"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["link", "dangling link", "FIFO", "folder"])
def test_only_a_regular_file_is_appended_to(path: Path, kind: str) -> None:
    target = path.with_name("target")
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(target)
        if kind == "link":
            target.touch()

    with pytest.raises(EventLogError, match="link or no regular file"):
        tell(path)
    assert not target.exists() or not target.read_bytes()


def test_a_link_that_takes_the_place_of_the_log_is_not_followed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = path.with_name("target")
    target.touch()
    looked_at = target.lstat()
    path.symlink_to(target)
    monkeypatch.setattr(os, "lstat", lambda *_, **__: looked_at)

    with pytest.raises(OSError, match="symbolic link"):
        tell(path)
    assert target.read_bytes() == b""


def test_a_log_that_stays_locked_is_given_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LOCK_ATTEMPTS", 3)
    monkeypatch.setattr(log, "LOCK_PAUSE", 0)
    with path.open("ab") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(EventLogError, match="another process keeps it locked"):
            tell(path)
    assert tell(path) == 0


def test_a_log_that_stays_locked_is_waited_for_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    log = EventLog(path, task_id="t_1")
    own = EventLog(path, task_id="t_1", directory=TaskDirectory(path.parent))
    with path.open("ab") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        waited = []
        for one in (log, log, own, own):
            with pytest.raises(EventLogError, match="keeps it locked"):
                one.append(type="progress", message="on")
            waited.append(len(pauses))
            pauses.clear()
    assert waited == [999, 0, 99, 0]
    assert log.append(type="progress", message="on").seq == 0


WRITER = """
import sys
from pathlib import Path
from caesar_agent.events.log import EventLog

log = EventLog(Path(sys.argv[1]), task_id="t_1")
for number in range(int(sys.argv[2])):
    log.append(type="message", text=sys.argv[3] * 500)
"""


@pytest.mark.timeout(60)
def test_writers_in_several_processes_never_give_a_number_twice(path: Path) -> None:
    each = 40
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(each), name])
        for name in "abcd"
    ]
    assert [writer.wait(timeout=50) for writer in writers] == [0] * 4

    reading = read_events(path)
    assert reading.diagnostics == ()
    assert [item.seq for item in reading.events] == list(range(4 * each))
