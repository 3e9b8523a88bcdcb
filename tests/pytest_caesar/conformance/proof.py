"""An agent for each scenario, so that none of them has to decide what is asked of it."""

from __future__ import annotations

from pathlib import Path

from pytest_caesar.agents.target import AgentTarget
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.fake_agent.agent import FakeAgents, Step
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from tests.pytest_caesar.conformance.flaws import PROFILE, Flaw, right

SETTINGS = OrchestratorSettings(grace=0.5, linger=2.0)


class Proof(ScenarioCache):
    """A cache whose agent is another program for each scenario, so that it need not decide."""

    flaw: Flaw | None = None

    def agent_for(self, scenario: str) -> AgentTarget:
        steps: tuple[Step, ...] = right(scenario)
        dialect = None
        if self.flaw is not None and self.flaw.scenario == scenario:
            steps, dialect = self.flaw.steps, self.flaw.dialect
        assert isinstance(self.folder, Path)
        return FakeAgents(self.folder / "agents" / scenario)(*steps, dialect=dialect)


def proof(folder: Path, flaw: Flaw | None = None) -> Proof:
    cache = Proof(
        agent=FakeAgents(folder)(), profile=PROFILE, folder=folder, settings=SETTINGS, repeats=1
    )
    cache.flaw = flaw
    return cache
