"""What checks work with: what one agent did in each scenario, carried out once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_caesar.agents.target import AgentTarget
from pytest_caesar.conformance.profile import Profile
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.conformance.scenario_runner import ScenarioRunner
from pytest_caesar.conformance.scenarios import SCENARIOS
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings

LEAST_TIMEOUT = 10.0
"""Seconds that every scenario after the plain one has at least."""

PATIENCE = 10
"""How much longer than the plain task a scenario may take before it counts as hanging."""


SHORT_LINGER = 0.5
"""Seconds that an agent which did not end after its first report may go on after the others."""


@dataclass(kw_only=True)
class ScenarioCache:
    """One agent, and what it did.

    Attributes:
        agent: who is judged.
        profile: what it is for.
        folder: where scenarios are carried out; a function makes it at the first of them.
        settings: how the orchestrator treats every delegation.
    """

    agent: AgentTarget
    profile: Profile
    folder: Path | Callable[[], Path]
    settings: OrchestratorSettings = field(default_factory=OrchestratorSettings)
    _runs: dict[str, ScenarioRun | Exception] = field(default_factory=dict)
    _handed_on: set[str] = field(default_factory=set)

    @property
    def runs(self) -> dict[str, ScenarioRun]:
        """What has been carried out so far, by scenario."""
        return {name: one for name, one in self._runs.items() if isinstance(one, ScenarioRun)}

    def new_runs(self) -> list[ScenarioRun]:
        """Return what was carried out since this was last asked."""
        new = [one for name, one in self.runs.items() if name not in self._handed_on]
        self._handed_on.update(one.scenario for one in new)
        return new

    @property
    def plain(self) -> ScenarioRun:
        """The plain task, which everything else is compared with."""
        return self.run_of("plain")

    def run_of(self, name: str) -> ScenarioRun:
        """Carry out a scenario, or return what came of it before.

        Raises:
            Exception: the agent could not be started, or the repository not be made; the same
                one again at every call.
        """
        if name not in self._runs:
            timeout = self.profile.timeout
            settings = self.settings
            if name != "plain":
                outcome = self.plain.run.outcome
                timeout = min(timeout, max(LEAST_TIMEOUT, PATIENCE * outcome.duration_ms / 1000))
                if outcome.killed_after_report:
                    # That it does not end is known; forty times the usual patience shows no more.
                    settings = replace(settings, linger=min(settings.linger, SHORT_LINGER))
            if not isinstance(self.folder, Path):
                self.folder = self.folder()
            runner = ScenarioRunner(
                agent=self.agent_for(name),
                profile=self.profile,
                folder=self.folder,
                settings=settings,
            )
            try:
                self._runs[name] = runner.run(name, SCENARIOS[name], timeout=timeout)
            except Exception as error:  # noqa: BLE001 - a fault of ours is met once, not 86 times
                self._runs[name] = error
        found = self._runs[name]
        if isinstance(found, Exception):
            raise found
        return found

    def take(self, name: str, seen: ScenarioRun) -> None:
        """Take what was carried out elsewhere."""
        self._runs[name] = seen

    def agent_for(self, scenario: str) -> AgentTarget:  # noqa: ARG002 - proofs of the kit need it
        """Return who carries out a scenario: the same agent for each."""
        return self.agent
