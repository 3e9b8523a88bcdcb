"""A patch as files of numbered lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pytest_caesar.reporting.page.text import PART_BYTES, block, first_bytes, left_out_note

UNFOLDED: Final = 400
"""Lines of a file's diff up to which it is shown unfolded."""

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line.

    Attributes:
        kind: ``add``, ``del``, ``same``, ``hunk`` or ``note``.
        text: as in the patch, with its sign.
        old, new: line numbers, or None.
    """

    kind: str
    text: str
    old: int | None = None
    new: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFile:
    """What a patch says of one file.

    Attributes:
        name: the path, or both of a rename.
        lines: what is shown.
        added, removed: lines, counted.
        folded: longer than ``UNFOLDED`` lines.
    """

    name: str
    lines: tuple[DiffLine, ...]
    added: int
    removed: int
    folded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """A patch.

    Attributes:
        files: in the order of the patch.
        note: what was left out, or "".
    """

    files: tuple[DiffFile, ...]
    note: str


def diff_view(patch: str, *, total: int | None, where: str) -> Diff:
    """Return a patch as files of lines.

    Args:
        patch: as git writes it, or its start.
        total: bytes of the whole patch.
        where: the file that holds it, or "".
    """
    kept = first_bytes(patch)
    shown = patch.encode("utf-8", "backslashreplace")[:PART_BYTES].decode("utf-8", "ignore")
    left_out = max(total or 0, len(patch.encode("utf-8", "backslashreplace"))) - len(shown.encode())
    note = left_out_note(left_out, where, "after") if left_out > 0 or kept.note else ""
    parts = re.split(r"^(?=diff --git )", shown, flags=re.MULTILINE)
    return Diff(files=tuple(_file(part) for part in parts if part.strip()), note=note)


def _file(part: str) -> DiffFile:
    text = block(part.rstrip("\n")).split("\n")
    lines: list[DiffLine] = []
    old = new = left_old = left_new = 0
    names = {"--- ": "", "+++ ": ""}
    for one in text:
        if left_old <= 0 and left_new <= 0:
            hunk = _HUNK.match(one)
            if hunk is not None:
                old, new = int(hunk[1]), int(hunk[3])
                left_old, left_new = int(hunk[2] or 1), int(hunk[4] or 1)
                lines.append(DiffLine(kind="hunk", text=one))
            elif one[:4] in names:
                names[one[:4]] = one[4:]
            elif one and not one.startswith(("diff --git ", "index ")):
                lines.append(DiffLine(kind="note", text=one))
        elif one.startswith("+"):
            lines.append(DiffLine(kind="add", text=one, new=new))
            new, left_new = new + 1, left_new - 1
        elif one.startswith("-"):
            lines.append(DiffLine(kind="del", text=one, old=old))
            old, left_old = old + 1, left_old - 1
        elif one.startswith("\\"):
            lines.append(DiffLine(kind="note", text=one))
        else:
            lines.append(DiffLine(kind="same", text=one or " ", old=old, new=new))
            old, new, left_old, left_new = old + 1, new + 1, left_old - 1, left_new - 1
    return DiffFile(
        name=_name(text[0], names["--- "], names["+++ "]),
        lines=tuple(lines),
        added=sum(one.kind == "add" for one in lines),
        removed=sum(one.kind == "del" for one in lines),
        folded=len(lines) > UNFOLDED,
    )


def _name(header: str, old: str, new: str) -> str:
    """Return the path of a file; what is quoted by git stays so."""
    name = new if new not in ("", "/dev/null") else old
    if name in ("", "/dev/null"):
        words = header.removeprefix("diff --git ")
        name = words[len(words) // 2 + 1 :]
    return name[2:] if name[:2] in ("a/", "b/") else name
