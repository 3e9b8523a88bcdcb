"""Errors that the harness raises on purpose, shown where the test is wrong."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import _pytest
import pytest

from caesar_agent.errors import CaesarError

HARNESS = Path(__file__).parents[1]
"""Frames of files below it are the harness's own."""

PYTEST = Path(_pytest.__file__).parent
"""Frames of files below it are pytest's own."""


def without_harness(
    excinfo: pytest.ExceptionInfo[BaseException],
) -> pytest.ExceptionInfo[BaseException]:
    """Cut the harness's own frames from the end of the traceback of one of its errors.

    Any other error is given back as it is, and so is one that no test has called for.
    """
    error = excinfo.value
    if not isinstance(error, CaesarError):
        return excinfo
    frames: list[TracebackType] = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    cut: list[TracebackType] = []
    while frames and _file(frames[-1]).is_relative_to(HARNESS):
        cut.append(frames.pop())
    if cut and (not frames or _file(frames[-1]).is_relative_to(PYTEST)):
        frames.append(cut[-1])  # one of our fixtures failed, which no test has called
    kept: TracebackType | None = None
    for frame in reversed(frames):
        kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__suppress_context__ = True
    error.__cause__ = None
    return pytest.ExceptionInfo.from_exception(error.with_traceback(kept))


def _file(frame: TracebackType) -> Path:
    return Path(frame.tb_frame.f_code.co_filename)
