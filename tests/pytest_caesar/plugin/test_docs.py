"""The reference in ``docs/plugin.md`` holds what there is, and nothing else."""

from __future__ import annotations

import re

import pytest

from caesar_agent.diagnostics import CODES
from pytest_caesar import plugin
from pytest_caesar.runs.failing_codes import ALWAYS
from pytest_caesar.session.verdicts import STRICT
from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import Runs, agent_script

DOCS = ROOT / "docs"
PAGE = (DOCS / "plugin.md").read_text("utf-8")


def examples() -> list[tuple[str, str]]:
    """Return every example that is a test, with the name of its page."""
    block = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
    found = [
        (name, example)
        for name in ("plugin.md", "snapshots.md")
        for example in block.findall((DOCS / name).read_text("utf-8"))
    ]
    return [(name, example) for name, example in found if "def test_" in example]


class _Options:
    def __init__(self) -> None:
        self.options: list[str] = []
        self.keys: list[str] = []

    def getgroup(self, *_: str) -> _Options:
        return self

    def addoption(self, *names: str, **_: object) -> None:
        self.options += names

    def addini(self, name: str, *_: object, **__: object) -> None:
        self.keys.append(name)


def table(heading: str) -> list[str]:
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(-{0,2}caesar[a-z_-]+(?:=va)?)", section, re.MULTILINE)


def test_every_option_and_ini_key_is_told_and_no_other() -> None:
    found = _Options()
    plugin.pytest_addoption(found, pytest.PytestPluginManager())  # type: ignore[arg-type]
    assert sorted(table("Options")) == sorted(found.options)
    assert sorted(table("Ini keys")) == sorted(found.keys)


def test_every_fixture_is_told_and_no_other(pytester: pytest.Pytester) -> None:
    there = {name for name in vars(plugin) if name.startswith("caesar_")}
    assert set(table("Fixtures")) == there


def test_the_findings_that_count_are_codes_that_exist() -> None:
    marker = PAGE.partition("## The marker\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"`([a-z-]+)`", marker)) >= ALWAYS
    assert set(CODES) >= STRICT


@pytest.mark.parametrize(("page", "example"), examples())
def test_every_example_works(pytester: pytest.Pytester, run: Runs, page: str, example: str) -> None:
    agent_script(pytester)
    pytester.makepyfile(test_example=f"import pytest\n\n{example}")
    run("--caesar-agent=./agent.sh", "--snapshot-update").assert_outcomes(passed=1)
    run("--caesar-agent=./agent.sh").assert_outcomes(passed=1)
