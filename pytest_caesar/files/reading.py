"""Read a file that others may have swapped for something else."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def read_regular(file: Path, limit: int) -> bytes:
    """Return the first ``limit`` bytes of a file; a FIFO is not waited for.

    Raises:
        OSError: it is no regular file, or cannot be read.
    """
    # Opened first: it may be swapped after a look at it.
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file", str(file))
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(limit)
    finally:
        os.close(descriptor)
