"""Names of branches and refs; pure."""

from __future__ import annotations

import re
import unicodedata

MAX_SLUG = 40
"""Characters of the objective in a branch name."""

ID_LENGTH = 8
"""Characters of the task id in a branch name."""


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


def _fits_in_ref(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", text)) and not (
        ".." in text or text.endswith((".", ".lock"))
    )
