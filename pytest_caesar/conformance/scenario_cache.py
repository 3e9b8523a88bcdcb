"""What checks work with: what one agent did in each scenario, carried out once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_caesar.agents.target import AgentTarget
from pytest_caesar.conformance.profile import Profile
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.conformance.scenario_runner import ScenarioRunner
from pytest_caesar.conformance.scenarios import SCENARIOS
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.orchestrator.pending_run import PendingRun

LEAST_TIMEOUT = 10.0
"""Seconds that every scenario after the plain one has at least."""

PATIENCE = 10
"""How much longer than the plain task a scenario may take before it counts as hanging."""

SHORT_LINGER = 0.5
"""Seconds that an agent which did not end after its first report may go on after the others."""

REPEATS = 3
"""How often a scenario is repeated before it is believed that it differs from another."""

QUICK = 2.0
"""Seconds that a scenario may take to be repeated more than once."""


@dataclass(kw_only=True)
class ScenarioCache:
    """One agent, and what it did.

    Attributes:
        agent: who is judged.
        profile: what it is for.
        folder: where scenarios are carried out; a function makes it at the first of them.
        settings: how the orchestrator treats every delegation.
        repeats: how often a scenario is repeated at most, to see whether it varies.
        ahead: scenarios to carry out in the background, once the plain one has left a report.
        base: the scenario that every other one is compared with.
        varied: what the agent did not do twice in the same way, as a sentence; or "".
    """

    agent: AgentTarget
    profile: Profile
    folder: Path | Callable[[], Path]
    settings: OrchestratorSettings = field(default_factory=OrchestratorSettings)
    repeats: int = REPEATS
    ahead: Iterable[str] = ()
    base: str = "plain"
    varied: str = ""
    _futures: dict[tuple[str, int], Future[ScenarioRun]] = field(default_factory=dict)
    _asked: list[ScenarioRun] = field(default_factory=list)
    _handed_on: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pool: ThreadPoolExecutor | None = None
    _pending: list[PendingRun] = field(default_factory=list)

    @property
    def runs(self) -> dict[str, ScenarioRun]:
        """What has been carried out so far, by scenario, without repetitions."""
        return {
            name: future.result()
            for (name, number), future in tuple(self._futures.items())
            if number == 0 and future.done() and not future.cancelled() and not future.exception()
        }

    def new_runs(self) -> list[ScenarioRun]:
        """Return what checks have looked at since this was last asked, and at nothing before."""
        new = self._asked[self._handed_on :]
        self._handed_on += len(new)
        return new

    @property
    def plain(self) -> ScenarioRun:
        """The plain task, which everything else is compared with.

        Where it left no report, and leaves one when it is given again, that one counts, and the
        agent varies.
        """
        first = self.run_of(self.base)
        if first.handed_in or first.run.outcome.timed_out or self.varied:
            return first
        for number in range(1, self.repeats + 1):
            again = self.repetition(self.base, number)
            if again.handed_in:
                self.note_variation(self.base, number)
                with self._lock:
                    one, other = (self.base, 0), (self.base, number)
                    futures = self._futures
                    futures[one], futures[other] = futures[other], futures[one]
                return again
        return first

    def run_of(self, name: str) -> ScenarioRun:
        """Carry out a scenario, or return what came of it before.

        Raises:
            Exception: the agent could not be started, or the repository not be made; the same
                one again at every call.
        """
        return self.repetition(name, 0)

    def repetition(self, name: str, number: int) -> ScenarioRun:
        """Carry out a scenario once more; each number is one repetition.

        Raises:
            Exception: as ``run_of``.
        """
        key = (name, number)
        with self._lock:
            future = self._futures.get(key)
            # What waits in the background is done here instead: nobody waits for its turn.
            mine = future is None or (not future.running() and future.cancel())
            if future is None or mine:
                future = self._futures[key] = Future()
        if mine:
            future.set_running_or_notify_cancel()
            self._carry_out(key, future)
        result = future.result()
        if all(one is not result for one in self._asked):
            self._asked.append(result)
        if key == (self.base, 0) and result.handed_in:
            self._look_ahead()
        return result

    def varies(
        self, name: str, fine: Callable[[ScenarioRun], bool], *, times: int = REPEATS
    ) -> bool:
        """Repeat a scenario, and tell whether it is fine in one repetition and not in another.

        Args:
            name: the scenario.
            fine: says of one repetition whether it is.
            times: how often it is repeated at most; what takes long is repeated once.
        """
        first = self.run_of(name)
        slow = first.run.outcome.duration_ms > QUICK * 1000
        for number in range(1, (1 if slow else min(times, self.repeats)) + 1):
            if fine(self.repetition(name, number)) != fine(first):
                self.note_variation(name, number)
                return True
        return False

    def note_variation(self, name: str, last: int) -> None:
        """Note that the agent did something else in the last repetition of a scenario."""
        ends = [self.repetition(name, number).ended() for number in range(last + 1)]
        self.varied = (
            f"given {SCENARIOS[name].title} {len(ends)} times, each time in a repository of its "
            f"own, it ended as: {', '.join(ends)}"
        )

    def forget(self, name: str) -> None:
        """Forget a scenario and the plain one, so that they are carried out again."""
        with self._lock:
            for key in [key for key in self._futures if key[0] in (name, self.base)]:
                if self._futures[key].done():
                    del self._futures[key]
        self.varied = ""

    def take(self, name: str, seen: ScenarioRun) -> None:
        """Take what was carried out elsewhere."""
        future: Future[ScenarioRun] = Future()
        future.set_result(seen)
        self._futures[name, 0] = future
        self._asked.append(seen)
        self._handed_on += 1

    def close(self) -> None:
        """End what is still carried out in the background."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            for pending in tuple(self._pending):
                pending.cancel()
            self._pool.shutdown()

    def agent_for(self, scenario: str) -> AgentTarget:  # noqa: ARG002 - proofs of the kit need it
        """Return who carries out a scenario: the same agent for each."""
        return self.agent

    # -- inside

    def _carry_out(
        self, key: tuple[str, int], future: Future[ScenarioRun], *, ahead: bool = False
    ) -> None:
        try:
            result = self._run(key[0], pending=self._pending if ahead else None)
        except Exception as error:  # noqa: BLE001 - a fault of ours is met once, not 86 times
            future.set_exception(error)
        except BaseException as error:
            # Somebody ended the check that waited: the next one tries again.
            with self._lock:
                self._futures.pop(key, None)
            future.set_exception(error)
            raise
        else:
            future.set_result(result)

    def _run(self, name: str, *, pending: list[PendingRun] | None) -> ScenarioRun:
        timeout, settings = self.profile.timeout, self.settings
        if name != self.base:
            outcome = self.run_of(self.base).run.outcome
            timeout = min(timeout, max(LEAST_TIMEOUT, PATIENCE * outcome.duration_ms / 1000))
            if outcome.killed_after_report:
                # That it does not end is known; forty times the usual patience shows no more.
                settings = replace(settings, linger=min(settings.linger, SHORT_LINGER))
        with self._lock:
            if not isinstance(self.folder, Path):
                self.folder = self.folder()
        runner = ScenarioRunner(
            agent=self.agent_for(name),
            profile=self.profile,
            folder=self.folder,
            settings=settings,
            pending=pending,
        )
        return runner.run(name, SCENARIOS[name], timeout=timeout)

    def _look_ahead(self) -> None:
        """Carry out in the background what will be looked at, beside the checks."""
        names, self.ahead = tuple(self.ahead), ()
        left = self.settings.seconds_left()
        if not names or (left is not None and left < 2 * LEAST_TIMEOUT):
            return
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="caesar conformance")
        for name in names:
            key = (name, 0)
            with self._lock:
                if key in self._futures:
                    continue
                future = self._futures[key] = Future()
            self._pool.submit(self._in_background, key, future)

    def _in_background(self, key: tuple[str, int], future: Future[ScenarioRun]) -> None:
        with self._lock:
            start = not future.done() and future.set_running_or_notify_cancel()
        if start:
            self._carry_out(key, future, ahead=True)
