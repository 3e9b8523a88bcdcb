"""Two sessions side by side."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_caesar.reporting.ci.comparison_text import comparison_lines, comparison_markdown
from pytest_caesar.reporting.results.comparison import Comparison, compare
from pytest_caesar.trials.comparison import chances
from tests.pytest_caesar.reporting.documents import document, run_entry, told_test

TEST = "t.py::test_a"


def side(outcome: str = "passed", **run: Any) -> dict[str, Any]:
    """Return a session of one test with one run."""
    return document([told_test(TEST, outcome)], [run_entry(TEST, **run)])


def rated(passed: int, counted: int) -> dict[str, Any]:
    """Return a session of one test with trials and without a gate."""
    tests = [told_test(f"{TEST}[trial1]", trial=1)]
    verdict = {"id": TEST, "test": TEST, "agent": "codex", "verdict": "rated", "fails": False}
    return document(tests, [], trials=[{**verdict, "passed": passed, "counted": counted}])


def compared(before: dict[str, Any], after: dict[str, Any]) -> Comparison:
    """Compare with the statistics of trials."""
    return compare(before, after, significance=chances)


@pytest.mark.parametrize(
    ("before", "after", "word", "broken"),
    [
        (side(), side("failed"), "broken", True),
        (side("failed"), side(), "fixed", False),
        (document([], []), side(), "new", False),
        (side(), document([], []), "gone", False),
        (side(), side(status="partial"), "changed", False),
        (side(), side(source="extracted"), "changed", False),
        (side(), side(changes=[]), "changed", False),
        (side(usage={"input_tokens": 1000, "output_tokens": 10}),
         side(usage={"input_tokens": 1900, "output_tokens": 10}), "changed", False),
        (rated(19, 20), rated(6, 20), "worse", True),
        (rated(6, 20), rated(19, 20), "better", False),
        (rated(10, 10), rated(7, 10), "changed", False),
    ],
)  # fmt: skip
def test_each_kind_of_difference_has_its_word(
    before: dict[str, Any], after: dict[str, Any], word: str, *, broken: bool
) -> None:
    found = compared(before, after)
    assert [one.word for one in found.differences] == [word]
    assert found.broken == broken


def test_what_is_alike_is_no_difference() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 10}
    nearly = {"input_tokens": 1100, "output_tokens": 10}
    assert compared(side(usage=usage), side(usage=nearly)) == Comparison(differences=(), alike=1)
    assert compared(rated(3, 4), rated(3, 4)).alike == 1
    assert compared(side(), side()).sentence() == "Nothing changed: 1 as before."


def test_a_rate_that_may_be_chance_is_called_so() -> None:
    [one] = compared(rated(10, 10), rated(7, 10)).differences
    assert one.before == ("10 of 10",)
    assert one.after == ("7 of 10 (p = 0.21, may be chance)",)


def test_a_comparison_is_lines_for_a_terminal_and_a_comment_for_a_pull_request() -> None:
    hostile = "t.py::test_b[|`<script>@team http://x]"
    before = document([told_test(TEST), told_test(hostile)], [run_entry(TEST), run_entry(hostile)])
    after = document(
        [told_test(TEST, "failed"), told_test(hostile)],
        [run_entry(TEST), run_entry(hostile, status="*|<img src=x>@team https://x")],
    )
    found = compared(before, after)
    assert comparison_lines(found)[:3] == [
        "1 broken, 1 changed, 0 as before.",
        "broken   t.py::test_a (codex)",
        "         passed -> failed",
    ]
    text = comparison_markdown(found)
    assert text.startswith("<!-- pytest-caesar compare -->\n")
    assert "| ✗ broken | `t.py::test_a` | codex | passed | failed |" in text
    assert "`t.py::test_b[\\|'<script>@team http://x]`" in text
    assert "status \\*\\|\\<img src=x\\>@<!-- -->team http<!-- -->s:" in text
