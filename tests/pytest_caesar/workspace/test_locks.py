"""The note that says who writes lies where others can write, too."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from pytest_caesar.workspace.errors import BusyError
from pytest_caesar.workspace.locks import acquire, is_held, release


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the note for ``tree`` lies."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "tree").mkdir()
    lock = acquire(tmp_path / "tree", "t_1")
    found = lock.note
    release(lock)
    return found


def test_a_link_in_place_of_the_note_is_replaced_and_not_followed(
    note: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    note.symlink_to(victim)
    lock = acquire(tmp_path / "tree", "t_2")
    assert (victim.read_text(), json.loads(note.read_text())["task_id"]) == ("mine", "t_2")
    release(lock)


def test_a_fifo_in_place_of_the_note_stops_nobody(note: Path, tmp_path: Path) -> None:
    os.mkfifo(note)
    # Held open, so that a writer that does not see what it is would not wait for ever.
    reader = os.open(note, os.O_RDONLY | os.O_NONBLOCK)
    lock = acquire(tmp_path / "tree", "t_2")
    assert note.is_file()
    assert os.read(reader, 100) == b""
    os.close(reader)
    release(lock)


def test_a_link_in_place_of_the_folder_of_notes_is_not_followed(note: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    note.parent.rmdir()
    note.parent.symlink_to(elsewhere)
    lock = acquire(tmp_path / "tree", "t_2")
    assert list(elsewhere.iterdir()) == []
    with pytest.raises(BusyError) as caught:
        acquire(tmp_path / "tree", "t_3")
    assert caught.value.holder == "another task"
    release(lock)


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        ('{"task_id": "t\\u001b[31m", "pid": 7}', r"task t\x1b[31m (process 7)"),
        ('{"task_id": "t_1", "pid": 1e999}', "another task"),
        ("[" * 100_000, "another task"),
        ("7", "another task"),
        ("", "another task"),
    ],
)
def test_whatever_the_note_says_the_refusal_can_be_read(
    note: Path, tmp_path: Path, text: str, holder: str
) -> None:
    lock = acquire(tmp_path / "tree", "t_1")
    note.write_text(text)
    with pytest.raises(BusyError) as caught:
        acquire(tmp_path / "tree", "t_2")
    assert caught.value.holder == holder
    release(lock)


def test_a_lock_is_given_back_also_where_its_note_cannot_be_removed(
    note: Path, tmp_path: Path
) -> None:
    lock = acquire(tmp_path / "tree", "t_1")
    note.unlink()
    (note / "inside").mkdir(parents=True)

    release(lock)

    assert not is_held(tmp_path / "tree")
    release(acquire(tmp_path / "tree", "t_2"))


def test_a_refused_lock_leaves_the_one_that_is_held(note: Path, tmp_path: Path) -> None:
    lock = acquire(tmp_path / "tree", "t_1")

    with pytest.raises(BusyError, match="t_1"):
        acquire(tmp_path / "tree", "t_2")

    assert is_held(tmp_path / "tree")
    assert json.loads(note.read_text())["task_id"] == "t_1"
    release(lock)
