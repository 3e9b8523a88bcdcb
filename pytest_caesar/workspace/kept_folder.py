"""A folder of the orchestrator's own that lasts as long as a workspace."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from pytest_caesar.files.folders import temporary_folder

PREFIX = "caesar-baseline-"
"""How the names of such folders begin."""


class KeptFolder:
    """A temporary folder; removed by ``close``, with the value, or by a later process."""

    def __init__(self) -> None:
        self._closing = contextlib.ExitStack()
        self.path: Path = self._closing.enter_context(temporary_folder(PREFIX))

    def close(self) -> None:
        """Remove it; a second time does nothing."""
        self._closing.close()

    def __del__(self) -> None:
        self.close()


def kept_outside(top: Path) -> KeptFolder | None:
    """Make such a folder where cleaning a work tree does not reach it; None where it would."""
    temporary = os.path.realpath(tempfile.gettempdir())
    if temporary == os.fspath(top) or temporary.startswith(f"{top}{os.sep}"):
        return None
    return KeptFolder()
