"""Folders of several shards as one: kept task directories, and new recordings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from caesar_agent.task_directory import read_bounded, write_atomic
from pytest_caesar.files.folders import copy_folder

RECORDINGS: Final = "__caesar__"
"""Name of the folders that recordings and snapshots lie in, beside the tests."""

MAX_FILE: Final = 64 * 2**20
"""Bytes of one file of a recording that is copied."""


def merge_kept(sources: Iterable[Path], target: Path) -> list[str]:
    """Copy ``<test>/<task>`` of each source; nothing that is there already is overwritten.

    Returns:
        What could not be copied, one sentence each.
    """
    problems = []
    for source in sources:
        if not source.is_dir():
            problems.append(f"{source} is no folder of kept task directories")
            continue
        for test in _folders(source):
            for task in _folders(test):
                place = target / test.name / task.name
                if os.path.lexists(place):
                    problems.append(f"{task} is there already as {place}")
                    continue
                try:
                    left_out = copy_folder(task, place)
                except OSError as error:
                    problems.append(f"{task} could not be copied to {place}: {error}")
                    continue
                if left_out:
                    problems.append(f"{task} was not copied whole to {place}: without {left_out}")
    return problems


def _folders(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())


def merge_recordings(sources: Iterable[Path], target: Path) -> list[str]:
    """Copy what lies in ``__caesar__`` folders to the same place; what differs is named.

    Returns:
        What could not be copied, one sentence each.
    """
    problems = []
    for source in sources:
        if not source.is_dir():
            problems.append(f"{source} is no folder with recordings")
            continue
        for file in _recorded(source):
            place = target / file.relative_to(source)
            new = read_bounded(file, max_bytes=MAX_FILE)
            if new.data is None:
                told = new.problem.message if new.problem is not None else "it is gone"
                problems.append(f"{file} could not be read: {told}")
                continue
            old = read_bounded(place, max_bytes=MAX_FILE)
            if old.data == new.data:
                continue
            if old.data is not None or os.path.lexists(place):
                problems.append(f"{file} differs from {place}, which was left as it is")
                continue
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                write_atomic(place, new.data, mode=0o644)
            except OSError as error:
                problems.append(f"{file} could not be copied to {place}: {error}")
    return problems


def _recorded(source: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(source):
        folders.sort()
        if RECORDINGS in Path(folder).relative_to(source).parts:
            yield from (Path(folder) / name for name in sorted(names))
