"""Runs that agents asked for, as a test run shows them."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import Runs

LEAD = """
def main(agent):
    result = agent.delegate("helper", "Write b")
    return agent.success(result.summary)
"""

TEST = """
import pytest

@pytest.fixture
def lead(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "one\\n"})
    caesar_repo.write(".caesar/config.toml", "[policy]\\nmax_depth = 3\\n")
    fake = caesar_fake_agent
    caesar_orchestrator.team["helper"] = fake(fake.write("b.txt"), fake.report(%s))
    return caesar_orchestrator

def test_it(lead, caesar_snapshot):
    run = lead.delegate("Have b written")
    %s
"""


@pytest.fixture
def write(pytester: pytest.Pytester) -> None:
    # Not a name of another test: it runs in this process, which imports it once.
    pytester.makepyfile(nested_lead=LEAD)


def make_test(pytester: pytest.Pytester, statement: str, report: str = "") -> None:
    pytester.makepyfile(test_nested=TEST % (report, statement))


AGENT = ("--caesar-agent=nested_lead:main", "--caesar-subprocess")


def test_a_failing_test_shows_them(pytester: pytest.Pytester, run: Runs, write: None) -> None:
    make_test(pytester, "assert not run.succeeded")
    result = run(*AGENT)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "handed on to other agents:",
            "  t_0002 helper: success (source: file), succeeded, exit code 0, * ms",
            "1 run: 1 success (1 file)",
            "handed on by agents, 1 run: 1 success (1 file)",
        ]
    )


def test_a_snapshot_shows_them(pytester: pytest.Pytester, run: Runs, write: None) -> None:
    make_test(pytester, "assert run == caesar_snapshot")
    run(*AGENT, "--snapshot-update").assert_outcomes(passed=1)
    [page] = (pytester.path / "__caesar__").rglob("*.run.md")
    assert (
        "## Handed on to other agents\n\n"
        "- helper: Write b (write): success from file, succeeded, exit code 0, changed b.txt\n"
    ) in page.read_text()
    run(*AGENT).assert_outcomes(passed=1)


def test_json_and_kept_folders_hold_them(pytester: pytest.Pytester, run: Runs, write: None) -> None:
    make_test(pytester, "assert run.succeeded")
    result = run(*AGENT, "--caesar-json=runs.json", "--caesar-keep=kept")
    result.assert_outcomes(passed=1)
    [record] = json.loads((pytester.path / "runs.json").read_text())["runs"]
    [child] = record["children"]
    assert (child["task_id"], child["agent"]) == ("t_0002", "helper")
    assert record["below"] == [{"status": "success", "source": "file", "process": "succeeded"}]
    kept = sorted(path.parent.name for path in (pytester.path / "kept").rglob("task.json"))
    assert kept == ["t_0001", "t_0002"]


def test_junit_names_them(pytester: pytest.Pytester, run: Runs, write: None) -> None:
    make_test(pytester, "assert run.succeeded")
    run(*AGENT, "--junitxml=junit.xml").assert_outcomes(passed=1)
    found = re.findall(
        r'value="(t_0001 \w+|t_0002 helper) ', (pytester.path / "junit.xml").read_text()
    )
    assert found == ["t_0001 nested_lead", "t_0002 helper"]


def test_an_agent_that_hands_on_is_not_recorded(
    pytester: pytest.Pytester, run: Runs, write: None
) -> None:
    make_test(pytester, "assert run.succeeded")
    result = run(*AGENT, "--caesar-record=all")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the agent asked for other agents, and nobody *"])


def test_a_finding_about_them_counts(pytester: pytest.Pytester, run: Runs, write: None) -> None:
    make_test(pytester, "assert run.succeeded", report="changes=[]")
    run(*AGENT).assert_outcomes(passed=1)
    result = run(*AGENT, "-o", "caesar_strict=true")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["undeclared-change in t_0002: *"])


def test_the_example_of_the_docs_works(pytester: pytest.Pytester, run: Runs) -> None:
    page = (ROOT / "docs" / "agents.md").read_text("utf-8")
    [example] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    pytester.makepyfile(
        asking_for_a_review="""
        def main(agent):
            (agent.workspace / "b.txt").write_text("two")
            agent.file_changed("b.txt", "created")
            assert agent.delegate("reviewer", "Look at b.txt", mode="read-only").ok
            return agent.success("Done.")
        """,
        test_example=example,
    )
    run("--caesar-agent=asking_for_a_review:main").assert_outcomes(passed=1)


def test_a_clock_that_stands_still_does_not_stop_them(
    pytester: pytest.Pytester, run: Runs, write: None
) -> None:
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(autouse=True)\n"
        "def clock(caesar_clock): caesar_clock.set('2026-08-09T10:00:00Z')\n"
    )
    pytester.makepyfile(nested_lead_inside=LEAD)
    make_test(
        pytester,
        "assert [one.task.created_at[:16] for one in run.tree] == ['2026-08-09T10:00'] * 2",
    )
    run("--caesar-agent=nested_lead_inside:main").assert_outcomes(passed=1)
