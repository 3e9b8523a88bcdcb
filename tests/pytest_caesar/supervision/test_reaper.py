from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_caesar.supervision import reaper
from pytest_caesar.supervision.processes import Process
from tests.pytest_caesar.supervision.supervising import (
    CHILDREN,
    PATIENCE,
    Bench,
    eventually,
    is_alive,
)

ROOT = Path(reaper.__file__).parents[2]


def command(how: str, bench: Bench) -> list[str]:
    return [
        sys.executable, str(CHILDREN / "harness.py"), how, str(bench.task_directory), str(ROOT),
    ]  # fmt: skip


@contextmanager
def harness(how: str, bench: Bench) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that delegates, and wait until its three agents run."""
    with subprocess.Popen(command(how, bench)) as process:
        try:
            assert eventually(lambda: len(bench.pids()) >= 3)
            assert len(bench.living()) == 3
            yield process
        finally:
            process.kill()


def nobody_is_left(bench: Bench) -> bool:
    return eventually(lambda: not bench.living())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_no_agent_survives_a_harness_that_is_ended(bench: Bench, number: signal.Signals) -> None:
    home = bench.task_directory.with_name("home")
    (home / "below").mkdir(parents=True)
    (home / "below" / "token").touch()
    with harness("wait", bench) as process:
        process.send_signal(number)
        process.wait()
    assert nobody_is_left(bench)
    # Ctrl-C is the harness's own to handle: it removes what it made itself.
    assert number == signal.SIGINT or eventually(lambda: not home.exists())


def test_no_agent_survives_a_harness_that_leaves_without_a_word(bench: Bench) -> None:
    with subprocess.Popen(command("os._exit", bench)) as process:
        process.wait()
    assert process.returncode == 9
    assert len(bench.pids()) == 3
    assert nobody_is_left(bench)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="environments are read in /proc")
def test_what_a_function_started_does_not_survive_a_killed_harness(bench: Bench) -> None:
    with harness("function", bench) as process:
        process.kill()
        process.wait()
    assert nobody_is_left(bench)


def test_a_worker_ends_its_agents_when_its_controller_is_killed(bench: Bench) -> None:
    # A shell stands between, as the controller of the worker; it says who the worker is.
    line = '"$@" & echo $! > worker; wait'
    controller = subprocess.Popen(
        ["/bin/sh", "-c", line, "sh", *command("watch", bench)], cwd=bench.workspace
    )
    with controller:
        assert eventually(lambda: len(bench.pids()) >= 3)
        controller.kill()
    assert nobody_is_left(bench)
    # The delegation came back, rather than the worker being shot.
    assert eventually((bench.task_directory / "returned").exists)
    worker = int((bench.workspace / "worker").read_text())
    assert eventually(lambda: not is_alive(worker))


def test_the_reaper_ends_with_its_process(bench: Bench) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pytest_caesar.supervision import reaper\n"
        "reaper.prepare(); print(reaper.reaper_pid())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(ROOT)], capture_output=True, check=True
    )
    assert done.stderr == b""
    assert not is_alive(int(done.stdout))


def test_a_reaper_that_an_agent_has_stopped_serves_the_next_one_and_ends(bench: Bench) -> None:
    bench.sh("exit 0")
    pid = reaper.reaper_pid()
    os.kill(pid, signal.SIGSTOP)
    assert bench.sh("exit 3").exit_code == 3
    assert reaper.reaper_pid() == pid

    os.kill(pid, signal.SIGSTOP)
    reaper.close()
    assert not is_alive(pid)


def test_it_is_one_process_for_all_agents_and_starts_anew_after_its_end(bench: Bench) -> None:
    bench.sh("exit 0")
    first = reaper.reaper_pid()
    bench.sh("exit 0")
    assert reaper.reaper_pid() == first
    reaper.close()
    assert not is_alive(first)
    assert bench.sh("exit 3").exit_code == 3
    assert reaper.reaper_pid() not in {0, first}


def test_it_belongs_to_no_terminal_and_no_group_of_ours() -> None:
    reaper.prepare()
    pid = reaper.reaper_pid()
    assert eventually(lambda: os.getsid(pid) == pid)


def test_ctrl_c_in_its_direction_does_not_end_it(bench: Bench) -> None:
    bench.sh("exit 0")
    pid = reaper.reaper_pid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pid, number)
    assert bench.sh("exit 3").exit_code == 3
    assert reaper.reaper_pid() == pid


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_a_reaper_of_its_own_and_harms_its_parents(bench: Bench) -> None:
    bench.sh("exit 0")
    ours = reaper.reaper_pid()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            theirs_before = reaper.reaper_pid()
            outcome = bench.sh("exit 4")
            right = theirs_before == 0 and outcome.exit_code == 4 and reaper.reaper_pid() != ours
            reaper.close()
            code = 0 if right else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert is_alive(ours)
    assert bench.sh("exit 5").exit_code == 5


def test_a_reaper_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reaper.close()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(reaper.ReaperError) as caught:
        reaper.prepare()
    assert "'/no/such/python'" in str(caught.value)
    assert "No such file or directory" in str(caught.value)
    assert reaper.reaper_pid() == 0


def test_watching_the_parent_twice_is_watching_it_once() -> None:
    import threading

    reaper.watch_parent()
    reaper.watch_parent()
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("caesar-parent") == 1


def test_a_guard_lets_go_of_what_it_guards_when_all_went_well(bench: Bench) -> None:
    environment = {"CAESAR_TASK_DIR": str(bench.task_directory)}
    with reaper.guarded("CAESAR_TASK_DIR", str(bench.task_directory)):
        process = subprocess.Popen(["/bin/sleep", "60"], env=environment)
    with process:
        # The farewell is read before anything later, so this one answers after it.
        bench.sh("exit 0", env={"CAESAR_TASK_DIR": "elsewhere"})
        process.kill()
    assert Process.of(process.pid) is None
    assert PATIENCE > 0


def test_the_reaper_loads_the_standard_library_alone() -> None:
    program = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "import pytest_caesar.supervision.monitors.server\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(names - sys.stdlib_module_names - {'__main__'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "['pytest_caesar']\n"
