from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.supervision import processes
from pytest_caesar.supervision.monitors import process_tree
from pytest_caesar.supervision.processes import MAX_NAME, Process, readable
from tests.pytest_caesar.supervision.supervising import eventually


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        # Popen returns in the midst of the exec, when there is no command line to see yet.
        assert eventually(psutil.Process(process.pid).cmdline)
        yield process
        process.kill()


def of(pid: int) -> Process:
    process = Process.of(pid)
    assert process is not None
    return process


def is_alive(process: Process) -> bool:
    return process.alive


def test_a_process_is_itself_until_it_ends(sleeper: subprocess.Popen[bytes]) -> None:
    process = of(sleeper.pid)
    assert process.alive
    assert process == of(sleeper.pid)
    assert process.name == "/bin/sleep 60"
    assert process.send(signal.SIGKILL)
    sleeper.wait()
    assert not is_alive(process)
    assert not process.send(signal.SIGKILL)
    assert process.name == ""


def test_another_process_with_its_id_is_never_signalled(sleeper: subprocess.Popen[bytes]) -> None:
    earlier = Process(sleeper.pid, of(sleeper.pid).started - 1)
    assert not earlier.alive
    assert not earlier.send(signal.SIGKILL)
    assert processes.end([earlier], grace=1, patience=1) == []
    assert sleeper.poll() is None


def test_a_process_that_only_waits_to_be_reaped_is_not_alive(
    sleeper: subprocess.Popen[bytes],
) -> None:
    process = of(sleeper.pid)
    assert processes.end([process], grace=5, patience=5) == []
    assert sleeper.wait() == -signal.SIGTERM


def test_who_ignores_sigterm_is_killed() -> None:
    program = ["/bin/sh", "-c", "trap '' TERM; echo; while :; do sleep 0.01; done"]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as stubborn:
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
        assert processes.end([of(stubborn.pid)], grace=0.05, patience=5) == []
        assert stubborn.wait() == -signal.SIGKILL


def test_a_stopped_process_is_ended(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.send_signal(signal.SIGSTOP)
    assert processes.end([of(sleeper.pid)], grace=5, patience=5) == []


def test_we_and_who_started_us_are_never_signalled() -> None:
    for pid in (1, os.getpid(), os.getppid()):
        assert pid in processes.protected()
        found = Process.of(pid)
        if found is not None:
            assert not found.send(0)


def test_a_process_is_found_by_a_variable_it_carries() -> None:
    with subprocess.Popen(["/bin/sleep", "60"], env={"MARK": "a b=c", "X": "y"}) as marked:
        assert [found.pid for found in processes.carrying("MARK", "a b=c")] == [marked.pid]
        assert processes.carrying("MARK", "a b=") == []
        assert processes.carrying("ARK", "a b=c") == []
        marked.kill()


def test_what_descends_from_a_process_is_found() -> None:
    program = "sleep 60 & setsid sleep 61 & echo; wait"
    with subprocess.Popen(["/bin/sh", "-c", program], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        found = processes.below(shell.pid)
        assert len(found) == 2
        assert processes.end([*found, of(shell.pid)], grace=5, patience=5) == []


def test_no_process_has_an_id_that_nobody_has() -> None:
    assert Process.of(2**22 + 1) is None
    assert processes.below(2**22 + 1) == []


@given(st.binary(max_size=4 * MAX_NAME))
def test_a_name_is_always_one_short_printable_line(command_line: bytes) -> None:
    shown = readable(command_line)
    assert len(shown) <= MAX_NAME
    assert shown.isprintable()


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=MAX_NAME))
def test_a_plain_name_is_shown_as_it_is(name: str) -> None:
    assert readable(name.encode()) == name


# -- where there is no /proc


@pytest.fixture
def _no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PROC", False)
    monkeypatch.setattr(process_tree, "_KERNEL_LISTS_CHILDREN", False)


@pytest.mark.usefixtures("_no_proc")
def test_psutil_tells_the_same(sleeper: subprocess.Popen[bytes]) -> None:
    process = of(sleeper.pid)
    assert process.alive
    assert process.name == "/bin/sleep 60"
    assert process in processes.below(os.getpid())
    assert processes.end([process], grace=5, patience=5) == []
    assert not process.alive


@pytest.mark.usefixtures("_no_proc")
def test_psutil_finds_a_variable_too() -> None:
    with subprocess.Popen(["/bin/sleep", "60"], env={"MARK": "there"}) as marked:
        assert eventually(psutil.Process(marked.pid).environ)
        assert [found.pid for found in processes.carrying("MARK", "there")] == [marked.pid]
        marked.kill()


@pytest.mark.usefixtures("_no_proc")
def test_psutil_knows_no_process_that_is_gone() -> None:
    assert Process.of(2**22 + 1) is None
    assert processes.below(2**22 + 1) == []
    assert Process(2**22 + 1, 0).name == ""
    assert not Process(2**22 + 1, 0).alive


@pytest.mark.usefixtures("_no_proc")
def test_children_are_found_in_the_table_too(sleeper: subprocess.Popen[bytes]) -> None:
    assert sleeper.pid in process_tree.children(os.getpid())
    assert (sleeper.pid, os.getpid()) in list(process_tree.descendants(os.getpid()))


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="there is no /bin/ps here")
def test_ps_tells_the_same_table(sleeper: subprocess.Popen[bytes]) -> None:
    told = process_tree.table_of_ps()[sleeper.pid]
    assert told == (os.getpid(), os.getpgid(sleeper.pid), told[2])
    assert process_tree.table()[sleeper.pid][:2] == told[:2]
