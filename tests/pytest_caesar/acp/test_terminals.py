"""Programs that the client runs for an agent that means no good."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_caesar.acp.terminals import MAX_HELD, TerminalRefusedError, Terminals
from pytest_caesar.supervision.printed import Printed
from pytest_caesar.supervision.supervisor import ProcessSpec


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[Terminals]:
    with Path(os.devnull).open("r+b") as null:
        spec = ProcessSpec(
            argv=("true",),
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            stdout=null.fileno(),
            stderr=null.fileno(),
            task_directory=tmp_path,
        )
        made = Terminals(
            spec, tmp_path, enclose=lambda spec: spec, timeout=60, grace=1.0, wake=lambda: None
        )
        yield made
        made.close()


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_nothing_is_started_once_the_session_is_over(terminals: Terminals) -> None:
    terminals.close()
    with pytest.raises(TerminalRefusedError, match="the session is over"):
        terminals.create({"command": "true"})
    assert terminals.observed() == []


def test_a_released_terminal_gives_its_file_back(terminals: Terminals) -> None:
    counts = []
    for _ in range(3):  # the first start opens what stays open in this process
        terminals.release(terminals.create({"command": "true"}))
        for thread in threading.enumerate():
            if thread.name.startswith("acp terminal-"):
                thread.join()
        terminals.answers()
        counts.append(open_files())
    assert len(set(counts)) == 1


def test_without_a_file_for_its_output_none_is_started(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left() -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("tempfile.TemporaryFile", none_left)
    with pytest.raises(TerminalRefusedError, match="Too many open files"):
        terminals.create({"command": "true"})


def test_terminals_that_are_not_released_are_counted(
    terminals: Terminals, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_HELD > 1
    monkeypatch.setattr("pytest_caesar.acp.terminals.MAX_HELD", 1)
    terminals.create({"command": "true"})
    with pytest.raises(TerminalRefusedError, match="release some"):
        terminals.create({"command": "true"})


def test_of_what_a_program_printed_only_the_end_stays_on_the_disk() -> None:
    with Printed.capture(keep=10) as printed:
        os.write(printed.fd, b"x" * 1000 + b"0123456789")
        printed.settle()
        assert os.fstat(printed.fd).st_size == 10
        assert printed.tail() == ("0123456789", True)
