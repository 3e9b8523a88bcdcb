"""What is copied of files with holes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pytest_caesar.files.sparse import data_of, write_at

SIZE = 5 << 20


@pytest.fixture
def holey(tmp_path: Path) -> Path:
    """Return a file with data in its middle, larger than what is read in one go."""
    path = tmp_path / "holey"
    with path.open("wb") as file:
        file.seek(1 << 20)
        file.write(b"x" * (2 << 20) + b"y")
        file.truncate(SIZE)
    return path


def copied(path: Path, size: int) -> bytes:
    target = path.with_name("copy")
    with path.open("rb") as source, target.open("wb") as copy:
        for position, chunk in data_of(source.fileno(), size):
            write_at(copy.fileno(), chunk, position)
        os.ftruncate(copy.fileno(), size)
    return target.read_bytes()


def test_holes_are_passed_over_and_the_rest_is_where_it_was(holey: Path) -> None:
    with holey.open("rb") as file:
        assert sum(len(chunk) for _, chunk in data_of(file.fileno(), SIZE)) < SIZE
    assert copied(holey, SIZE) == holey.read_bytes()


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_all_is_data_where_the_file_system_cannot_tell_of_holes(
    holey: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    expected = holey.read_bytes()
    monkeypatch.setattr(os, "lseek", refuse)
    assert copied(holey, SIZE) == expected


def test_a_file_that_became_shorter_ends_where_it_ends(holey: Path) -> None:
    os.truncate(holey, 1 << 20)
    assert copied(holey, SIZE) == bytes(SIZE)
    holey.write_bytes(b"short")
    assert copied(holey, SIZE).rstrip(b"\0") == b"short"
