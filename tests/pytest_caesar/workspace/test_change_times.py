"""When changed paths changed last, by the time of their inodes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.workspace import change_times as module
from pytest_caesar.workspace.change_times import ChangeTime, change_times
from pytest_caesar.workspace.values import ObservedChange


def changed(path: str, **more: str) -> ObservedChange:
    return ObservedChange(path=path, action="modified", **more)  # type: ignore[arg-type]


def test_the_time_of_the_inode_counts_and_not_that_of_the_contents(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    os.utime(tmp_path / "a.py", (0, 0))

    (time,) = change_times(tmp_path, [changed("a.py")]) or ()
    assert time == ChangeTime("a.py", (tmp_path / "a.py").lstat().st_ctime_ns)
    assert time.at is not None
    assert time.at > 10**18


def test_a_deleted_path_went_when_its_folder_changed_or_before(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    gone = [ObservedChange(path="kept/sub/a.py", action="deleted")]

    (time,) = change_times(tmp_path, gone) or ()
    assert time == ChangeTime("kept/sub/a.py", (tmp_path / "kept").lstat().st_ctime_ns, exact=False)


def test_of_a_folder_and_of_what_is_not_there_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "nested").mkdir()

    times = change_times(tmp_path, [changed("nested/"), changed("none")])
    assert times == (ChangeTime("nested/", None), ChangeTime("none", None))
    assert change_times(tmp_path / "gone", [changed("a")]) is None
    assert change_times(tmp_path, []) == ()


def test_in_memory_and_of_too_many_paths_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()
    monkeypatch.setattr(module, "MAX_PATHS", 1)

    assert change_times(tmp_path, [changed("a"), changed("a")]) is None
    if Path("/dev/shm").is_dir():
        assert change_times(Path("/dev/shm"), [changed("a")]) is None
