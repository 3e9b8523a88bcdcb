"""What docs/agents.md shows is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_caesar.agents import checks
from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.config import Config, PolicyConfig, merge_config

DOCS = Path(__file__).parents[3] / "docs" / "agents.md"


@pytest.fixture(scope="module")
def text() -> str:
    return DOCS.read_text(encoding="utf-8")


def test_the_configuration_that_is_shown_can_be_loaded_and_shows_the_defaults(text: str) -> None:
    [block] = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    config = merge_config(Config(), block, file="docs")
    assert config.policy == PolicyConfig(depth_is_given=True)
    assert config.agents[0].id == "my-agent"
    assert config.roles[-1].timeout_ms == 20 * 60_000


def test_every_check_is_listed_and_no_other(text: str) -> None:
    sources = "".join(
        file.read_text(encoding="utf-8") for file in Path(checks.__file__).parent.glob("*.py")
    )
    codes = set(re.findall(r'code="([a-z0-9-]+)"', sources))
    codes |= set(re.findall(r'_complain\(\s*source,\s*"([a-z0-9-]+)"', sources))
    codes |= {
        f"{field}-{what}" for field in ("name", "description") for what in ("missing", "blank")
    }
    codes |= {"model-ignored", "blocking-ignored"}
    codes -= {"foreign-tools"}  # no host profile names any yet
    table = text[text.index("| about | errors | notes |") : text.index("What is not checked")]
    assert set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+|template|unreachable)`", table)) == codes


def test_every_known_cli_is_listed_with_the_version_it_was_checked_with(text: str) -> None:
    rows = dict(re.findall(r"\| `([a-z]+)` \| [^|]+ \| ([^|]+) \|", text))
    assert {name: version.strip(" *") for name, version in rows.items()} == {
        cli.id: cli.checked or "not checked" for cli in CATALOGUE.values()
    }
