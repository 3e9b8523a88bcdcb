"""Telling a person what goes on, where the work matters more than the telling."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO


def tell(text: str, stream: TextIO | None = None) -> None:
    """Write on standard error and show it at once; nothing fails where nobody can be told.

    Args:
        text: whole lines.
        stream: in the place of ``sys.stderr``.
    """
    stream = sys.stderr if stream is None else stream
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError, AttributeError):
        silence(stream)


def silence(stream: TextIO | None) -> None:
    """Let what is still held for a stream go nowhere, so that it cannot fail again at exit."""
    if stream is None:
        return
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)


def settle(stream: TextIO | None) -> None:
    """Flush a stream before the interpreter does, which would change the exit code if it failed."""
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        silence(stream)


def occupy_standard_descriptors() -> None:
    """Open nothing where a standard stream is closed, or the next file would take its number."""
    descriptor = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    while descriptor <= 2:
        os.set_inheritable(descriptor, True)  # noqa: FBT003 - positional only
        descriptor = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.close(descriptor)
