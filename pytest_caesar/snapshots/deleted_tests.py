"""Snapshots of tests that are gone, of modules that were collected whole."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line
from pytest_caesar.settings.continuous_integration import is_ci
from pytest_caesar.settings.file_names import MAX_BYTES, file_stem, possible_stems
from pytest_caesar.settings.trial_parameter import without_trial
from pytest_caesar.snapshots.executed_tests import OUR_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

SHOWN = 10
"""Files that are named; the others are counted."""

_KIND = re.compile(r"\.(?:run\.md|patch\.diff|(?:report|events|evidence|messages|value)\.json)$")


class CollectedModules:
    """Which modules were collected whole, and which tests they have.

    A test that was not selected is there all the same. A module of which only some tests were
    asked for (``test_a.py::test_b``), or the last failed, says nothing of the others.
    """

    def __init__(self) -> None:
        self._modules: dict[Path, set[str]] = {}
        self._broken: set[Path] = set()

    def add_module(self, path: Path) -> None:
        """Note a module, which may have no test any more."""
        self._modules.setdefault(path, set())

    def add_broken(self, path: Path) -> None:
        """Note a module that could not be collected."""
        self._broken.add(path)

    def add(self, item: pytest.Item) -> None:
        """Note a test of a module."""
        name = without_trial(item, item.name)
        stem = file_stem(without_trial(item, item.nodeid), name)
        self._modules.setdefault(item.path, set()).update({stem, stem.partition("[")[0]})

    def files_of_gone_tests(self, config: pytest.Config) -> list[str]:
        """Return the snapshot files that no test of their module can have made, absolute."""
        if getattr(config.option, "lf", False) or getattr(config.option, "stepwise", False):
            return []
        partly = {
            (config.invocation_params.dir / argument.partition("::")[0]).resolve()
            for argument in config.args
            if "::" in argument
        }
        return [
            str(file)
            for module, stems in sorted(self._modules.items())
            if module.resolve() not in partly and module not in self._broken
            for file in _files(module.parent / OUR_FOLDER / module.stem)
            if _is_gone(file.name, stems)
        ]


def _files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if _KIND.search(entry.name) and entry.is_file(follow_symlinks=False)
            )
    except OSError:
        return []


def _is_gone(name: str, stems: set[str]) -> bool:
    stem = _KIND.sub("", name)
    if len(stem.encode()) > MAX_BYTES - 12:
        return False  # shortened, so that its test's name cannot be read from it
    return all(
        one not in stems and one.partition("[")[0] not in stems for one in possible_stems(stem)
    )


def remove_files(files: Iterable[str]) -> list[str]:
    """Delete files, but in CI; return those that are gone now."""
    removed: list[str] = []
    if is_ci(os.environ):
        return removed
    for file in files:
        try:
            Path(file).unlink()
        except OSError:
            continue
        removed.append(file)
    return removed


def gone_lines(config: Any, files: list[str]) -> list[str]:
    """Name the files, and say what to do, or that they were deleted."""
    start = config.invocation_params.dir
    one = len(files) == 1
    more = [f"  … and {len(files) - SHOWN} more"] if len(files) > SHOWN else []
    of = (
        "1 snapshot of a test that is gone"
        if one
        else f"{len(files)} snapshots of tests that are gone"
    )
    named = [f"  {one_line(os.path.relpath(file, start), limit=400)}" for file in files[:SHOWN]]
    if config.option.update_snapshots:
        return [f"{of} {'was' if one else 'were'} deleted:", *named, *more]
    return [f"{of}:", *named, *more, f"add --snapshot-update to delete {'it' if one else 'them'}"]
