from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_caesar.runs.record import RecordError, read_record


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**36)


def nested(path: Path) -> None:
    path.write_text("[" * 200_000)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["run.json", "changes.patch"])
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (Path.mkdir, "is a folder, not a regular file"),
        (os.mkfifo, "is a FIFO, not a regular file"),
        (link, "is a link, not a regular file"),
        (sparse, "is larger than"),
    ],
)
def test_what_is_no_plain_file_is_refused_by_name(
    tmp_path: Path, make: Callable[[Path], object], problem: str, name: str
) -> None:
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)

    with pytest.raises(RecordError, match=f"{name} {problem}"):
        read_record(tmp_path)


def test_a_record_that_is_nested_too_deeply_is_none(tmp_path: Path) -> None:
    nested(tmp_path / "run.json")

    with pytest.raises(RecordError, match=r"run\.json is not a record of a run"):
        read_record(tmp_path)
