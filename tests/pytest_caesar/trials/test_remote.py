"""Trials in other processes that share no folder with the test."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import distributed
import pytest

from caesar_agent.clock import monotonic, pause
from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.trials.remote.dask import DaskCarrier
from pytest_caesar.trials.remote.dispatch import ATTEMPTS, Carrier, ExecutorCarrier, dispatched
from pytest_caesar.trials.remote.errors import CannotBeSentError, NodeError, WorkersDiedError
from pytest_caesar.trials.remote.node import PREFIX, Transfer, carry_out
from pytest_caesar.trials.remote.parcel import (
    Parcel,
    answers_as_data,
    bundle_of,
    check_fields,
    own_version,
    shipped,
)
from pytest_caesar.trials.remote.unpacking import unpacked
from pytest_caesar.workspace.repository import Repository

LIMIT = 60.0

dask: Any = distributed


@pytest.fixture
def fakes(tmp_path: Path) -> FakeAgents:
    return FakeAgents(tmp_path / "agents")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "repo")
    made.commit({"a.txt": "a\n"})
    return made


@pytest.fixture
def parcel(repository: Repository, fakes: FakeAgents) -> Callable[..., Parcel]:
    """Pack one trial of an agent with these steps."""

    def pack(*steps: Any, number: int = 1, agent: ProcessAgent | None = None) -> Parcel:
        agent = agent or fakes(*steps)
        bundle, head = bundle_of(repository)
        return Parcel(
            number=number,
            task_id=f"t_{number:04d}",
            version=own_version(),
            bundle=bundle,
            head=head,
            agent=agent,
            files=shipped(agent, ()),
            python=os.sys.executable,  # type: ignore[attr-defined]
            objective="Write b.txt",
            fields={},
            answers=answers_as_data(ScriptedAnswers().on(re.compile("Go .n"), "yes")),
        )

    return pack


def test_a_run_from_elsewhere_is_a_whole_one(
    parcel: Callable[..., Parcel], fakes: FakeAgents, tmp_path: Path
) -> None:
    sent = parcel(
        fakes.ask("Go on?"), fakes.write("b.txt", b"\0b"), fakes.event("progress"), fakes.report()
    )
    transfer = carry_out(sent)
    assert not Path(transfer.root).exists()
    run = unpacked(transfer, tmp_path / "back")
    assert run.succeeded
    assert [(change.path, change.action) for change in run.changes] == [("b.txt", "created")]
    assert run.observation.verified
    assert [question.answer for question in run.questions] == ["yes"]
    assert run.events[0].type == "started"
    assert run.task_dir.is_relative_to(tmp_path / "back")
    assert {"task.json", "report.json", "events.jsonl", "raw.log"} <= {
        path.name for path in run.task_dir.iterdir()
    }
    assert run.without("file").source == "synthesized"


def test_a_cluster_runs_trials_again_whose_worker_died_and_ends_what_is_cancelled(
    parcel: Callable[..., Parcel], fakes: FakeAgents, tmp_path: Path
) -> None:
    kill = tmp_path / "kill"
    kill.touch()
    # The first agent there is kills the worker it was started by, once.
    killing = fakes.run(
        "sh", "-c", f'if rm {kill} 2>/dev/null; then kill -9 "$(cat {tmp_path}/worker)"; fi'
    )
    with (
        dask.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None
        ) as cluster,
        dask.Client(cluster) as client,
    ):
        workers = client.run(os.getpid)
        (tmp_path / "worker").write_text(str(next(iter(workers.values()))))
        steps = (killing, fakes.write("b.txt", "b"), fakes.report())
        parcels = {number: parcel(*steps, number=number) for number in range(1, 7)}
        told: list[int] = []
        found = dispatched(
            parcels,
            DaskCarrier(client),
            folder=tmp_path / "back",
            tell=lambda transfer: told.append(transfer.number),
        )
        assert not kill.exists()
        assert found.errors == {}
        assert sorted(told) == [1, 2, 3, 4, 5, 6]
        assert all(run.succeeded for run in found.runs.values())
        # The next trial there removes what the killed worker left.
        carry_out(parcel(fakes.report()))
        left = Path(tempfile.gettempdir()).glob(f"{PREFIX}{next(iter(workers.values()))}-*")
        assert not list(left)

        carrier = DaskCarrier(client)
        started = tmp_path / "started"
        future = carrier.submit(parcel(fakes.run("touch", str(started)), fakes.hang()))
        until = monotonic() + LIMIT
        while not started.exists() and monotonic() < until:
            pause(0.05)
        carrier.cancel()
        assert future.result(timeout=LIMIT).run.outcome.status == "cancelled"


class _Dying:
    """Loses its worker under some trials, as often as it is told."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.submitted = 0
        self.cancelled = False

    def submit(self, parcel: Parcel) -> Future[Transfer]:
        self.submitted += 1
        future: Future[Transfer] = Future()
        if self.submitted <= self.times:
            future.set_exception(BrokenProcessPool("gone"))
        elif parcel.number != 99:
            future.set_result(carry_out(parcel))
        return future

    def cancel(self) -> None:
        self.cancelled = True

    def died(self, error: BaseException) -> bool:
        return isinstance(error, BrokenProcessPool)


@pytest.mark.parametrize("times", [ATTEMPTS - 1, ATTEMPTS])
def test_a_trial_is_tried_three_times_and_counted_once(
    parcel: Callable[..., Parcel], fakes: FakeAgents, tmp_path: Path, times: int
) -> None:
    carrier: Carrier = _Dying(times)
    ran = times < ATTEMPTS
    found = dispatched({1: parcel(fakes.report())}, carrier, folder=tmp_path / "back")
    assert list(found.runs) == ([1] if ran else [])
    assert [type(error) for error in found.errors.values()] == ([] if ran else [WorkersDiedError])


def test_any_executor_will_do(
    parcel: Callable[..., Parcel], fakes: FakeAgents, tmp_path: Path
) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        sent = {1: parcel(fakes.report("failed"))}
        found = dispatched(sent, ExecutorCarrier(pool), folder=tmp_path / "back")
    assert found.runs[1].report.status == "failed"


def test_an_interruption_cancels_what_was_sent(
    parcel: Callable[..., Parcel], fakes: FakeAgents, tmp_path: Path
) -> None:
    carrier = _Dying(0)
    timer = threading.Timer(
        0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)
    )
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dispatched({99: parcel(fakes.report(), number=99)}, carrier, folder=tmp_path / "back")
    timer.join()
    assert carrier.cancelled


def test_a_node_says_what_it_lacks(parcel: Callable[..., Parcel], fakes: FakeAgents) -> None:
    sent = parcel(fakes.report())
    lacking = {
        "and 0.0.1 here; install the same versions on both": replace(sent, version="0.0.1"),
        "CAESAR_NOT_THERE is not set there": replace(sent, pass_env=("CAESAR_NOT_THERE",)),
        "was not found on PATH": replace(
            sent, agent=ProcessAgent(id="x", origin="catalogue", argv=("caesar-no-such-agent",))
        ),
    }
    for problem, other in lacking.items():
        with pytest.raises(NodeError, match=re.escape(problem)):
            carry_out(other)


def test_what_means_nothing_elsewhere_is_refused_by_name(
    repository: Repository, tmp_path: Path
) -> None:
    def function(agent: object) -> None: ...

    answers = ScriptedAnswers().on("Go on?", lambda _: "yes")
    refused: list[tuple[str, Callable[[], object]]] = [
        ("isolation='inplace'", lambda: check_fields({"isolation": "inplace"})),
        ("workspace= means", lambda: check_fields({"workspace": tmp_path})),
        (
            "is a Python function",
            lambda: shipped(FunctionAgent(id="f", origin="path", target="m:f"), ()),
        ),
        ("is a function", lambda: answers_as_data(answers)),
        ("no/such: No such file", lambda: shipped("codex", ["/no/such"])),
        ("has no commit", lambda: bundle_of(Repository.create(tmp_path / "empty"))),
    ]
    for problem, call in refused:
        with pytest.raises(CannotBeSentError, match=re.escape(problem)):
            call()
    repository.commit({".caesar/config.toml": '[worktree]\ncopy = [".env"]\n'})
    with pytest.raises(CannotBeSentError, match="places files that no commit holds"):
        bundle_of(repository)
    repository.write("a.txt", "changed")
    with pytest.raises(CannotBeSentError, match="holds uncommitted work"):
        bundle_of(repository)


def test_names_that_an_agent_chose_lead_nowhere_else(
    parcel: Callable[..., Parcel], fakes: FakeAgents, tmp_path: Path
) -> None:
    transfer = carry_out(parcel(fakes.report()))
    hostile = {"../out": b"x", "/abs": b"x", "a/../../out": b"x", "ok": b"x", "ok/under": b"x"}
    unpacked(replace(transfer, files=hostile), tmp_path / "back")
    assert [path.name for path in (tmp_path / "back").rglob("*")] == ["ok"]
    assert not (tmp_path / "out").exists()
