"""``--caesar-html`` and ``--caesar-baseline``."""

from __future__ import annotations

import json
import re

import pytest

from pytest_caesar.cli import main
from tests.pytest_caesar.plugin.running import Runs, agent_script

SOURCE = """
def test_good(caesar_orchestrator):
    assert caesar_orchestrator.delegate("Say").succeeded

def test_bad(caesar_orchestrator):
    assert caesar_orchestrator.delegate("Say").status == "failed"

def test_without_an_agent():
    pass
"""


def test_a_page_is_written_that_is_the_same_when_made_from_json(
    pytester: pytest.Pytester, run_both: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    agent_script(pytester)
    pytester.makepyfile(test_it=SOURCE)
    (pytester.path / "before.json").write_text('{"format": 1, "runs": []}')
    result = run_both(
        *("--caesar-agent=./agent.sh", "--caesar-json=runs.json", "--caesar-html=out/page.html"),
        "--caesar-baseline=before.json",
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["every run: runs.json", "the page: out/page.html"])
    page = (pytester.path / "out" / "page.html").read_text("utf-8")
    assert "<h1>1 of 2 tests failed.</h1>" in page
    assert "1 test without a delegation, none failed" in page
    assert "Beside the baseline" in page
    assert main(["html", "runs.json", "-o", "again.html", "--baseline=before.json"]) == 0
    assert capsys.readouterr().out.endswith("again.html\n")
    assert (pytester.path / "again.html").read_text("utf-8") == page


def test_a_baseline_that_cannot_be_read_is_refused_before_any_test(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(test_it=SOURCE)
    (pytester.path / "other.json").write_text('{"format": 7, "runs": []}')
    for name, problem in (("missing.json", "No such file"), ("other.json", "its format is 7")):
        result = run("--caesar-html=page.html", f"--caesar-baseline={name}")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*--caesar-baseline: *{problem}*"])


def test_what_a_split_leaves_out_is_collected_and_what_an_option_leaves_out_is_told(
    pytester: pytest.Pytester, run_both: Runs
) -> None:
    agent_script(pytester)
    pytester.makepyfile(test_it=SOURCE)
    pytester.makeconftest(
        "def pytest_collection_modifyitems(config, items):\n"
        "    out = [item for item in items if item.name == 'test_bad']\n"
        "    items[:] = [item for item in items if item not in out]\n"
        "    config.hook.pytest_deselected(items=out)\n"
    )
    run_both(
        *("--caesar-agent=./agent.sh", "--caesar-json=runs.json", "-k", "not without"),
        *("-o", "caesar_shard=2/3"),
    )
    value = json.loads((pytester.path / "runs.json").read_text("utf-8"))
    session = value["session"]
    assert sorted(re.sub(".*::", "", test) for test in session["collected"]) == [
        "test_bad",
        "test_good",
        "test_without_an_agent",
    ]
    assert session["deselected"] == ["test_it.py::test_without_an_agent"]
    assert session["selection"] == ["-k not without"]
    assert session["shard"] == {"index": 2, "count": 3}
    assert [entry["test"] for entry in value["tests"]] == ["test_it.py::test_good"]
