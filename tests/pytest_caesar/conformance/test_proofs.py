"""Every check lets a right agent pass, and catches the one that is wrong in its one thing."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_caesar.conformance.checks.questions import NoServerError
from pytest_caesar.conformance.judging import CHECKS, judge
from pytest_caesar.conformance.requirements import EVERY, REQUIREMENTS, TITLES, of_contract
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.fake_agent.agent import FakeAgents, Step
from tests.pytest_caesar.conformance.flaws import FLAWS, PROFILE, RIGHT, TESTED, Flaw, ran
from tests.pytest_caesar.conformance.proof import SETTINGS, Proof, flawed, proof

ROOT_ONLY = {"SURROUNDINGS-004": "root may write everywhere"} if os.geteuid() == 0 else {}


def test_there_is_a_proof_for_every_check() -> None:
    assert FLAWS.keys() == CHECKS.keys()


UNSEEN = {"REPORT-016": "not exercised"}  # nobody watches the commands of these agents


@pytest.mark.parametrize("contract", TITLES)
def test_a_right_agent_passes(contract: str, right_one: Proof, right_at_units: Proof) -> None:
    cache = right_at_units if contract == "va" else right_one

    judgements = {name: judge(one, cache) for name, one in of_contract(contract).items()}

    open_ones = dict.fromkeys(ROOT_ONLY, "not exercised") | UNSEEN
    wrong = {
        name: f"{one.outcome}: {one.message}"
        for name, one in judgements.items()
        if one.outcome != open_ones.get(name, "passed")
    }
    assert wrong == {}


def test_commands_that_were_seen_to_end_as_declared_pass(tmp_path: Path) -> None:
    flaw = Flaw(steps=(ran(0), *RIGHT[:-1], TESTED), dialect="codex")

    assert judge(EVERY["REPORT-016"], flawed(tmp_path, flaw)).outcome == "passed"


@pytest.mark.parametrize("name", FLAWS)
def test_a_wrong_one_is_caught_by_this_check_and_by_no_other(
    name: str, right_one: Proof, right_at_units: Proof, tmp_path: Path
) -> None:
    if name in ROOT_ONLY:
        pytest.skip(ROOT_ONLY[name])
    flaw = FLAWS[name]
    of_unit = EVERY[name].contract == "va"
    cache = flawed(tmp_path, flaw, rest=right_at_units if of_unit else right_one)
    cache.base = "unit" if of_unit else "plain"
    cache.repeats = int(name in ("PROCESS-012", "UNIT-003"))

    judgements = {
        other: judge(EVERY[other], cache)
        for other, check in CHECKS.items()
        if check.scenario == flaw.scenario and EVERY[other].contract == EVERY[name].contract
    }

    failed = {other: item.message for other, item in judgements.items() if item.outcome == "failed"}
    assert failed.keys() == {name}
    assert failed[name].strip()


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (FakeAgents.exit(1),),
        (FakeAgents.print_brief(),),
        (FakeAgents.print("caesar.report/v1 success\n"),),
        (FakeAgents.kill(),),
        (FakeAgents.event("finished", status="success", summary="Done."),),
    ],
    ids=["exits", "fails", "echoes", "boasts", "dies", "only tells"],
)
def test_an_agent_that_does_nothing_scores_nothing(tmp_path: Path, steps: tuple[Step, ...]) -> None:
    cache = ScenarioCache(
        agent=FakeAgents(tmp_path)(*steps), profile=PROFILE, folder=tmp_path, settings=SETTINGS
    )

    outcomes = {name: judge(one, cache).outcome for name, one in REQUIREMENTS.items()}

    assert "passed" not in outcomes.values()
    assert outcomes["REPORT-001"] == "failed"
    assert list(cache.runs) == ["plain"]


def test_without_the_server_of_the_channel_no_agent_is_to_blame(
    tmp_path: Path, right_one: Proof, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    cache = flawed(tmp_path, FLAWS["QUESTIONS-001"], rest=right_one)

    with pytest.raises(NoServerError, match=r"pip install 'pytest-caesar\[mcp\]'"):
        judge(EVERY["QUESTIONS-001"], cache)


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        ("TASK-009", "a known CLI is told its task in words, and reads no task file"),
        ("PROCESS-008", "it is told its task on stdin"),
    ],
)
def test_a_known_cli_is_not_asked_about_what_it_is_not_given(
    tmp_path: Path, right_one: Proof, requirement: str, reason: str
) -> None:
    cache = proof(tmp_path, rest=right_one)
    cache.agent = replace(FakeAgents(tmp_path)(), cli="codex")

    judgement = judge(EVERY[requirement], cache)

    assert (judgement.outcome, judgement.message) == ("not exercised", reason)


def test_what_fails_in_any_locale_is_told_once(tmp_path: Path, right_one: Proof) -> None:
    cache = flawed(tmp_path, FLAWS["TASK-005"], rest=right_one)

    judgement = judge(EVERY["SURROUNDINGS-003"], cache)

    assert judgement.outcome == "not exercised"
    assert "see TASK-005" in judgement.message
