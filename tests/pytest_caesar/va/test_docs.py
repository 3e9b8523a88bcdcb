"""``docs/va.md`` does what it says."""

from __future__ import annotations

import re
import sys

import pytest

from caesar_agent.va import TRANSITIONS
from tests.conftest import ROOT
from tests.pytest_caesar.plugin.conftest import run  # noqa: F401 - a fixture
from tests.pytest_caesar.plugin.running import Runs

PAGE = (ROOT / "docs" / "va.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_tests_of_the_page_pass_with_the_agent_of_the_example(
    pytester: pytest.Pytester,
    run: Runs,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tests = [block for block in BLOCKS if "def test_" in block]
    assert len(tests) == 3
    for number, block in enumerate(tests):
        (pytester.path / f"test_page_{number}.py").write_text(block)
    example = ROOT / "examples" / "va"
    (pytester.path / "releases.py").write_text((example / "agent.py").read_text("utf-8"))
    (pytester.path / "pipeline.py").write_text((example / "pipeline.py").read_text("utf-8"))
    for name in ("releases", "pipeline"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    run("--caesar-agent=releases:main").assert_outcomes(passed=3)


@pytest.mark.parametrize("block", [block for block in BLOCKS if "def test_" not in block])
def test_the_other_examples_run(block: str) -> None:
    exec(compile(block, "docs/va.md", "exec"), {})


def test_the_table_of_transitions_is_the_one_that_holds() -> None:
    section = PAGE.partition("## Lifecycle\n")[2].partition("\n## ")[0]
    told = {}
    for states, following in re.findall(r"^\| (`.*?) \| (.*?) \|$", section, re.MULTILINE):
        for state in re.findall(r"`(\w+)`", states):
            told[state] = tuple(re.findall(r"`(\w+)`", following))

    assert told == TRANSITIONS
