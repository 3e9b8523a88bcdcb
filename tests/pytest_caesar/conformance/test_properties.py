"""What holds of the pure parts, whatever they are given."""

from __future__ import annotations

import contextlib
from pathlib import Path
from urllib.parse import urlsplit

from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.conformance.judgement import OUTCOMES
from pytest_caesar.conformance.known_failures import KnownFailuresError, parse_known_failures
from pytest_caesar.conformance.profile import CLAIMS, TABLES, ProfileError, parse_profile
from pytest_caesar.conformance.requirements import LEVELS, REQUIREMENTS
from pytest_caesar.conformance.result import NOT_RUN, Result, completed, verdict
from pytest_caesar.conformance.scenario_run import task_depth
from pytest_caesar.conformance.side_effects import differences
from pytest_caesar.conformance.verdict_lines import badge, table

PATH = Path("caesar-conformance.toml")

KEYS = st.sampled_from(
    ["level", "objective", "timeout", "claims", "files", "repository", "levle", *TABLES]
)
VALUES = st.sampled_from(
    [
        '"x"',
        '""',
        "1",
        "-1",
        "true",
        "[]",
        '["events"]',
        "{}",
        '{ objective = "x" }',
        "nan",
        "{ a = 1 }",
    ]
) | st.sampled_from([*CLAIMS, *LEVELS]).map(lambda word: f'"{word}"')

OUTCOME = st.sampled_from([*OUTCOMES, NOT_RUN])
RESULTS = st.lists(OUTCOME, min_size=len(REQUIREMENTS), max_size=len(REQUIREMENTS)).map(
    lambda outcomes: [
        Result(id=name, agent="a", outcome=outcome)
        for name, outcome in zip(REQUIREMENTS, outcomes, strict=True)
    ]
)


@given(
    st.dictionaries(KEYS, VALUES).map(
        lambda pairs: "\n".join(f"{k} = {v}" for k, v in pairs.items())
    )
)
def test_a_profile_is_read_or_refused_by_name(text: str) -> None:
    with contextlib.suppress(ProfileError):
        parse_profile(text, path=PATH)


@given(st.text() | st.lists(st.sampled_from([*REQUIREMENTS, "#", "[a]", "\n", " "])).map("".join))
def test_a_baseline_is_read_or_refused_by_line(text: str) -> None:
    with contextlib.suppress(KnownFailuresError):
        parse_known_failures(text, path=Path("baseline.txt"))


@given(RESULTS, st.sampled_from(list(REQUIREMENTS)))
def test_a_failure_more_never_lifts_a_level(results: list[Result], name: str) -> None:
    before = verdict(results)
    worse = [
        Result(id=one.id, agent="a", outcome="failed") if one.id == name else one for one in results
    ]

    after = verdict(worse)

    assert set(after.reached) <= set(before.reached)
    assert after.passed <= before.passed


@given(RESULTS)
def test_numbers_add_up_and_badges_are_addresses(results: list[Result]) -> None:
    found = verdict(results)
    line = badge(found)
    address = line.partition("](")[2].rstrip(")")

    assert 0 <= found.passed <= found.counted <= len(REQUIREMENTS)
    assert set(found.reached) <= set(LEVELS)
    assert not found.reached or "minimal" in found.reached
    assert urlsplit(address).netloc == "img.shields.io"
    assert not set(address) & set(" ()[]+,")
    assert len(table(results)) == 1 + len(LEVELS)


@given(RESULTS.map(lambda results: results[::3]))
def test_what_is_completed_is_whole_and_in_order(results: list[Result]) -> None:
    whole = completed(results, "a")

    assert [one.id for one in whole] == list(REQUIREMENTS)
    assert completed(whole, "a") == whole


@given(
    st.dictionaries(st.text(min_size=1), st.text()), st.dictionaries(st.text(min_size=1), st.text())
)
def test_a_survey_differs_from_itself_in_nothing(one: dict[str, str], two: dict[str, str]) -> None:
    assert differences(one, one) == ()
    assert len(differences(one, two)) == len(differences(two, one))


@given(
    st.binary()
    | st.sampled_from([b"[]", b"null", b'{"depth": "x"}', b'{"depth": NaN}', b"[" * 200_000])
)
def test_no_bytes_of_others_are_a_task_by_accident(data: bytes) -> None:
    assert task_depth(data) is None
