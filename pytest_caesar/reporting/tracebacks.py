"""Errors that the harness raises on purpose, shown where the test is wrong."""

from __future__ import annotations

import linecache
from pathlib import Path
from types import TracebackType

import _pytest
import pytest

import caesar_agent
from caesar_agent.errors import CaesarError

OURS = (Path(__file__).parents[1], Path(caesar_agent.__file__).parent)
"""Frames of files below them are the project's own."""

MISUSE = (TypeError, ValueError, AttributeError)
"""Errors of Python's that we raise ourselves where a test misuses something of ours."""

PYTEST = Path(_pytest.__file__).parent
"""Frames of files below it are pytest's own."""


def without_harness(
    excinfo: pytest.ExceptionInfo[BaseException],
) -> pytest.ExceptionInfo[BaseException]:
    """Cut the harness's own frames from the end of the traceback of one of its errors.

    Any other error is given back as it is. One of Python's own counts where a ``raise`` of ours
    made it.
    """
    error = excinfo.value
    frames: list[TracebackType] = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    if not isinstance(error, CaesarError) and not _is_raised_by_us(error, frames):
        return excinfo
    cut: list[TracebackType] = []
    while len(frames) > 1 and _is_generated(frames[-1]):
        cut.append(frames.pop())
    while frames and (_is_ours(frames[-1]) or (cut and _is_generated(frames[-1]))):
        cut.append(frames.pop())
    if cut and (not frames or _file(frames[-1]).is_relative_to(PYTEST)):
        frames.append(cut[-1])  # one of our fixtures failed, which no test has called
    kept: TracebackType | None = None
    for frame in reversed(frames):
        kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__suppress_context__ = True
    error.__cause__ = None
    return pytest.ExceptionInfo.from_exception(error.with_traceback(kept))


def _is_raised_by_us(error: BaseException, frames: list[TracebackType]) -> bool:
    """Tell whether an error of Python's own comes of a ``raise`` of ours, so on purpose."""
    if not isinstance(error, MISUSE) or not frames:
        return False
    last = frames[-1]
    if not _is_ours(last):
        return False
    line = linecache.getline(str(_file(last)), last.tb_lineno).strip()
    return line.startswith("raise ")


def _is_ours(frame: TracebackType) -> bool:
    return any(_file(frame).is_relative_to(folder) for folder in OURS)


def _is_generated(frame: TracebackType) -> bool:
    """Tell whether the code comes from no file, as the ``__init__`` of a dataclass."""
    return frame.tb_frame.f_code.co_filename == "<string>"


def _file(frame: TracebackType) -> Path:
    return Path(frame.tb_frame.f_code.co_filename)
