"""The pages of the conformance kit: every requirement told, and the agents in them pass."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.conformance.judgement import OUTCOMES
from pytest_caesar.conformance.judging import judge
from pytest_caesar.conformance.profile import CLAIMS, TABLES, parse_profile
from pytest_caesar.conformance.requirements import AREAS, EVERY, LEVELS, REQUIREMENTS, VA_AREA
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings

FOLDER = Path(__file__).parents[3] / "docs" / "conformance"
INDEX = (FOLDER / "index.md").read_text(encoding="utf-8")

LEFT_OPEN = {
    "TASK": set[str](),
    "REPORT": {"REPORT-015", "REPORT-016"},  # nothing of theirs is refused, or watched
    "CHANGES": set[str](),
    "EVENTS": {"EVENTS-015"},  # who asks is on the page about questions
    "QUESTIONS": set[str](),
    "PROCESS": set[str](),
    "SURROUNDINGS": {"SURROUNDINGS-004"},  # root may write everywhere
    "UNIT": set[str](),
    "DEPTH": {"DEPTH-002"},  # the smallest agent delegates nothing
}
"""What the agents on a page need not be seen to do."""


PAGES = (*AREAS, VA_AREA)


def page(area: str) -> str:
    return (FOLDER / f"{area.lower()}.md").read_text(encoding="utf-8")


def block(area: str, language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", page(area), re.DOTALL)
    assert len(found) == 1, f"{area}: {len(found)} blocks of {language}"
    return str(found[0])


def requirement_rows(area: str) -> list[str]:
    rows = []
    for one in EVERY.values():
        if one.area == area:
            kind = f"{one.kind} ({one.capability})" if one.capability else one.kind
            rows.append(f"| {one.id} | {one.level} | {kind} | {one.text} | {one.clause} |")
    return rows


@pytest.mark.parametrize("area", PAGES)
def test_a_page_tells_the_requirements_of_its_area_and_no_other(area: str) -> None:
    told = [line for line in page(area).splitlines() if re.match(r"\| [A-Z]+-\d{3} ", line)]

    assert told == requirement_rows(area)


@pytest.mark.parametrize("language", ["bash", "python"])
@pytest.mark.parametrize("area", PAGES)
def test_the_agents_on_a_page_do_what_it_asks_for(area: str, language: str, tmp_path: Path) -> None:
    if language == "bash" and shutil.which("jq") is None:
        pytest.skip("jq is not installed: apt install jq, or brew install jq")
    program = tmp_path / ("agent.sh" if language == "bash" else "agent.py")
    program.write_text(block(area, language), encoding="utf-8")
    program.chmod(0o755)
    cache = ScenarioCache(
        agent=ProcessAgent(id="agent", origin="path", argv=(str(program), "{{prompt}}")),
        profile=parse_profile(block(area, "toml"), path=tmp_path / "caesar-conformance.toml"),
        folder=tmp_path / "scenarios",
        settings=OrchestratorSettings(grace=3.0),
        base="unit" if area == VA_AREA else "plain",
    )

    judgements = {name: judge(one, cache) for name, one in EVERY.items() if one.area == area}

    missed = {
        name: f"{one.outcome}: {one.message}"
        for name, one in judgements.items()
        if one.outcome != "passed" and not (name in LEFT_OPEN[area] and one.outcome != "failed")
    }
    assert missed == {}


def test_the_index_names_every_page() -> None:
    links = set(re.findall(r"\]\((\w+\.md)\)", INDEX))

    assert links == {path.name for path in FOLDER.glob("*.md")} - {"index.md"}
    assert links == {f"{area.lower()}.md" for area in PAGES}


def test_the_index_tells_every_level_outcome_and_capability() -> None:
    cells = set(re.findall(r"^\| `([a-z ]+)` \|", INDEX, re.MULTILINE))

    assert {*LEVELS, *OUTCOMES, *CLAIMS} <= cells
    for table in TABLES:
        assert f"| `[{table}]` |" in INDEX
    assert f"{len(REQUIREMENTS)} requirements" in INDEX
