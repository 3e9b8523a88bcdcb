"""The pages in ``docs/`` name what there is: commands, options, codes, pages and links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import caesar_agent.cli
import pytest_caesar.cli
from caesar_agent.diagnostics import CODES
from pytest_caesar.reporting.remedies import REMEDIES
from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
CLIS = {"pytest-caesar": pytest_caesar.cli, "caesar-agent": caesar_agent.cli}
COMMANDS = [(name, command) for name, cli in CLIS.items() for command in cli.COMMANDS]


def section(page: str, heading: str) -> str:
    """Return what stands under a heading of any depth."""
    text = (DOCS / page).read_text("utf-8")
    found = re.search(
        rf"^#+ {re.escape(heading)}\b.*?\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, f"docs/{page} has no heading {heading!r}"
    return found[1]


def test_every_code_stands_in_the_reference_with_its_meaning_and_what_to_do() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (.+?) \| (.+) \|$",
        (DOCS / "diagnostics.md").read_text("utf-8"),
        re.MULTILINE,
    )
    told = {code: meaning for code, meaning, advice in rows if advice.strip()}
    remedies = {code: advice for code, _, advice in rows}
    assert remedies == REMEDIES, "reporting/remedies.py: what docs/diagnostics.md says to do"
    assert told == CODES, "docs/diagnostics.md: one row for each code of CODES, with its sentence"
    assert len(rows) == len(told)


@pytest.mark.parametrize(("name", "command"), COMMANDS)
def test_every_option_of_a_command_is_told_and_no_other(
    name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        CLIS[name].main([command, "--help"])
    there = set(re.findall(r"^  (--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))
    told = re.findall(
        r"^\| `(--[a-z-]+)", section("commands.md", f"{name} {command}"), re.MULTILINE
    )
    assert set(told) == there
    assert len(told) == len(there)


@pytest.mark.parametrize("name", CLIS)
def test_no_command_is_told_that_there_is_not(name: str) -> None:
    text = (DOCS / "commands.md").read_text("utf-8")
    assert re.findall(rf"^### {name} ([a-z-]+)", text, re.MULTILINE) == list(CLIS[name].COMMANDS)


def test_the_index_names_every_page_once() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    told = re.findall(r"^- \[.+?\]\((.+?\.md)\): .+$", index, re.MULTILINE)
    there = [
        path.relative_to(DOCS).as_posix()
        for path in PAGES
        if path.name == "index.md" or not (path.parent / "index.md").exists()
    ]
    assert sorted([*told, "README.md"]) == sorted(there)


def anchors(page: Path) -> set[str]:
    """Return the anchors that a page's headings have where it is shown."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "README.md"], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_coverage_is_told_once_where_it_is_tested() -> None:
    telling = [
        page.relative_to(ROOT).as_posix()
        for page in [*PAGES, ROOT / "README.md"]
        if re.search(r"COVERAGE_PROCESS|coverage run", page.read_text("utf-8"))
    ]
    assert telling == ["docs/howto/coverage.md"]
    for page in ("plugin.md", "supervision.md"):
        assert "](howto/coverage.md)" in (DOCS / page).read_text("utf-8")


STILTED = (
    r"what (came|comes|became|becomes) of (it|that|them)\b",
    r"\bstands? in (?!for\b)",
    r"\bmend(s|ed)?\b",
    r"\bgoes before\b",
    r"\bcounts first\b",
    r"\b(is|are) ended\b",
    r"\bthat there (is|are) not\b",
    r"\bunless told otherwise\b",
    r"\bwhom it (asked|asks)\b",
)
"""Sentences built as in another language; each has a plain word that says the same."""

WRITTEN = [
    page
    for page in (*PAGES, ROOT / "README.md")
    # These have the words of messages, which are tested where they are made.
    if page.parent.name != "conformance" and page.name not in ("diagnostics.md", "failures.md")
]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_page_falls_back_into_stilted_english(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = [match[0] for words in STILTED for match in re.finditer(words, text)]
    assert found == []
