"""Whether a test's delegations are recorded or played back, and where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_caesar.settings.continuous_integration import is_ci
from pytest_caesar.settings.file_names import file_stem
from pytest_caesar.settings.marker import problem_of_marker

if TYPE_CHECKING:
    from pytest_caesar.recordings.cassette import Cassette
    from pytest_caesar.settings.settings import Settings

FOLDER: Final = "__caesar__"
"""Lies beside the module of the tests; snapshots are kept there too."""


def cassette_of(
    request: pytest.FixtureRequest, settings: Settings, *, part: str = ""
) -> Cassette | None:
    """Return the recordings of a test, or None when its agents simply work.

    Args:
        request: of the test's fixture.
        settings: of the session.
        part: of the test that has a folder of its own, such as one of many trials.

    Raises:
        pytest.fail.Exception: the marker says what is not understood, or something is to be
            recorded anew in CI.
    """
    mode = record_mode(request.node, settings)
    if mode == "off":
        return None
    from pytest_caesar.recordings.cassette import Cassette  # noqa: PLC0415 - only when asked for

    in_ci = is_ci(os.environ)
    if in_ci and mode == "all":
        pytest.fail(
            "--caesar-record=all records anew, and in CI (the variable CI is set) nothing is "
            "recorded: run it elsewhere and commit the recordings",
            pytrace=False,
        )
    item = request.node
    folders = {"rootdir": str(request.config.rootpath)}
    if "tmp_path" in request.fixturenames:
        folders["tmp-path"] = str(request.getfixturevalue("tmp_path"))
    return Cassette(
        recording_folder(item.path, item.nodeid, item.name, part=part),
        "none" if in_ci or mode == "none" else "once" if mode == "once" else "all",
        folders=folders,
    )


def recording_folder(module: Path, nodeid: str, name: str, *, part: str = "") -> Path:
    """Return where the recordings of a test, or of a part of it, lie."""
    stem = file_stem(nodeid, name) + (f"@{part}" if part else "")
    return module.parent / FOLDER / module.stem / f"{stem}.recording"


def record_mode(item: pytest.Item, settings: Settings) -> str:
    """Return the mode of the command line, else of the nearest marker, else of the ini file."""
    modes = []
    for mark in item.iter_markers("caesar"):
        # One that a hook or a fixture has added was not there when the test was collected.
        problem = problem_of_marker(mark)
        if problem:
            pytest.fail(f"{item.nodeid}: {problem}", pytrace=False)
        modes.append(mark.kwargs.get("record"))
    return next((mode for mode in (settings.record, *modes) if mode), settings.record_default)
