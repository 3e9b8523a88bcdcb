"""Which paths the tree held before the agent worked in it."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.values import Workspace


class KnownPaths:
    """Asks git for the paths of the baseline, once, when the first is asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: frozenset[bytes] | None = None

    def __call__(self, path: str) -> bool:
        """Tell whether a path, as the agent gave it, was there; True where nobody can say."""
        snapshot = self._workspace.snapshot
        if snapshot is None:
            return True
        if self._known is None:
            self._known = self._read()
        absolute = Path(os.path.normpath(self._workspace.path / path))
        for top in (snapshot.top, snapshot.top.resolve()):
            if absolute.is_relative_to(top):
                return os.fsencode(absolute.relative_to(top)) in self._known or not self._known
        return True

    def _read(self) -> frozenset[bytes]:
        snapshot, tree = self._workspace.snapshot, self._workspace.baseline
        tree = tree or self._workspace.base_ref
        if snapshot is None or tree is None:
            return frozenset()
        try:
            room = new_folder(snapshot.room)
            try:
                listed = Observer(snapshot, room).git.run(
                    "ls-tree", "-r", "-z", "--name-only", "--full-tree", tree
                )
                return frozenset(listed.records)
            finally:
                discard(room)
        except (GitError, OSError):
            return frozenset()
