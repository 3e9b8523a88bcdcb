"""What differs is shown first, short, and in time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.reporting.difference import COMPARED, compare


def test_the_first_difference_comes_with_its_line() -> None:
    found = compare(b"a\nb\nc\n", b"a\nX\nc\n")
    assert found.line == 2
    assert found.lines == ("  a", "- b", "+ X", "  c")
    assert found.first(1) == ("- b",)
    assert found.changed == 2
    assert not found.cut


def test_a_missing_newline_at_the_end_is_a_difference() -> None:
    assert compare(b"a\n", b"a").lines == ("- a", "+ a (no newline at the end)")


def test_far_apart_differences_are_joined_by_an_ellipsis() -> None:
    old = "".join(f"{number}\n" for number in range(50)).encode()
    new = old.replace(b"\n1\n", b"\nX\n").replace(b"\n48\n", b"\nY\n")
    assert "  …" in compare(old, new).lines


def test_what_an_agent_wrote_cannot_act_on_the_terminal() -> None:
    assert compare(b"a\n", b"\x1b[2J\xff\n").lines == ("- a", "+ \\x1b[2J\\xff")


def test_two_megabytes_without_a_common_line_are_cut_short() -> None:
    old = b"".join(b"old %d\n" % number for number in range(100_000))
    new = b"".join(b"new %d\n" % number for number in range(100_000))
    found = compare(old, new)
    assert found.cut
    assert len(found.lines) <= 2 * COMPARED


def test_lines_that_all_look_alike_take_no_longer() -> None:
    old = b"".join(b"a\nb\n" for _ in range(1000)) + b"x\n"
    new = b"".join(b"b\nc\na\n" for _ in range(666)) + b"y\n"
    assert compare(old, new).changed > 0


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_only_equal_texts_have_no_difference(old: bytes, new: bytes) -> None:
    assert (compare(old, new).changed == 0) == (
        old.decode("utf-8", "backslashreplace") == new.decode("utf-8", "backslashreplace")
    )
