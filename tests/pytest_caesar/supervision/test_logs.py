from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.supervision.logs import Log, LogError
from tests.pytest_caesar.supervision.supervising import Bench


def test_a_log_is_its_owners_alone_and_not_inherited(tmp_path: Path) -> None:
    with Log.create(tmp_path / "raw.log") as log:
        assert (tmp_path / "raw.log").stat().st_mode & 0o777 == 0o600
        assert not os.get_inheritable(log.fd)


@pytest.mark.parametrize("kind", ["file", "link", "dangling", "fifo", "folder"])
def test_a_log_is_never_made_over_something_else(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "raw.log", tmp_path / "other"
    other.write_text("precious")
    match kind:
        case "file":
            path.write_text("old")
        case "link":
            path.symlink_to(other)
        case "dangling":
            path.symlink_to(tmp_path / "nothing")
        case "fifo":
            os.mkfifo(path)
        case _:
            path.mkdir()
    with pytest.raises(LogError, match="could not be created: File exists"):
        Log.create(path)
    assert other.read_text() == "precious"
    assert not (tmp_path / "nothing").exists()


def test_the_tail_comes_with_its_place_in_the_file(tmp_path: Path) -> None:
    with Log.create(tmp_path / "raw.log") as log:
        os.write(log.fd, b"0123456789")
        assert log.read_tail(4) == (b"6789", 6)
        assert log.read_tail(10) == (b"0123456789", 0)
        assert log.read_tail(99) == (b"0123456789", 0)
        assert log.read_tail(0) == (b"", 10)


def test_reading_disturbs_no_writer(tmp_path: Path) -> None:
    with Log.create(tmp_path / "raw.log") as log:
        writer = os.dup(log.fd)
        os.write(writer, b"abc")
        log.read_tail(2)
        log.read_at(0, 1)
        os.write(writer, b"def")
        os.close(writer)
        assert log.read_tail(99) == (b"abcdef", 0)


def test_a_log_that_is_only_written_to_has_nothing_to_say(bench: Bench) -> None:
    bench.sh("echo a; echo b >&2")
    assert bench.log.check() is None
    assert not bench.log.shrunk


def test_a_log_that_shrinks_is_told(bench: Bench) -> None:
    bench.sh("echo aaaaaaaa", on_poll=None)
    assert bench.log.size == 9
    bench.sh(': > "$CAESAR_TASK_DIR/raw.log"; echo b')
    finding = bench.log.check()
    assert finding is not None
    assert finding.code == "log-shrank"
    assert finding.message == (
        "raw.log shrank while the agent ran (9 bytes were seen, 2 are left): "
        "what was printed before is lost"
    )
    assert bench.log.shrunk


def test_a_log_that_is_replaced_is_told_and_still_read(bench: Bench) -> None:
    bench.sh('echo early; rm "$CAESAR_TASK_DIR/raw.log"; mkfifo "$CAESAR_TASK_DIR/raw.log"; echo l')
    assert bench.output == b"early\nl\n"
    finding = bench.log.check()
    assert finding is not None
    assert finding.code == "log-replaced"


def test_a_log_replaced_by_a_link_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    bench.sh(f'echo mine; ln -sf {tmp_path}/secret "$CAESAR_TASK_DIR/raw.log"')
    assert bench.output == b"mine\n"
    finding = bench.log.check()
    assert finding is not None
    assert finding.code == "log-replaced"


def test_closing_twice_is_no_mistake(tmp_path: Path) -> None:
    log = Log.create(tmp_path / "raw.log")
    log.close()
    log.close()
