"""Tests of a document with their agents, attempts and trials."""

from __future__ import annotations

import pytest

from pytest_caesar.reporting.results.cases import cases_of, without_parameters
from tests.pytest_caesar.reporting.documents import document, run_entry, told_test


@pytest.mark.parametrize(
    ("nodeid", "agent", "trial", "expected"),
    [
        ("t.py::test_a", "codex", None, "t.py::test_a"),
        ("t.py::test_a[codex]", "codex", None, "t.py::test_a"),
        ("t.py::test_a[empty-codex]", "codex", None, "t.py::test_a[empty]"),
        ("t.py::test_a[codex-trial03]", "codex", 3, "t.py::test_a"),
        ("t.py::test_a[empty-codex-trial03]", "codex", 3, "t.py::test_a[empty]"),
        ("t.py::test_a[trial03]", "", 3, "t.py::test_a"),
        ("t.py::test_a[codexity]", "codex", None, "t.py::test_a[codexity]"),
        ("t.py::test_a[x", "x", None, "t.py::test_a[x"),
    ],
)
def test_an_id_is_shown_without_its_agent_and_its_trial(
    nodeid: str, agent: str, trial: int | None, expected: str
) -> None:
    assert without_parameters(nodeid, agent, trial) == expected


def test_failures_come_first_and_a_test_with_two_agents_is_two_cases() -> None:
    one, two = "t.py::test_a[codex]", "t.py::test_a[gemini]"
    found = cases_of(
        document(
            [
                told_test(one),
                told_test(two, "failed", agent="gemini", cause="assert 1 == 2"),
                told_test("t.py::test_b"),
            ],
            [run_entry(one), run_entry(two, agent="gemini")],
            agents=["codex", "gemini"],
        )
    )
    assert [(case.test, case.agent, case.outcome) for case in found] == [
        ("t.py::test_a", "gemini", "failed"),
        ("t.py::test_a", "codex", "passed"),
        ("t.py::test_b", "codex", "passed"),
    ]
    assert found[0].cause == "assert 1 == 2"
    assert [len(case.runs) for case in found] == [1, 1, 0]


def test_the_last_execution_of_a_repeated_test_counts() -> None:
    test = "t.py::test_a"
    found = cases_of(
        document(
            [told_test(test, "failed"), told_test(test, "passed", execution=2)],
            [run_entry(test), run_entry(test, execution=2)],
        )
    )
    assert [(case.outcome, len(case.attempts), len(case.runs)) for case in found] == [
        ("passed", 2, 2)
    ]


def test_trials_are_one_case_with_the_verdict_of_all() -> None:
    tests = [
        told_test(f"t.py::test_a[trial0{number}]", outcome, trial=number)
        for number, outcome in ((2, "failed"), (1, "passed"))
    ]
    [case] = cases_of(
        document(
            [*tests, told_test("t.py::test_a", "failed")],
            [],
            trials=[{"id": "t.py::test_a", "test": "t.py::test_a", "agent": "codex",
                     "verdict": "met", "fails": False}],
        )
    )  # fmt: skip
    assert (case.test, case.outcome, case.broken) == ("t.py::test_a", "met", False)
    assert [attempt.trial for attempt in case.attempts] == [1, 2]


def test_a_document_of_runs_alone_has_cases_too() -> None:
    value = {"runs": [{**run_entry("t.py::test_a"), "test_outcome": "passed"}]}
    [case] = cases_of(value)
    assert (case.test, case.agent, case.outcome) == ("t.py::test_a", "codex", "passed")


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"runs": 3, "tests": "x", "agents": {"a": 1}, "trials": [1, None]},
        {"runs": [{}, {"test": 4, "execution": True}], "tests": [{}, 7], "agents": [None]},
    ],
)
def test_what_is_not_as_it_should_be_raises_nothing(value: dict[str, object]) -> None:
    assert isinstance(cases_of(value), tuple)
