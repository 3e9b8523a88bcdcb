"""Supervision where there are neither subreapers nor /proc nor waitid, as on macOS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_caesar.supervision import processes, reaper, supervisor
from pytest_caesar.supervision.monitors import server
from tests.pytest_caesar.supervision.supervising import Bench

PROGRAM = """
import sys; sys.path.append(sys.argv[3])
from pytest_caesar.supervision.monitors import monitor, process_tree, server, waiting
server.become_subreaper = monitor.become_subreaper = lambda: False
process_tree._PROC = process_tree._KERNEL_LISTS_CHILDREN = False
process_tree._pidfd_open = waiting._pidfd_open = monitor._waitid = None
server.main()
"""


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    reaper.close()
    monkeypatch.setattr(server, "START", PROGRAM)
    monkeypatch.setattr(supervisor, "can_adopt", lambda: False)
    monkeypatch.setattr(processes, "_PROC", False)
    yield
    reaper.close()


def test_exit_codes_and_signals_are_told(bench: Bench) -> None:
    assert bench.sh("exit 0").status == "succeeded"
    assert bench.sh("exit 7").exit_code == 7
    assert bench.sh("kill -KILL $$").signal == "SIGKILL"


def test_what_is_left_in_the_group_is_found_and_ended(bench: Bench) -> None:
    outcome = bench.sh('sleep 60 & echo $! >> "$CAESAR_TASK_DIR/pids"; exit 0')
    assert [(item.pid, item.name, item.found_by) for item in outcome.leaked] == [
        (bench.pids()[0], "sleep 60", "group")
    ]
    assert bench.living() == []


def test_a_daemon_is_found_by_its_environment(bench: Bench) -> None:
    outcome = bench.child("daemon", "marked")
    assert [(item.pid, item.found_by) for item in outcome.leaked] == [
        (bench.pids()[0], "environment")
    ]
    assert bench.living() == []


def test_a_daemon_without_a_mark_is_found_when_it_was_seen(bench: Bench) -> None:
    outcome = bench.sh(
        'setsid env -i sleep 60 & echo $! >> "$CAESAR_TASK_DIR/pids"; sleep 2; exit 0'
    )
    assert [item.found_by for item in outcome.leaked] == ["descendant"]
    assert bench.living() == []


def test_who_ignores_every_signal_is_killed_with_its_children(bench: Bench) -> None:
    outcome = bench.child("stubborn", timeout=3)
    assert (outcome.status, outcome.signal) == ("timed_out", "SIGKILL")
    assert len(bench.pids()) == 2
    assert bench.living() == []
