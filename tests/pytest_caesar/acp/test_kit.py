"""The conformance kit and an agent that speaks ACP."""

from __future__ import annotations

import pytest

from pytest_caesar.conformance.judging import judge
from pytest_caesar.conformance.profile import parse_profile
from pytest_caesar.conformance.requirements import EVERY
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from tests.pytest_caesar.acp.test_acp import acp_agent

PROFILE = """
objective = 'STEPS [["touch", "new.txt"], ["report", ["new.txt"]]]'
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> ScenarioCache:
    folder = tmp_path_factory.mktemp("kit")
    return ScenarioCache(
        agent=acp_agent("sdk_agent.py"),
        profile=parse_profile(PROFILE, path=folder / "caesar-conformance.toml"),
        folder=folder / "scenarios",
    )


@pytest.mark.parametrize("name", ["REPORT-001", "CHANGES-001", "CHANGES-002", "PROCESS-001"])
def test_what_holds_for_any_agent_is_asked_of_it(cache: ScenarioCache, name: str) -> None:
    judgement = judge(EVERY[name], cache)
    assert judgement.outcome == "passed", judgement.message


@pytest.mark.parametrize("name", ["TASK-009", "PROCESS-008"])
def test_what_it_is_not_given_is_not_asked_of_it(cache: ScenarioCache, name: str) -> None:
    judgement = judge(EVERY[name], cache)
    assert judgement.outcome == "not exercised"
    assert judgement.message
