"""Text of a ``--caesar-json`` file to its document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from caesar_agent.documents.layout import readable
from caesar_agent.errors import CaesarError

FORMAT: Final = 1
"""Version of the documents that are read and written."""


class ResultsError(CaesarError):
    """A file is not what ``--caesar-json`` writes.

    Attributes:
        name: the file.
        problem: what was found, and what to do.
    """

    name: str
    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return f"{self.name}: {self.problem}"


def parse(text: str, *, name: str) -> dict[str, Any]:
    """Return the document.

    Args:
        text: what the file holds.
        name: the file, for messages.

    Raises:
        ResultsError: it is not JSON, not an object with runs, or of another version.
    """
    expected = "expected what pytest --caesar-json=PATH or pytest-caesar merge writes"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"not JSON ({error}); {expected}"
        raise ResultsError(name=name, problem=problem) from error
    if not isinstance(value, dict) or not isinstance(value.get("runs"), list):
        raise ResultsError(name=name, problem=f"it has no list of runs; {expected}")
    if value.get("format") != FORMAT:
        problem = (
            f"its format is {value.get('format')!r}, and this version reads format {FORMAT}: "
            "use the version of pytest-caesar that wrote it"
        )
        raise ResultsError(name=name, problem=problem)
    return value


def as_bytes(document: Mapping[str, Any]) -> bytes:
    """Return the text of a document, as it is written to a file."""
    return (readable(document) + "\n").encode()


def session_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a document says about its session; empty in one of version 0.1."""
    session = document.get("session")
    return session if isinstance(session, dict) else {}
