"""Files of results that commands read and write."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from caesar_agent.console import printable
from caesar_agent.task_directory import write_atomic
from pytest_caesar.reporting.results.document import parse


def read_results(path: Path) -> dict[str, Any]:
    """Read what ``--caesar-json`` wrote.

    Raises:
        ResultsError: it is something else.
        OSError: it cannot be read.
    """
    return parse(path.read_text("utf-8", "replace"), name=str(path))


def write_result(path: Path, text: str) -> None:
    """Write a file whole or not at all, and say where.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text.encode("utf-8", "backslashreplace"), mode=0o644)
    sys.stdout.write(f"{printable(str(path))}\n")
