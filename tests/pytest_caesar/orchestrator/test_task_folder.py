"""What an earlier agent left in place of the folders of tasks."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from pytest_caesar.orchestrator.task_folder import make_task_directory
from pytest_caesar.runs.errors import DelegationError


def refusal(tasks: Path) -> str:
    with (
        contextlib.ExitStack() as undo,
        contextlib.ExitStack() as closing,
        pytest.raises(DelegationError) as caught,
    ):
        make_task_directory(tasks, "t_1", undo=undo, closing=closing)
    return str(caught.value)


@pytest.mark.parametrize("name", [".caesar", ".caesar/tasks"])
@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("file", "not a folder"),
        ("fifo", "not a folder"),
        ("dangling", "a link that leads to no folder"),
        ("loop", "a link that leads to no folder"),
    ],
)
def test_what_is_in_the_way_of_a_task_directory_is_named(
    tmp_path: Path, name: str, kind: str, what: str
) -> None:
    place = tmp_path / name
    place.parent.mkdir(exist_ok=True)
    if kind == "file":
        place.touch()
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.symlink_to(place if kind == "loop" else tmp_path / "nowhere")
    tasks = tmp_path / ".caesar" / "tasks"
    assert refusal(tasks) == (
        f"no task directory could be made in {tasks}: {place} is {what}; remove it and try again"
    )
    assert os.path.lexists(place)


def test_what_the_system_says_is_told(tmp_path: Path) -> None:
    tasks = tmp_path / ("n" * 300) / "tasks"
    assert refusal(tasks).endswith(
        "tasks: File name too long; make room or give write access, and try again"
    )


def test_a_refusal_leaves_nothing_behind(tmp_path: Path) -> None:
    tasks = tmp_path / ".caesar" / "tasks"
    with contextlib.ExitStack() as closing, contextlib.ExitStack() as undo:
        made = make_task_directory(tasks, "t_1", undo=undo, closing=closing)
        assert made.path.is_dir()
        with pytest.raises(DelegationError, match="exists already: task ids must be new"):
            make_task_directory(tasks, "t_1", undo=undo, closing=closing)
    assert list(tmp_path.iterdir()) == []
