"""The summary of a step and annotations of GitHub Actions; JUnit of merged shards."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pytest_caesar.reporting.ci.annotations import annotation_lines
from pytest_caesar.reporting.ci.junit import junit_xml
from pytest_caesar.reporting.ci.step_summary import step_summary
from pytest_caesar.reporting.results.cases import cases_of
from tests.pytest_caesar.plugin.running import agent_script
from tests.pytest_caesar.reporting.documents import document, run_entry, told_test

TEST = "t/test_a.py::test_it"


def test_a_failure_is_an_annotation_at_its_line_with_its_cause() -> None:
    value = document(
        [told_test(TEST, "failed", cause="100 % of a\nb::error::c, d:e"), told_test("t.py::ok")], []
    )
    assert annotation_lines(value, folder="sub") == [
        "::error file=sub/t/test_a.py,line=12,title=test_it (codex)::100 %25 of a b::error::c, d:e"
    ]


def test_ten_annotations_of_a_kind_are_made_and_the_rest_is_counted() -> None:
    ten = [told_test(f"t.py::test_{number}", "failed") for number in range(10)]
    assert len(annotation_lines(document(ten, []))) == 10
    many = [told_test(f"t.py::test_{number}", "failed") for number in range(40)]
    found = annotation_lines(document(many, []))
    assert len(found) == 10
    assert found[-1] == "::error title=pytest-caesar::31 more tests: see the summary of the step"


def test_a_missed_verdict_is_one_annotation_and_its_trials_are_none() -> None:
    trials = [told_test(f"{TEST}[trial{n}]", "failed", trial=n, cause="no") for n in (1, 2, 3)]
    verdict = {"id": TEST, "test": TEST, "agent": "codex", "passed": 0, "counted": 3}
    for state, fails, count in (("missed", True, 1), ("met", False, 0)):
        value = document(trials, [], trials=[{**verdict, "verdict": state, "fails": fails}])
        assert len(annotation_lines(value)) == count


def test_the_summary_shows_verdict_table_and_failures_with_their_cause() -> None:
    text = step_summary(
        document(
            [
                told_test(TEST),
                told_test("t.py::bad", "failed", cause="assert 1 == 2", details="E  1 == 2\n```\n<b>"),
            ],
            [run_entry(TEST, usage={"input_tokens": 41000, "output_tokens": 200}),
             run_entry("t.py::bad", "partial")],
        )
    )  # fmt: skip
    assert text.startswith("### ❌ 1 of 2 tests failed.\n")
    assert "| ✓ passed | `t/test_a.py::test_it` | codex | success · file | 1 | 41.2k |" in text
    assert "**`t.py::bad`** codex: assert 1 == 2" in text
    assert "```text\nE  1 == 2\n'''\n<b>\n```\n" in text


@pytest.mark.parametrize("room", [0, 10, 900, 4_000, 20_000])
def test_a_summary_keeps_within_its_room_and_closes_what_it_opens(room: int) -> None:
    tests = [
        told_test(f"t.py::test_{n}", "failed", cause="é" * 300, details="x\n" * 50)
        for n in range(60)
    ]
    text = step_summary(document(tests, []), room=room)
    assert len(text.encode()) <= room
    assert text.count("\n```") % 2 == 0
    assert text.count("<details>") == text.count("</details>")
    end = (
        "and 40 more failures." if room == 20_000 else "The rest is left out: the summary is full."
    )
    assert not text or text.endswith(f"{end}\n")
    assert text or room < 900


def test_a_session_in_github_actions_tells_it_and_can_be_told_not_to(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    agent_script(pytester)
    pytester.makepyfile(
        test_it="def test_it(caesar_orchestrator):\n"
        "    assert not caesar_orchestrator.delegate('Say').succeeded\n"
    )
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(pytester.path.parent))
    plugins = ("-p", "no:cacheprovider", "-p", "no:randomly")
    arguments = ("--caesar-agent=./agent.sh", *plugins)
    result = pytester.runpytest_inprocess(*arguments)
    name = pytester.path.name
    [told] = [line for line in result.outlines if line.startswith("::")]
    assert told.startswith(f"::error file={name}/test_it.py,line=1,title=test_it (agent)::")
    text = summary.read_text()
    assert text.startswith("before\n### ❌ 1 of 1 test failed.\n")
    quiet = pytester.runpytest_inprocess(*arguments, "-o", "caesar_ci=off")
    assert not [line for line in quiet.outlines if line.startswith("::")]
    assert summary.read_text() == text


def test_merged_shards_are_junit_with_causes_and_what_is_missing() -> None:
    value = document(
        [told_test(TEST), told_test("t.py::bad", "failed", cause="why\x1b", details="E  x")],
        [run_entry(TEST)],
    )
    root = ET.fromstring(junit_xml(cases_of(value), ["shard 2 of 4 is missing"]))
    [suite] = root
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    failed, passed, missing = suite
    assert failed[0].attrib == {"message": "why\\x1b"}
    assert (passed.get("classname"), passed.get("name")) == ("t.test_a", "test_it")
    assert passed[0][0].get("value") == "t_0001 codex source=file status=success process=succeeded"
    assert missing[0].get("message") == "shard 2 of 4 is missing"
