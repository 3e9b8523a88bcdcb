"""From what comes back of a trial to a run whose files lie on this machine."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path, PurePosixPath

from pytest_caesar.runs.run import Run
from pytest_caesar.trials.remote.node import Transfer


def unpacked(transfer: Transfer, folder: Path) -> Run:
    """Write the task directories of a trial below a new folder, and return its run.

    The workspace does not come back: the patch holds what changed in it. Names are an agent's,
    so nothing is written outside of the folder, and over nothing that is there.
    """
    folder.mkdir(parents=True)
    for name, data in transfer.files.items():
        parts = PurePosixPath(name).parts
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts:
            continue
        path = folder.joinpath(*parts)
        # A name may be too long here, or be a file's and a folder's at once.
        with contextlib.suppress(OSError, ValueError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(data)
    return _moved(transfer.run, Path(transfer.root), folder)


def _moved(run: Run, old: Path, new: Path) -> Run:
    return replace(
        run,
        task_dir=_below(run.task_dir, old, new),
        workspace=_below(run.workspace, old, new),
        children=tuple(_moved(child, old, new) for child in run.children),
    )


def _below(path: Path, old: Path, new: Path) -> Path:
    return new / path.relative_to(old) if path.is_relative_to(old) else path
