"""An agent for each scenario, so that none of them has to decide what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from pytest_caesar.agents.target import AgentTarget
from pytest_caesar.conformance.profile import Profile
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.fake_agent.agent import FakeAgents
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from tests.pytest_caesar.conformance.flaws import PROFILE, Flaw, Steps, right

SETTINGS = OrchestratorSettings(grace=0.5, linger=2.0)


@dataclass(kw_only=True)
class Proof(ScenarioCache):
    """A cache whose agent does right, but for what it does in some scenarios.

    Attributes:
        wrong: what it does in these.
        dialect: of what it prints in these.
        rest: where the others are carried out, once for all that look at them; None for here.
    """

    wrong: Mapping[str, Steps] = field(default_factory=dict)
    dialect: str | None = None
    rest: ScenarioCache | None = None

    def agent_for(self, scenario: str) -> AgentTarget:
        assert isinstance(self.folder, Path)
        agents = FakeAgents(self.folder / "agents" / scenario)
        if scenario in self.wrong:
            return agents(*self.wrong[scenario], dialect=self.dialect)
        return agents(*right(scenario))

    def _carry_out(
        self, key: tuple[str, int], future: Future[ScenarioRun], *, ahead: bool = False
    ) -> None:
        if self.rest is None or key[0] in self.wrong:
            super()._carry_out(key, future, ahead=ahead)
        else:
            try:
                future.set_result(self.rest.repetition(*key))
            except BaseException as error:
                future.set_exception(error)
                raise


def proof(
    folder: Path,
    wrong: Mapping[str, Steps] | None = None,
    *,
    profile: Profile = PROFILE,
    rest: ScenarioCache | None = None,
) -> Proof:
    return Proof(
        agent=FakeAgents(folder)(),
        profile=profile,
        folder=folder,
        settings=SETTINGS,
        repeats=1,
        wrong=wrong or {},
        rest=rest,
    )


def flawed(folder: Path, flaw: Flaw, *, rest: ScenarioCache | None = None) -> Proof:
    cache = proof(folder, {flaw.scenario: flaw.steps}, rest=rest)
    cache.dialect = flaw.dialect
    return cache
