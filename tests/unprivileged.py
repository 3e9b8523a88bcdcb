"""Run a part of a test as somebody whom the modes of files stop, root included."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

import pytest

Value = TypeVar("Value")

_PASSING_OVER_MODES = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


def stopped_by_modes(function: Callable[[], Value]) -> Value:
    """Return what a function returns for a user who may not pass over modes.

    On Linux capabilities belong to threads, so that a thread of root can lay two of them down.
    """
    if os.geteuid() != 0:
        return function()
    if sys.platform != "linux":
        pytest.skip("modes do not stop root here: run the tests as an ordinary user")
    found: list[Value] = []

    def run() -> None:
        _lay_down()
        found.append(function())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def _lay_down() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 bits of each
    assert libc.capget(header, sets) == 0
    sets[0] &= ~_PASSING_OVER_MODES
    assert libc.capset(header, sets) == 0
