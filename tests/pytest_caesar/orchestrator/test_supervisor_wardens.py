"""What takes another warden to see: patience, signals that go nowhere, and its own faults."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_caesar.orchestrator import reaper
from pytest_caesar.orchestrator.wardens import server
from tests.pytest_caesar.orchestrator.supervising import Bench, eventually

PROGRAM = """
import sys; sys.path.append(sys.argv[3])
from pytest_caesar.orchestrator.wardens import server, warden
{change}
server.main()
"""
UNKILLABLE = """
warden.KILL_WAIT = warden.LEFTOVER_GRACE = 0.1
warden.quietly = warden.send_signal = lambda *arguments: None
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
    outcome = bench.sh('echo $$ >> "$CAESAR_TASK_DIR/pids"; exec env -i sleep 60', timeout=0.2)
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


def test_a_warden_that_breaks_leaves_nobody(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    change = "warden.Warden._watch = lambda *arguments: 1 / 0"
    monkeypatch.setattr(server, "START", PROGRAM.format(change=change))
    outcome = bench.sh('echo $$ >> "$CAESAR_TASK_DIR/pids"; sleep 60')
    assert [item.code for item in outcome.diagnostics] == ["supervision-lost"]
    assert eventually(lambda: not bench.living())


def test_helpers_that_end_by_themselves_are_not_called_leaked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "START", PROGRAM.format(change="warden.SETTLE = 15"))
    outcome = bench.sh("(sleep 0.1; echo last) & exit 0")
    assert outcome.leaked == ()
    assert bench.output == b"last\n"
