from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesar_agent.console import one_line, printable

ANY_TEXT = st.text(st.characters())


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("café 🎉 日本", "café 🎉 日本"),
        ("\x1b[2J\x07", r"\x1b[2J\x07"),
        ("a\tb\r\nc", r"a\tb\r\nc"),
        ("\x9b31m\x7f", r"\x9b31m\x7f"),
        ("\u2028\u202e\u200b\ufeff", r"\u2028\u202e\u200b\ufeff"),
        ("\ud83d", r"\ud83d"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_what_a_terminal_acts_on_is_escaped(text: str, safe: str) -> None:
    assert printable(text) == safe


def test_some_characters_can_be_kept() -> None:
    assert printable("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"


def test_what_is_cut_is_counted() -> None:
    assert printable("abcdef", limit=4) == "abcd… (2 more characters)"
    assert printable("abcd", limit=4) == "abcd"


@settings(deadline=None)
@given(ANY_TEXT)
def test_printable_text_can_always_be_printed(text: str) -> None:
    safe = printable(text)

    safe.encode()
    assert not {unicodedata.category(character) for character in safe} & {"Cc", "Cs", "Zl", "Zp"}
    assert printable(safe) == safe


@settings(deadline=None)
@given(ANY_TEXT, st.integers(2, 40))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit=limit)

    assert len(line) <= limit
    assert line.splitlines() in ([line], [])


def test_blanks_are_squeezed_and_what_is_cut_shows() -> None:
    assert one_line(" a \n\n  b ") == "a b"
    assert one_line("x" * 50, limit=10) == "xxxxxxxxx…"
    assert one_line("x" + " " * 1000 + "y", limit=10).endswith("…")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\\x3a:error::x"),
        ("a\n \t::set-output name=x::y", "a\n \t\\x3a:set-output name=x::y"),
        ("folded here ::add-mask::x", "folded here \\x3a:add-mask::x"),
        (
            "x ##[error]y ##vso[task] ##teamcity[a",
            "x #\\x23[error]y #\\x23vso[task] #\\x23teamcity[a",
        ),
        ("std::vector, ::1, ## heading", "std::vector, ::1, ## heading"),
    ],
)
def test_what_a_ci_service_obeys_is_escaped(text: str, shown: str) -> None:
    assert printable(text, keep="\n\t") == shown
