from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.files import folders
from pytest_caesar.files.folders import copy_folder, temporary_folder
from pytest_caesar.files.removal import remove_folder


def nest(folder: Path, levels: int) -> None:
    """Make folders deeper than Python recurses and than a path may be long."""
    name = "d" * 3
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("last.txt", os.O_WRONLY | os.O_CREAT, dir_fd=at))
    os.close(at)


def test_a_folder_of_any_depth_is_removed(tmp_path: Path) -> None:
    nest(tmp_path, 2500)

    assert remove_folder(tmp_path / "ddd")
    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.txt").touch()
    with temporary_folder("caesar-test-") as folder:
        (folder / "in").mkdir()
        (folder / "in" / "link").symlink_to(outside)
        (folder / "closed").mkdir()
        (folder / "closed" / "file").touch()
        (folder / "closed").chmod(0)
        os.mkfifo(folder / "fifo")

    assert not folder.exists()
    assert (outside / "precious.txt").exists()


def test_what_is_no_folder_is_not_removed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    link = tmp_path / "link"
    link.symlink_to(target)

    assert not remove_folder(link)
    assert target.exists()
    assert remove_folder(tmp_path / "nowhere")


def test_a_copy_holds_files_folders_and_links(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "file.txt").write_text("text")
    (source / "link").symlink_to("/nowhere")
    os.mkfifo(source / "fifo")

    assert copy_folder(source, tmp_path / "a" / "copy") == ""
    copy = tmp_path / "a" / "copy"
    assert sorted(path.name for path in copy.iterdir()) == ["link", "sub"]
    assert (copy / "sub" / "file.txt").read_text() == "text"
    assert (copy / "link").readlink() == Path("/nowhere")


def test_a_copy_of_deep_folders_ends_and_says_so(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    nest(source, 1200)

    assert copy_folder(source, tmp_path / "copy") == "folders below 64 levels"
    assert remove_folder(source)


def test_holes_are_not_copied(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    with (source / "sparse").open("wb") as file:
        file.write(b"begin")
        file.truncate(2**40)
        file.seek(2**39)
        file.write(b"middle")

    assert copy_folder(source, tmp_path / "copy") == ""
    copy = tmp_path / "copy" / "sparse"
    assert copy.stat().st_size == 2**40
    assert copy.stat().st_blocks * 512 < 2**20
    with copy.open("rb") as file:
        assert file.read(5) == b"begin"
        file.seek(2**39)
        assert file.read(6) == b"middle"


def test_a_copy_ends_at_its_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "file").write_bytes(b"x" * 100)
    monkeypatch.setattr(folders, "MAX_BYTES", 10)
    assert copy_folder(source, tmp_path / "one") == "all beyond 10 bytes"
    assert (tmp_path / "one" / "file").stat().st_size == 10

    monkeypatch.setattr(folders, "MAX_ENTRIES", 0)
    assert copy_folder(source, tmp_path / "two") == "more than 0 files"


def test_a_folder_of_a_killed_process_is_removed_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outside = tmp_path / "outside"
    for name in ("outside", "caesar-test-left", "other-left"):
        (tmp_path / name / "sub").mkdir(parents=True)
    (tmp_path / "caesar-test-link").symlink_to(outside)
    with temporary_folder("caesar-test-") as used:
        folders.sweep(tmp_path, "caesar-test-")
        assert (tmp_path / "caesar-test-left").exists()

        folders.sweep(tmp_path, "caesar-test-", min_age=0)

        left = {path.name for path in tmp_path.iterdir()}
        assert left == {"outside", "other-left", "caesar-test-link", used.name}
        assert (outside / "sub").exists()
