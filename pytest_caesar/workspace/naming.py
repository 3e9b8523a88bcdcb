"""Names: of branches and refs, and of files in sentences; pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MAX_SLUG = 40
"""Characters of the objective in a branch name."""

ID_LENGTH = 8
"""Characters of the task id in a branch name."""

OWN_FOLDERS = (b".caesar/tasks", b".caesar/wt", b".caesar/state")
"""What the orchestrator writes in a repository; it is never an agent's work."""

_LOST_BLANKS = re.compile(r"^ | $| (?= )|(?<= ) ")


def branch_name(task_id: str, objective: str, label: str = "") -> str:
    """Return ``caesar[/LABEL]/OBJECTIVE-ID``; parts that come out empty are left out."""
    short = task_id.removeprefix("t_")[:ID_LENGTH]
    if not _fits_in_ref(short):
        short = slug(short)
    parts = [part for part in (slug(label),) if part]
    words = slug(objective)[:MAX_SLUG].rstrip("-")
    parts.append("-".join(part for part in (words, short or "task") if part))
    return "/".join(("caesar", *parts))


def slug(text: str) -> str:
    """Return ``text`` in lower case ASCII letters, digits and single dashes."""
    plain = "".join(
        char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char)
    )
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def shown(path: str) -> str:
    """Return a path as a sentence can hold it: control characters and stray bytes escaped.

    Blanks that a line of text would lose, at an end or beside another, are escaped too.
    """
    path = _LOST_BLANKS.sub(r"\\x20", path)
    if path.isprintable():
        return path
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in path)


def is_holdable(path: bytes) -> bool:
    """Tell whether git holds such a path: relative, without detours, nothing of git's own."""
    return b"\0" not in path and not any(
        part in (b"", b".", b"..") or part.lower() == b".git" for part in path.split(b"/")
    )


def named(paths: Sequence[str], limit: int = 5) -> str:
    """Return the first of ``paths`` with commas between, and how many more there are."""
    text = ", ".join(shown(path) for path in paths[:limit])
    return text + (f" and {len(paths) - limit} more" if len(paths) > limit else "")


def _fits_in_ref(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", text)) and not (
        ".." in text or text.endswith((".", ".lock"))
    )
