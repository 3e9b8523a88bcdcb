"""Which tests of a session ran to their end, and which compared with snapshots."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.settings.file_names import file_stem
from pytest_caesar.settings.trial_parameter import without_trial

OUR_FOLDER = "__caesar__"
"""Folder of our snapshots, beside a module; syrupy's own lie elsewhere."""


class ExecutedTests:
    """What a session knows of its tests, so that nobody's snapshots are called unused too early."""

    def __init__(self) -> None:
        self._ended: dict[Path, dict[str, tuple[str, str]]] = {}
        self._compared: set[str] = set()

    def add(self, item: pytest.Item) -> None:
        """Note that a test ran to its end."""
        beside = self._ended.setdefault(item.path.parent, {})
        # One snapshot is for all trials of a test.
        stem = file_stem(without_trial(item, item.nodeid), without_trial(item, item.name))
        beside[item.nodeid] = (item.path.stem, stem)

    def discard(self, item: pytest.Item) -> None:
        """Note that a test has not run to its end, or not yet again."""
        self._ended.get(item.path.parent, {}).pop(item.nodeid, None)

    def stems_beside(self, folder: Path) -> dict[str, set[str]]:
        """Return what tests in a folder ran to their end, as stems of snapshots by module."""
        stems: dict[str, set[str]] = {}
        for module, stem in self._ended.get(folder, {}).values():
            stems.setdefault(module, set()).add(stem)
        return stems

    def keep_recorded(self, item: pytest.Item) -> int:
        """Leave the snapshots of a test that failed as they were recorded; return how many."""
        queue = getattr(getattr(item.config, "_syrupy", None), "_queued_snapshot_writes", {})
        kept = 0
        for extension in list(queue):
            if getattr(extension[0], "snapshot_dirname", "") != OUR_FOLDER:
                continue
            writes = queue[extension]
            for key in [key for key in writes if key[0].nodeid == item.nodeid]:
                del writes[key]
                kept += 1
            if not writes:
                del queue[extension]
        return kept

    def forget_comparisons(self, item: pytest.Item) -> None:
        """Take back what syrupy counted for an earlier execution of the same test."""
        if item.nodeid in self._compared:
            syrupy = item.config._syrupy  # type: ignore[attr-defined] # noqa: SLF001 - no public way
            syrupy._assertions[:] = [  # noqa: SLF001 - as above
                assertion
                for assertion in syrupy._assertions  # noqa: SLF001 - as above
                if assertion.test_location.nodeid != item.nodeid
            ]
        self._compared.add(item.nodeid)


EXECUTED: pytest.StashKey[ExecutedTests] = pytest.StashKey()
"""Where a session keeps it, in pytest's configuration."""
