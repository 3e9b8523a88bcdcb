"""A snapshot file belongs to exactly one test."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.settings.file_names import belongs, file_name, file_stem

NAMES = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)


def stem(name: str, *, classes: str = "") -> str:
    return file_stem(f"t.py::{classes}{name}", name)


def test_a_plain_name_stays_as_it_is() -> None:
    assert stem("test_a") == "test_a"
    assert stem("test_a", classes="TestX::") == "TestX.test_a"
    assert stem("test_a[fixer-1]") == "test_a[fixer-1]"


def test_a_parameter_with_slashes_is_told_from_its_likes() -> None:
    names = {stem("test_a[x/y]"), stem("test_a[x:y]"), stem("test_a[x-y]"), stem("test_a[x::y]")}
    assert len(names) == 4
    assert all("/" not in name for name in names)


def test_a_parameter_of_300_characters_gives_a_name_that_fits() -> None:
    one, two = stem(f"test_a[{'x' * 300}]"), stem(f"test_a[{'x' * 301}]")
    assert one != two
    assert len(f"{file_name(one, 11)}.report.json".encode()) < 200


def test_snapshots_are_counted_from_the_second_on() -> None:
    assert [file_name("test_a", index) for index in (0, 1, 9)] == [
        "test_a",
        "test_a.2",
        "test_a.10",
    ]
    assert file_name("test_a", "first") == "test_a@first"


def test_the_likes_of_a_test_do_not_belong_to_it() -> None:
    assert belongs("test_a", "test_a")
    assert belongs("test_a.2", "test_a")
    assert belongs("test_a@first", "test_a")
    for other in ("test_ab", "test_a[fixer]", "test_a[fixer].2", "test_a.b", "test_a.2.3", "test"):
        assert not belongs(other, "test_a")


@given(NAMES, NAMES)
def test_two_parameters_never_share_a_stem(one: str, two: str) -> None:
    if one != two:
        assert stem(f"test_a[{one}]") != stem(f"test_a[{two}]")


@given(NAMES, st.integers(0, 20) | st.text(min_size=1, max_size=10))
def test_what_is_written_is_claimed_again(parameter: str, index: int | str) -> None:
    one = stem(f"test_a[{parameter}]")
    assert belongs(file_name(one, index), one)
    assert "/" not in file_name(one, index)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("m.py::test_x[A]", "m.py::test_x[a]"),
        ("m.py::test_X", "m.py::test_x"),
        ("m.py::test_x[stra\u00dfe]", "m.py::test_x[strasse]"),
        ("m.py::test_x[caf\u00e9]", "m.py::test_x[cafe\u0301]"),
    ],
)
def test_ids_that_differ_in_case_or_form_alone_get_different_files(one: str, other: str) -> None:
    def folded(nodeid: str) -> str:
        stem = file_stem(nodeid, nodeid.partition("::")[2])
        return unicodedata.normalize("NFC", stem).casefold()

    assert folded(one) != folded(other)
