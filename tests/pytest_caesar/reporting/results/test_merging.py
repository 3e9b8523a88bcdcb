"""Shards as one session, and what speaks against calling it whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from pytest_caesar.reporting.results.merging import merge
from tests.pytest_caesar.reporting.documents import document, run_entry, told_test

ALL = ["t.py::test_a", "t.py::test_b", "t.py::test_c"]


def shard(*tests: str, index: int = 0, count: int = 2, **session: Any) -> dict[str, Any]:
    """Return the document of one shard that collected all and ran some."""
    value = document([told_test(test) for test in tests], [run_entry(test) for test in tests])
    declared = {"index": index, "count": count} if index else None
    value["session"] = {**value["session"], "collected": ALL, "shard": declared, **session}
    return value


def as_they_are(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Judge nothing."""
    return [dict(one) for one in found]


def problems(*shards: dict[str, Any], expect: int | None = None) -> list[str]:
    """Merge shards that are called 1.json, 2.json, …; return what is wrong."""
    named = [(f"{number}.json", one) for number, one in enumerate(shards, 1)]
    merged = merge(named, judge=as_they_are, expect=expect)
    assert list(merged.problems) == merged.document["incomplete"]
    assert bool(merged.problems) == bool(merged.document["exit_status"])
    return list(merged.problems)


def test_shards_that_are_whole_are_one_session() -> None:
    first, second = shard(*ALL[:2], index=1), shard(ALL[2], index=2)
    merged = merge([("1.json", first), ("2.json", second)], judge=as_they_are, expect=2)
    assert merged.problems == ()
    assert [entry["test"] for entry in merged.document["tests"]] == ALL
    assert [run["test"] for run in merged.document["runs"]] == ALL
    assert merged.document["exit_status"] == 0
    assert merged.document["session"]["commit"] == "a" * 40


@pytest.mark.parametrize(
    ("shards", "expect", "expected"),
    [
        pytest.param(
            [shard(*ALL[:2])],
            2,
            [
                "2 shards were expected, and 1 are here: 1.json",
                "t.py::test_c was collected, and no shard ran it",
            ],
            id="too few",
        ),
        pytest.param(
            [shard(*ALL, index=1, count=3), shard(index=3, count=3)],
            None,
            ["shard 2 of 3 is missing"],
            id="a number is missing",
        ),
        pytest.param(
            [shard(*ALL, index=1, count=1), shard(index=1, count=1)],
            None,
            ["shard 1 of 1 is here 2 times: 1.json, 2.json"],
            id="a number is there twice",
        ),
        pytest.param(
            [shard(*ALL, index=1, count=1), shard(index=1, count=2)],
            None,
            ["the shards are not of one split: 1.json is 1 of 1, 2.json is 1 of 2"],
            id="of two splits",
        ),
        pytest.param(
            [shard(*ALL), shard(commit="b" * 40)],
            None,
            ["the shards are of 2 commits (aaaaaaaaaaaa: 1.json; bbbbbbbbbbbb: 2.json)"],
            id="another commit",
        ),
        pytest.param(
            [shard(*ALL), shard(ALL[0])],
            None,
            ["t.py::test_a ran in 1.json, 2.json"],
            id="a test twice",
        ),
        pytest.param(
            [{**shard(*ALL), "exit_status": 2}],
            None,
            ["1.json ended with exit code 2 (interrupted)"],
            id="interrupted",
        ),
        pytest.param(
            [shard(*ALL[:2], selection=["-k a"], deselected=[ALL[2]]),
             shard(selection=["-k b"], deselected=ALL)],
            None,
            ["t.py::test_c was collected, and no shard ran it"],
            id="a split by -k that leaves a test out",
        ),
        pytest.param(
            [shard(*ALL[:2], selection=["-m fast"], deselected=[ALL[2]]),
             shard(selection=["-m fast"], deselected=[ALL[2]])],
            None,
            [],
            id="the same choice in each shard",
        ),
    ],
)  # fmt: skip
def test_what_is_not_whole_is_named(
    shards: list[dict[str, Any]], expect: int | None, expected: list[str]
) -> None:
    assert problems(*shards, expect=expect) == expected


def test_many_missing_tests_are_counted() -> None:
    many = [f"t.py::test_{number}" for number in range(500)]
    found = problems(shard(collected=many))
    assert len(found) == 11
    assert found[-1] == "490 more tests were collected, and no shard ran them"


def test_trials_are_judged_together_and_a_contradiction_is_named() -> None:
    first = shard(*ALL)
    first["trials"] = [{"id": "x", "verdict": "pending"}]

    def missed(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**one, "verdict": "missed", "fails": True} for one in found]

    def refuse(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        raise ValueError("x: trial 3 ran in two shards")

    judged = merge([("1.json", first)], judge=missed)
    assert (judged.problems, judged.document["exit_status"]) == ((), 1)
    refused = merge([("1.json", first)], judge=refuse)
    assert refused.problems == (
        "the trials cannot be judged together: x: trial 3 ran in two shards",
    )
    assert problems(first) == ["x: some of its trials never ran"]


def test_a_failure_of_one_shard_is_one_of_the_whole() -> None:
    merged = merge(
        [("1.json", {**shard(*ALL), "exit_status": 1}), ("2.json", {**shard(), "exit_status": 5})],
        judge=as_they_are,
    )
    assert (merged.problems, merged.document["exit_status"]) == ((), 1)
