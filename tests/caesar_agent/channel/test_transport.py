from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from caesar_agent.channel.transport import Lines

LINES = st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line), max_size=6)


@given(lines=LINES, cuts=st.lists(st.integers(0, 100), max_size=8))
def test_where_the_chunks_are_cut_does_not_matter(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    splitter = Lines(max_bytes=8)
    found = [
        line for start, end in itertools.pairwise(places) for line in splitter.feed(data[start:end])
    ]
    assert found == [
        line.strip() if len(line) <= 8 else None for line in lines if len(line) > 8 or line.strip()
    ]


def test_a_line_that_never_ends_takes_no_memory() -> None:
    splitter = Lines(max_bytes=8)
    for _ in range(1000):
        assert list(splitter.feed(b"x" * 100)) == []
    assert sum(map(len, splitter._parts)) <= 8
    assert list(splitter.feed(b"\nok\n")) == [None, b"ok"]
