from __future__ import annotations

import hashlib
import math
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from freezegun import freeze_time

from caesar_agent.clock import monotonic, pause
from pytest_caesar.supervision import processes, reaper, supervisor
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.processes import Process
from tests.pytest_caesar.supervision.supervising import CHILDREN, Bench, eventually, is_alive

STARTED = 3
"""Seconds in which an agent has started and set its traps, also on a very busy machine."""


def codes(outcome: object) -> list[str]:
    return [finding.code for finding in outcome.diagnostics]  # type: ignore[attr-defined]


# -- ordinary ends


def test_exit_code_0_is_a_success_and_says_nothing_more(bench: Bench) -> None:
    outcome = bench.sh("exit 0")
    assert (outcome.status, outcome.exit_code, outcome.signal) == ("succeeded", 0, None)
    assert outcome.leaked == ()
    assert outcome.diagnostics == ()


def test_another_exit_code_is_a_failure(bench: Bench) -> None:
    outcome = bench.sh("exit 37")
    assert (outcome.status, outcome.exit_code, outcome.signal) == ("failed", 37, None)


def test_a_signal_is_a_failure_with_its_name(bench: Bench) -> None:
    outcome = bench.sh("kill -KILL $$")
    assert (outcome.status, outcome.exit_code, outcome.signal) == ("failed", None, "SIGKILL")


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="no real-time signals here")
def test_a_signal_without_a_name_is_told_by_its_number(bench: Bench) -> None:
    outcome = bench.sh(f"kill -{signal.SIGRTMIN + 3} $$")
    assert outcome.signal == "SIGRTMIN+3"


def test_agents_that_end_at_once_are_all_noticed(bench: Bench) -> None:
    assert [bench.run("/bin/true").status for _ in range(30)] == ["succeeded"] * 30


def test_output_goes_byte_for_byte_to_the_log(bench: Bench) -> None:
    bench.sh(r"printf 'a\r\n\000\377 no end'; printf err >&2")
    assert bench.output == b"a\r\n\0\xff no enderr"


def test_stderr_can_go_elsewhere(bench: Bench, tmp_path: Path) -> None:
    with (tmp_path / "err").open("wb") as file:
        bench.sh("echo out; echo err >&2", stderr=file.fileno())
    assert bench.output == b"out\n"
    assert (tmp_path / "err").read_bytes() == b"err\n"


def test_a_flood_on_both_streams_arrives_whole(bench: Bench) -> None:
    assert bench.child("flood", "8").status == "succeeded"
    assert len(bench.output) == 8 * 2 * 8 * 65536 + len(b"done")
    assert bench.output.endswith(b"done")


def test_the_streams_are_no_terminal_and_there_is_none_to_open(bench: Bench) -> None:
    bench.sh("for n in 0 1 2; do test -t $n && echo $n; done; : </dev/tty && echo tty; true")
    assert b"tty" not in bench.output.replace(b"/dev/tty", b"")


def test_the_agent_inherits_no_other_descriptor(bench: Bench, tmp_path: Path) -> None:
    program = "import os; print([n for n in range(3, 64) if os.path.exists(f'/dev/fd/{n}')])"
    with (tmp_path / "inheritable").open("wb") as file:
        os.set_inheritable(file.fileno(), True)  # noqa: FBT003 - it takes no keyword
        bench.run(sys.executable, "-I", "-S", "-c", program)
    # Some of these are of the look itself, which opens nothing that lasts.
    assert bench.output in {b"[]\n", b"[3]\n"}


def test_signals_have_their_default_meaning_in_the_agent(bench: Bench) -> None:
    outcome = bench.sh("kill -PIPE $$; exit 0")
    assert outcome.signal == "SIGPIPE"


def test_the_environment_is_exactly_the_one_that_was_given(bench: Bench) -> None:
    bench.run("/usr/bin/env", env={"ODD": "a=b c"})
    lines = sorted(bench.output.decode().splitlines())
    assert lines == sorted(
        ["ODD=a=b c", f"PATH={os.environ['PATH']}", f"CAESAR_TASK_DIR={bench.task_directory}"]
    )


# -- stdin


def test_stdin_is_empty_unless_something_is_given(bench: Bench) -> None:
    assert bench.sh("cat; echo end").status == "succeeded"
    assert bench.output == b"end\n"


def test_stdin_of_any_size_arrives_and_ends(bench: Bench) -> None:
    brief = os.urandom(700_000)
    bench.run(
        sys.executable, "-I", "-c",
        "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())",
        stdin=brief,
    )  # fmt: skip
    assert bench.output.decode().strip() == hashlib.sha256(brief).hexdigest()


def test_an_agent_that_reads_no_stdin_hinders_nobody(bench: Bench) -> None:
    assert bench.sh("exit 0", stdin=b"x" * 300_000).status == "succeeded"


# -- what is left behind


def test_the_run_ends_with_the_agent_whoever_holds_its_streams(bench: Bench) -> None:
    outcome = bench.sh('sleep 60 & echo $! >> "$CAESAR_TASK_DIR/pids"; exit 0')
    assert outcome.status == "succeeded"
    assert [(item.pid, item.name, item.found_by) for item in outcome.leaked] == [
        (bench.pids()[0], "sleep 60", "group")
    ]
    assert codes(outcome) == ["process-leaked"]
    assert bench.living() == []


@pytest.mark.parametrize("how", ["bare", "marked"])
def test_a_daemon_that_left_its_session_is_found_and_ended(bench: Bench, how: str) -> None:
    outcome = bench.child("daemon", how)
    assert outcome.status == "succeeded"
    (pid,) = bench.pids()
    assert [item.pid for item in outcome.leaked] == [pid]
    assert "daemon.py" in outcome.leaked[0].name
    assert not is_alive(pid)


def test_what_left_the_session_is_named_also_where_the_agent_had_to_be_killed(
    bench: Bench,
) -> None:
    outcome = bench.sh(
        "trap '' TERM; setsid sh -c 'echo $$ >> \"$CAESAR_TASK_DIR/pids\"; exec sleep 60' &"
        'while [ ! -s "$CAESAR_TASK_DIR/pids" ]; do sleep 0.01; done; sleep 60 & wait',
        timeout=STARTED,
        grace=0.2,
    )
    assert (outcome.status, outcome.signal) == ("timed_out", "SIGKILL")
    assert [(item.pid, item.found_by) for item in outcome.leaked] == [
        (bench.pids()[0], "descendant")
    ]
    assert bench.living() == []


def test_a_process_that_is_never_the_same_for_long_is_caught(bench: Bench) -> None:
    outcome = bench.child("hopper")
    assert outcome.leaked
    last = (bench.task_directory / "pids").read_text()
    assert bench.living() == []
    assert (bench.task_directory / "pids").read_text() == last
    assert "process-unkillable" not in codes(outcome)


def test_a_wrapper_that_dies_while_its_worker_lives_is_the_end(bench: Bench) -> None:
    outcome = bench.sh('sleep 60 & echo $! >> "$CAESAR_TASK_DIR/pids"; kill -KILL $$')
    assert (outcome.status, outcome.signal) == ("failed", "SIGKILL")
    assert bench.living() == []


def test_a_stranger_that_carries_the_environment_is_ended(bench: Bench) -> None:
    import subprocess

    environment = {"CAESAR_TASK_DIR": str(bench.task_directory)}
    with subprocess.Popen(["/bin/sleep", "60"], env=environment) as stranger:
        outcome = bench.sh("exit 0")
    assert stranger.returncode == -signal.SIGTERM
    assert [(item.pid, item.found_by) for item in outcome.leaked] == [(stranger.pid, "environment")]


def test_a_neighbour_of_another_task_is_left_alone(bench: Bench) -> None:
    import subprocess

    environment = {"CAESAR_TASK_DIR": f"{bench.task_directory}2"}
    with subprocess.Popen(["/bin/sleep", "60"], env=environment) as neighbour:
        outcome = bench.sh("exit 0")
        assert neighbour.poll() is None
        neighbour.kill()
    assert outcome.leaked == ()


def test_names_of_what_is_left_cannot_write_to_a_terminal(bench: Bench) -> None:
    program = "import time; time.sleep(60)"
    outcome = bench.sh(f"'{sys.executable}' -I -S -c '{program} # \033]0;x\007\n' & exit 0")
    (item,) = outcome.leaked
    assert item.name.isprintable()
    assert "\\x1b]0;x\\x07\\n" in item.name


# -- the deadline


def test_an_agent_is_ended_at_its_deadline(bench: Bench) -> None:
    outcome = bench.run("/bin/sleep", "60", timeout=0.1)
    assert (outcome.status, outcome.timed_out, outcome.signal) == ("timed_out", True, "SIGTERM")
    assert outcome.leaked == ()
    assert codes(outcome) == ["deadline-exceeded"]


def test_who_ignores_every_signal_is_killed_with_its_children(bench: Bench) -> None:
    outcome = bench.child("stubborn", timeout=STARTED)
    ticks = (bench.task_directory / "ticks").read_bytes()
    assert (outcome.status, outcome.signal) == ("timed_out", "SIGKILL")
    assert len(bench.pids()) == 2
    assert bench.living() == []
    assert (bench.task_directory / "ticks").read_bytes() == ticks


def test_the_grace_lets_an_agent_hand_in_its_report(bench: Bench) -> None:
    outcome = bench.sh(
        "trap 'echo report; exit 0' TERM; while :; do sleep 0.02; done", timeout=STARTED, grace=20
    )
    assert (outcome.status, outcome.timed_out, outcome.exit_code) == ("timed_out", True, 0)
    assert bench.output.endswith(b"report\n")


def test_a_stopped_agent_is_ended_too(bench: Bench) -> None:
    outcome = bench.sh("trap 'echo woken; exit 3' TERM; kill -STOP $$", timeout=STARTED, grace=20)
    assert (outcome.status, outcome.exit_code) == ("timed_out", 3)
    assert bench.output.endswith(b"woken\n")


def test_a_child_of_another_session_is_ended_at_the_deadline(bench: Bench) -> None:
    outcome = bench.sh(
        'setsid sleep 60 & echo $! >> "$CAESAR_TASK_DIR/pids"; wait; sleep 60', timeout=STARTED
    )
    assert outcome.status == "timed_out"
    assert bench.living() == []


@pytest.mark.parametrize("timeout", [10.0**9, math.inf])
def test_a_deadline_in_years_is_none_at_once(bench: Bench, timeout: float) -> None:
    assert bench.sh("exit 0", timeout=timeout).status == "succeeded"


@pytest.mark.parametrize("timeout", [0.0, -1.0, math.nan])
def test_a_deadline_must_be_positive(bench: Bench, timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout must be positive"):
        bench.sh("exit 0", timeout=timeout)


def test_a_frozen_clock_stops_no_supervision(bench: Bench) -> None:
    with freeze_time("2001-01-01"):
        assert bench.run("/bin/sleep", "60", timeout=0.1).status == "timed_out"
        assert bench.sh("sleep 60 & exit 0").leaked


# -- delivered


def test_who_has_delivered_and_does_not_exit_is_ended(bench: Bench) -> None:
    report = bench.task_directory / "report.json"
    outcome = bench.child("deliver", delivered=report.exists)
    assert (outcome.status, outcome.killed_after_report) == ("succeeded", True)
    assert (outcome.exit_code, outcome.signal, outcome.timed_out) == (None, "SIGTERM", False)
    assert codes(outcome) == ["killed-after-report"]


def test_who_delivers_again_gets_the_linger_again(bench: Bench) -> None:
    report = bench.task_directory / "report.json"

    def delivered() -> object:
        return report.read_text() if report.exists() else None

    outcome = bench.child("deliver", "again", delivered=delivered, linger=1)
    assert outcome.killed_after_report
    assert report.read_text() == "3"


def test_a_delivered_report_survives_the_deadline(bench: Bench) -> None:
    report = bench.task_directory / "report.json"
    outcome = bench.child("deliver", delivered=report.exists, linger=60, timeout=STARTED)
    assert (outcome.status, outcome.killed_after_report, outcome.timed_out) == (
        "succeeded",
        True,
        True,
    )


def test_a_report_handed_in_at_sigterm_was_not_there_in_time(bench: Bench) -> None:
    report = bench.task_directory / "report.json"
    outcome = bench.sh(
        "trap 'echo > \"$CAESAR_TASK_DIR/report.json\"; exit 1' TERM; while :; do sleep 0.02; done",
        timeout=STARTED,
        grace=20,
        delivered=report.exists,
    )
    assert report.exists()
    assert (outcome.status, outcome.killed_after_report) == ("timed_out", False)


def test_a_harness_that_lags_behind_counts_from_the_start_as_the_monitor_does(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = bench.task_directory / "report.json"
    seen = bench.task_directory / "seen"
    real = Process.of

    def after_a_while(pid: int) -> Process | None:
        pause(1)  # as on a machine with too much to do
        return real(pid)

    def delivered() -> bool:
        if report.exists():
            seen.touch()
        return report.exists()

    monkeypatch.setattr(Process, "of", after_a_while)
    outcome = bench.sh(
        'cd "$CAESAR_TASK_DIR"; '
        "trap 'echo > report.json; while [ ! -e seen ]; do sleep 0.02; done; exit 1' TERM; "
        "while :; do sleep 0.02; done",
        timeout=STARTED,
        grace=20,
        delivered=delivered,
    )

    assert seen.exists()
    assert (outcome.status, outcome.killed_after_report) == ("timed_out", False)


def test_who_delivers_and_exits_is_not_killed(bench: Bench) -> None:
    outcome = bench.sh("exit 4", delivered=lambda: True, linger=20)
    assert (outcome.status, outcome.exit_code, outcome.killed_after_report) == ("failed", 4, False)


# -- cancelled


def test_a_cancelled_run_ends_as_cancelled(bench: Bench) -> None:
    cancelled = Cancellation()
    outcome = bench.run("/bin/sleep", "60", cancelled=cancelled, on_poll=cancelled.set)
    assert (outcome.status, outcome.signal, outcome.timed_out) == ("cancelled", "SIGTERM", False)


def test_a_cancelled_run_stays_cancelled_whatever_the_agent_says(bench: Bench) -> None:
    cancelled = Cancellation()
    outcome = bench.sh(
        "trap 'exit 0' TERM; while :; do sleep 0.02; done",
        cancelled=cancelled, on_poll=cancelled.set, grace=20,
    )  # fmt: skip
    assert (outcome.status, outcome.exit_code) == ("cancelled", 0)


def test_who_ignores_a_cancellation_is_killed(bench: Bench) -> None:
    cancelled = Cancellation()

    def cancel() -> None:
        if len(bench.pids()) == 2:
            cancelled.set()

    outcome = bench.child("stubborn", cancelled=cancelled, on_poll=cancel)
    assert (outcome.status, outcome.signal) == ("cancelled", "SIGKILL")
    assert bench.living() == []


def test_a_run_cancelled_before_it_began_starts_nothing(bench: Bench) -> None:
    cancelled = Cancellation()
    cancelled.set()
    outcome = bench.sh('echo > "$CAESAR_TASK_DIR/ran"', cancelled=cancelled)
    assert outcome.status == "cancelled"
    assert not (bench.task_directory / "ran").exists()


# -- interrupted


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError, SystemExit])
def test_whatever_is_raised_meanwhile_ends_the_tree_first(
    bench: Bench, error: type[BaseException]
) -> None:
    def interrupt() -> None:
        if len(bench.pids()) == 2:
            raise error

    with pytest.raises(error):
        bench.child("stubborn", on_poll=interrupt)
    assert bench.living() == []


def test_a_real_ctrl_c_ends_the_tree_first(bench: Bench) -> None:
    def interrupt() -> None:
        if len(bench.pids()) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        bench.child("stubborn", on_poll=interrupt)
    assert bench.living() == []


# -- threads


def test_several_threads_supervise_at_once_without_mixing_their_trees(bench: Bench) -> None:
    outcomes: dict[int, object] = {}

    def work(number: int) -> None:
        outcomes[number] = bench.sh(f"sleep 0.1; (setsid sleep 6{number} &); exit {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    for number in range(4):
        outcome = outcomes[number]
        assert outcome.exit_code == number  # type: ignore[attr-defined]


# -- hostile to the watcher


def test_killing_its_parent_gains_an_agent_nothing(bench: Bench) -> None:
    outcome = bench.sh('echo $$ >> "$CAESAR_TASK_DIR/pids"; kill -KILL $PPID; sleep 60')
    assert outcome.status == "failed"
    assert codes(outcome) == ["supervision-lost"]
    assert bench.living() == []


def test_killing_the_reaper_too_leaves_the_next_run_unharmed(bench: Bench) -> None:
    reaper.prepare()
    pid = reaper.reaper_pid()
    watcher = Process.of(pid)
    assert watcher is not None
    assert bench.sh(f"kill -KILL {pid}; sleep 0.05; exit 5").exit_code == 5
    assert eventually(lambda: not watcher.alive)
    assert bench.sh("exit 6").exit_code == 6


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="told by /proc")
def test_stopping_its_parent_gains_an_agent_nothing(bench: Bench) -> None:
    outcome = bench.sh(
        'echo $$ >> "$CAESAR_TASK_DIR/pids"; kill -STOP $PPID; sleep 60', timeout=STARTED, grace=0.1
    )
    assert codes(outcome) == ["deadline-exceeded"]
    assert bench.living() == []


def test_an_agent_that_delegates_is_ended_with_its_own_agents(bench: Bench) -> None:
    inner = bench.task_directory / "inner"
    inner.mkdir()
    root = str(Path(supervisor.__file__).parents[2])
    program = str(CHILDREN / "harness.py")
    outcome = bench.run(
        sys.executable, program, "wait", str(inner), root,
        timeout=20, on_poll=None, cancelled=None, delivered=(inner / "pids").exists, linger=0.3,
    )  # fmt: skip
    assert outcome.killed_after_report
    pids = [int(word) for word in (inner / "pids").read_text().split()]
    assert len(pids) == 3
    assert not any(is_alive(pid) for pid in pids)
    assert not any("monitors" in item.name for item in outcome.leaked)


def test_a_bomb_of_forks_is_put_out(bench: Bench) -> None:
    outcome = bench.child("bomb", timeout=0.5, grace=0.1)
    assert outcome.status == "timed_out"
    assert "process-unkillable" not in codes(outcome)
    assert processes.carrying("CAESAR_TASK_DIR", str(bench.task_directory)) == []


def test_an_agent_that_takes_its_folder_away_is_no_trouble(bench: Bench) -> None:
    outcome = bench.sh('rm -rf "$PWD"; exit 0')
    assert outcome.status == "succeeded"
    assert not bench.workspace.exists()


def test_an_agent_that_closes_its_streams_is_waited_for(bench: Bench) -> None:
    outcome = bench.sh("exec 0<&- 1>&- 2>&-; sleep 0.2; exit 9")
    assert outcome.exit_code == 9


def test_an_agent_that_becomes_another_program_is_still_the_agent(bench: Bench) -> None:
    assert bench.sh("exec sh -c 'sleep 0.1; exit 8'").exit_code == 8


def test_an_agent_may_leave_its_own_group(bench: Bench) -> None:
    outcome = bench.run(
        sys.executable, "-I", "-c",
        "import os, time\n"
        "if os.fork() == 0: os.setpgid(0, 0); time.sleep(60)\n"
        "time.sleep(60)",
        timeout=STARTED,
    )  # fmt: skip
    assert outcome.status == "timed_out"
    assert [item.found_by for item in outcome.leaked] == ["descendant"]


def test_the_end_is_noticed_at_once_and_not_at_the_next_look(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "POLL", 15)
    looks: list[float] = []
    bench.sh("exit 0", on_poll=lambda: looks.append(monotonic()))
    assert looks == []


def test_a_run_that_was_cancelled_stays_so_where_its_parent_was_killed(bench: Bench) -> None:
    cancelled = Cancellation()
    outcome = bench.sh(
        "trap 'kill -KILL $PPID' TERM; touch ready; while :; do sleep 0.02; done",
        cancelled=cancelled,
        on_poll=lambda: cancelled.set() if (bench.workspace / "ready").exists() else None,
        grace=20,
    )
    assert (outcome.status, codes(outcome)) == ("cancelled", ["supervision-lost"])
