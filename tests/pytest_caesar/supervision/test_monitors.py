"""What takes another monitor to see: patience, signals that go nowhere, and its own faults."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_caesar.supervision import reaper, supervisor
from pytest_caesar.supervision.monitors import server
from tests.pytest_caesar.supervision.supervising import Bench, eventually

PROGRAM = """
import sys; sys.path.append(sys.argv[3])
from pytest_caesar.supervision.monitors import server, monitor
{change}
server.main()
"""
UNKILLABLE = """
monitor.KILL_WAIT = monitor.LEFTOVER_GRACE = 0.1
monitor.quietly = monitor.send_signal = lambda *arguments: None
"""


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    reaper.close()
    yield
    reaper.close()


def test_an_agent_that_cannot_be_killed_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "START", PROGRAM.format(change=UNKILLABLE))
    outcome = bench.sh('echo $$ >> "$CAESAR_TASK_DIR/pids"; exec env -i sleep 60', timeout=2)
    assert (outcome.status, outcome.exit_code, outcome.signal) == ("timed_out", None, None)
    (finding,) = [item for item in outcome.diagnostics if item.code == "process-unkillable"]
    assert f"process {bench.pids()[0]} (sleep 60) did not end" in finding.message
    reaper.close()
    assert eventually(lambda: not bench.living())


def test_what_is_left_and_cannot_be_killed_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "START", PROGRAM.format(change=UNKILLABLE))
    outcome = bench.sh('env -i sleep 60 & echo $! >> "$CAESAR_TASK_DIR/pids"; exit 3')
    assert (outcome.status, outcome.exit_code) == ("failed", 3)
    assert [item.code for item in outcome.diagnostics] == ["process-leaked", "process-unkillable"]
    reaper.close()
    assert eventually(lambda: not bench.living())


def test_a_monitor_that_breaks_leaves_nobody(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    change = "monitor.Monitor._watch = lambda *arguments: 1 / 0"
    monkeypatch.setattr(server, "START", PROGRAM.format(change=change))
    outcome = bench.sh('echo $$ >> "$CAESAR_TASK_DIR/pids"; sleep 60')
    assert [item.code for item in outcome.diagnostics] == ["supervision-lost"]
    assert eventually(lambda: not bench.living())


def test_helpers_that_end_by_themselves_are_not_called_leaked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "START", PROGRAM.format(change="monitor.SETTLE = 15"))
    outcome = bench.sh("(sleep 0.1; echo last) & exit 0")
    assert outcome.leaked == ()
    assert bench.output == b"last\n"


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told by /proc")


@linux
def test_what_a_monitor_cannot_see_any_more_is_ended_all_the_same(bench: Bench) -> None:
    blinding = (
        "import os, resource, subprocess\n"
        "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))\n"
        "left = subprocess.Popen(['sleep', '60'], env={}, start_new_session=True)\n"
        "print(left.pid, file=open(os.environ['CAESAR_TASK_DIR'] + '/pids', 'w'))\n"
    )
    outcome = bench.run(sys.executable, "-I", "-S", "-c", blinding)
    assert (outcome.status, bench.living()) == ("succeeded", [])
    assert [(item.pid, item.name) for item in outcome.leaked] == [(bench.pids()[0], "sleep 60")]


@linux
def test_a_monitor_that_its_agent_stops_goes_on(bench: Bench) -> None:
    outcome = bench.sh("kill -STOP $PPID; exit 3", timeout=60)

    assert (outcome.exit_code, outcome.diagnostics) == (3, ())


@linux
def test_a_monitor_that_is_stopped_again_and_again_is_given_up(bench: Bench) -> None:
    outcome = bench.sh("while :; do kill -STOP $PPID; done", timeout=60)

    assert not outcome.timed_out
    assert [finding.code for finding in outcome.diagnostics] == ["supervision-lost"]


HARNESS = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from pytest_caesar.supervision.logs import Log
from pytest_caesar.supervision.supervisor import ProcessSpec, supervise
from pytest_caesar.supervision.monitors.messages import Link
folder = Path(sys.argv[2])
command = "exit 3"
{change}
with Log.create(folder / "raw2.log") as log:
    print(supervise(ProcessSpec(
        argv=("/bin/sh", "-c", command), cwd=folder, env={{}},
        stdout=log.fd, stderr=log.fd, task_directory=folder,
    ), timeout=60).exit_code)
"""
STOPPED = 'command = f"kill -STOP {os.getpid()}; exit 3"'
STOPPED_LATE = """
receive = Link.receive
def stop_at_the_end(link, timeout):
    message = receive(link, timeout)
    if message and message[0] == "ended":
        os.kill(os.getpid(), signal.SIGSTOP)
    return message
Link.receive = stop_at_the_end
"""


@linux
@pytest.mark.timeout(60)
@pytest.mark.parametrize("change", [STOPPED, STOPPED_LATE], ids=["at-once", "after-the-end"])
def test_an_agent_that_stops_the_harness_where_no_terminal_is_does_not_keep_it_so(
    bench: Bench, change: str
) -> None:
    root = str(Path(supervisor.__file__).parents[2])
    program = HARNESS.format(change=change)
    with subprocess.Popen(
        [sys.executable, "-c", program, root, str(bench.task_directory)],
        stdout=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            assert process.communicate(timeout=30)[0] == b"3\n"
        finally:
            process.kill()
