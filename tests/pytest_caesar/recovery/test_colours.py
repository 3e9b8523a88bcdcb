"""Terminal colours around and inside a report."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recovery.colours import Colourless
from tests.pytest_caesar.recovery.reports import fence, recovered, report

SEQUENCES = [
    "\x1b[0m",
    "\x1b[1;32m",
    "\x1b[38:5:4m",
    "\x1b[2K",
    "\x1b[?25l",
    "\x1b]8;;x://y\x07",
    "\x1b(B",
    "\x1b#8",
    "\x1b7",
    "\x1b=",
    "\x1bP1$r0m\x1b\\",
]


def test_an_opening_line_in_colours_opens_a_block() -> None:
    log = f"\x1b[2m```json caesar:report\x1b[0m\n{report('failed')}\n\x1b[2m```\x1b[0m\n"

    assert recovered(log).form == "fence"


def test_a_report_printed_in_colours_is_read() -> None:
    body = json.dumps(json.loads(report("partial", "Half.")), indent=1).replace(
        '"partial"', '\x1b[0;32m"partial"\x1b[0m'
    )

    verdict = recovered(fence(body))

    assert (verdict.form, verdict.report.status) == ("fence", "partial")


def test_a_report_around_which_tput_reset_the_terminal_is_read() -> None:
    reset = "\x1b(B\x1b[m"
    body = report("partial", "Half.").replace('"partial"', f'"partial"{reset}')

    verdict = recovered(f"{reset}```json caesar:report{reset}\n{body}\n```{reset}\n")

    assert (verdict.form, verdict.report.status) == ("fence", "partial")


def test_offsets_are_those_of_the_log_with_its_colours() -> None:
    body = report().replace('"success"', '\x1b[32m"success"\x1b[0m')
    log = f"\x1b[1mDone\x1b[0m é\n{fence(body)}".encode()

    verdict = recovered(log)

    assert verdict.offsets is not None
    start, end = verdict.offsets
    assert log[start:end].decode() == body


def test_an_escape_inside_a_string_stays_in_the_report() -> None:
    assert recovered(report(summary="\x1b[1mbold")).report.summary == "\x1b[1mbold"


@given(st.lists(st.sampled_from([*SEQUENCES, "a", "{", "\n", "\x1b", "[", "é"]), max_size=20))
def test_every_byte_that_is_left_is_found_in_the_log(parts: list[str]) -> None:
    log = "".join(parts).encode()

    bare = Colourless(log)

    for offset in range(len(bare.text)):
        start, end = bare.locate(offset, offset + 1)
        assert log[start:end] == bare.text[offset : offset + 1]


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_every_sequence_is_taken_out(sequence: str) -> None:
    assert Colourless(f"a{sequence}b".encode()).text == b"ab"


def test_a_log_with_too_many_sequences_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_caesar.recovery.colours.MAX_SEQUENCES", 3)
    log = b"\x1b[0m" * 4

    assert Colourless(log).text == log
