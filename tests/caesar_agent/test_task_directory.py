from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from caesar_agent.task_directory import (
    Reading,
    TaskDirectory,
    open_folder,
    open_regular,
    read_bounded,
    write_atomic,
)
from tests.unprivileged import stopped_by_modes


@pytest.fixture
def directory(tmp_path: Path) -> TaskDirectory:
    folder = tmp_path / "t_1"
    folder.mkdir()
    return TaskDirectory(folder)


def problem(reading: Reading) -> str:
    assert reading.data is None
    assert reading.problem is not None
    return reading.problem.code


def test_a_file_is_read_whole(directory: TaskDirectory) -> None:
    data = os.urandom(3_000_000)
    directory.report_file.write_bytes(data)

    assert directory.read_report() == Reading(data=data)


def test_an_absent_file_is_no_problem(directory: TaskDirectory, tmp_path: Path) -> None:
    assert directory.read_report() == Reading()
    assert directory.read_submission() == Reading()
    assert directory.read_task() == Reading()
    assert TaskDirectory(tmp_path / "nowhere").read_report() == Reading()
    assert read_bounded(tmp_path / "nowhere" / "file", max_bytes=10) == Reading()


def test_an_empty_file_is_not_an_absent_one(directory: TaskDirectory) -> None:
    directory.report_file.touch()

    assert directory.read_report() == Reading(data=b"")


def test_a_link_is_not_followed(directory: TaskDirectory, tmp_path: Path) -> None:
    target = tmp_path / "secret"
    target.write_text("{}")
    directory.report_file.symlink_to(target)
    directory.task_file.symlink_to(tmp_path / "nowhere")

    found = directory.read_report().problem
    assert found is not None
    assert found.code == "report-file-not-regular"
    assert found.message == "report.json is a link, not a regular file, and was not opened"
    assert found.path == str(directory.report_file)
    assert problem(directory.read_task()) == "file-not-regular"


def test_a_task_directory_that_became_a_link_is_not_entered(
    directory: TaskDirectory, tmp_path: Path
) -> None:
    directory.report_file.write_text("{}")
    elsewhere = directory.path.rename(tmp_path / "elsewhere")
    directory.path.symlink_to(elsewhere)

    assert problem(directory.read_report()) == "report-file-unreadable"


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["a folder", "a FIFO", "a socket", "a device"])
def test_what_is_no_file_is_refused_without_waiting(
    directory: TaskDirectory, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = directory.submission_file
    if kind == "a folder":
        path.mkdir()
    elif kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a socket":
        # Names of sockets are short, so it is bound from within the folder.
        monkeypatch.chdir(directory.path)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("submission.json")
    else:
        assert problem(read_bounded(Path("/dev/zero"), max_bytes=10)) == "file-not-regular"
        return

    found = directory.read_submission().problem
    assert found is not None
    assert found.code == "submission-not-regular"
    assert kind in found.message


@pytest.mark.timeout(20)
def test_a_fifo_that_takes_the_place_of_a_file_does_not_hang(
    directory: TaskDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = directory.report_file
    path.write_text("{}")
    looked_at = path.lstat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(os, "stat", lambda *_, **__: looked_at)

    assert problem(read_bounded(path, max_bytes=10)) == "file-not-regular"


def test_a_file_beyond_the_bound_is_refused_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_bytes(b"x" * 11)

    assert problem(read_bounded(path, max_bytes=10)) == "file-too-large"
    assert read_bounded(path, max_bytes=11).data == b"x" * 11


def test_a_report_beyond_the_bound_costs_no_memory(directory: TaskDirectory) -> None:
    with directory.report_file.open("wb") as file:
        file.truncate(2**40)

    assert problem(directory.read_report()) == "report-file-too-large"


def test_a_file_without_permission_is_unreadable(directory: TaskDirectory) -> None:
    directory.report_file.touch(mode=0)

    assert problem(stopped_by_modes(directory.read_report)) == "report-file-unreadable"


def test_a_path_that_no_file_can_have_is_unreadable(tmp_path: Path) -> None:
    assert problem(read_bounded(Path("a\0b"), max_bytes=10)) == "file-unreadable"
    assert problem(read_bounded(tmp_path / ("x" * 5000), max_bytes=10)) == "file-unreadable"


def test_a_folder_held_open_is_read_though_its_name_was_given_away(tmp_path: Path) -> None:
    folder = tmp_path / "questions"
    folder.mkdir()
    (folder / "q.json").write_text("mine")
    with open_folder(folder) as descriptor:
        folder.rename(tmp_path / "moved")
        folder.mkdir()
        (folder / "q.json").write_text("other")

        assert read_bounded(Path("q.json"), max_bytes=10, dir_fd=descriptor).data == b"mine"


def test_descriptors_are_closed(directory: TaskDirectory) -> None:
    directory.report_file.write_text("{}")
    os.mkfifo(directory.submission_file)
    descriptor, _ = open_regular(directory.report_file)
    assert descriptor is not None
    os.close(descriptor)
    for _ in range(50):
        directory.read_report()
        directory.read_submission()
    again, _ = open_regular(directory.report_file)
    assert again == descriptor
    os.close(descriptor)


def test_writing_replaces_a_link_and_leaves_its_target(directory: TaskDirectory) -> None:
    target = directory.path / "target"
    target.write_text("kept")
    directory.report_file.symlink_to(target)
    write_atomic(directory.report_file, b"{}\n")

    assert not directory.report_file.is_symlink()
    assert directory.report_file.read_bytes() == b"{}\n"
    assert target.read_text() == "kept"


def test_written_files_belong_to_their_owner_alone(directory: TaskDirectory) -> None:
    before = os.umask(0)
    try:
        write_atomic(directory.task_file, b"{}")
    finally:
        os.umask(before)

    assert stat.S_IMODE(directory.task_file.stat().st_mode) == 0o600


def test_the_umask_does_not_take_what_was_asked_for(directory: TaskDirectory) -> None:
    before = os.umask(0o777)
    try:
        write_atomic(directory.task_file, b"{}", mode=0o640)
    finally:
        os.umask(before)

    assert stat.S_IMODE(directory.task_file.stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(directory: TaskDirectory) -> None:
    directory.report_file.mkdir()
    (directory.report_file / "inside").touch()

    with pytest.raises(OSError, match=r"report\.json"):
        write_atomic(directory.report_file, b"{}")
    assert os.listdir(directory.path) == ["report.json"]  # noqa: PTH208 - hidden files count


def test_a_file_is_flushed_before_it_gets_its_name(
    directory: TaskDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    flush = os.fsync

    def watched(descriptor: int) -> None:
        assert not directory.report_file.exists()
        sizes.append(os.fstat(descriptor).st_size)
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    write_atomic(directory.report_file, b"12345")

    assert sizes == [5]
