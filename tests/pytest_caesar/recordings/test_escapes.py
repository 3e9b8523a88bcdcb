"""Bytes as text that shows everything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recordings.escapes import EscapeError, escape, is_plain, unescape


@given(st.binary(max_size=300))
def test_any_bytes_come_back_as_they_were(data: bytes) -> None:
    assert unescape(escape(data)) == data


@given(st.binary(max_size=300))
def test_what_is_escaped_is_plain_text(data: bytes) -> None:
    assert is_plain(escape(data))


@given(st.text(max_size=300))
def test_text_without_anything_hidden_only_doubles_its_backslashes(text: str) -> None:
    data = text.encode("utf-8", "ignore")
    if is_plain(data):
        assert escape(data) == data.replace(b"\\", b"\\\\")


@pytest.mark.parametrize(
    "data",
    [b"\x1b[31m", b"\r\n", b"\0", b"\xff", "\u202eevil".encode(), "\ufeff{".encode(), b"\x7f"],
)
def test_what_does_not_show_is_not_plain(data: bytes) -> None:
    assert not is_plain(data)


def test_lines_tabs_and_letters_of_any_script_are_plain() -> None:
    assert is_plain("a\tb\nжизнь 猫 é\n".encode())


@pytest.mark.parametrize("text", [b"ok\n\\", b"ok\n\\n", b"ok\n\\xZZ", b"ok\n\\x1", b"ok\n\\xFF"])
def test_a_backslash_that_means_nothing_is_told_with_its_line(text: bytes) -> None:
    with pytest.raises(EscapeError, match="line 2: expected"):
        unescape(text)
