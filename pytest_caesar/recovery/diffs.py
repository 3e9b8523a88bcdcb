"""From the text of a diff to the changes that it makes; pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from caesar_agent.documents.report import Action, Change

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_HEADERS = (b"--- ", b"+++ ", b"rename from ", b"rename to ", b"copy from ", b"copy to ")


@dataclass(slots=True)
class _File:
    """What the headers of one file say."""

    git: bytes = b""
    old: bytes | None = None
    new: bytes | None = None
    action: Action = "modified"


def changes_of(diff: bytes) -> tuple[Change, ...]:
    """Return the changes of a unified diff, of git or any other program, in its order.

    Raises:
        ValueError: it holds something, and no header of a file.
    """
    found = [_change(file) for file in _files(diff)]
    changes = tuple(change for change in found if change is not None)
    if not changes and diff.strip():
        message = "the diff names no file: expected lines such as '+++ b/src/a.py'"
        raise ValueError(message)
    return changes


def _files(diff: bytes) -> Iterator[_File]:
    file: _File | None = None
    left = [0, 0]
    for line in diff.split(b"\n"):
        if max(left) > 0:
            _count(line, left)
            continue
        hunk = _HUNK.match(line)
        if hunk is not None:
            left = [int(hunk[1] or 1), int(hunk[2] or 1)]
            continue
        begins = line.startswith(b"diff --git ") or (
            line.startswith(b"--- ") and (file is None or file.new is not None)
        )
        if begins:
            if file is not None:
                yield file
            file = _File(git=line[11:]) if line.startswith(b"diff") else _File()
        if file is not None:
            _header(file, line)
    if file is not None:
        yield file


def _count(line: bytes, left: list[int]) -> None:
    """Count a line of a hunk: what looks like a header there is content."""
    if line[:1] in (b" ", b"-", b""):
        left[0] -= 1
    if line[:1] in (b" ", b"+", b""):
        left[1] -= 1


def _header(file: _File, line: bytes) -> None:
    if line.startswith(b"new file mode "):
        file.action = "created"
    elif line.startswith(b"deleted file mode "):
        file.action = "deleted"
    elif line.startswith((b"rename from ", b"copy from ")):
        file.action = "renamed" if line.startswith(b"rename") else "created"
    for start in _HEADERS:
        if line.startswith(start):
            name = _name(line[len(start) :], prefixed=start in (b"--- ", b"+++ "))
            if start in (b"--- ", b"rename from ", b"copy from "):
                file.old = name
            else:
                file.new = name


def _name(text: bytes, *, prefixed: bool) -> bytes:
    text = text.rstrip(b"\r")
    name = _unquoted(text) if text.startswith(b'"') else text.split(b"\t")[0]
    if prefixed and name[:2] in (b"a/", b"b/"):
        return name[2:]
    return name


def _unquoted(text: bytes) -> bytes:
    """Read a name that git has quoted, as a string of C."""
    data, _ = codecs.escape_decode(text[1 : text.rindex(b'"')])
    return bytes(data)


def _change(file: _File) -> Change | None:
    none = b"/dev/null"
    if file.old == none:
        file.action = "created"
    elif file.new == none:
        file.action = "deleted"
    names = (file.old, file.new) if file.action == "deleted" else (file.new, file.old)
    name = next((one for one in names if one not in (None, none)), None) or _git_name(file.git)
    if not name:
        return None
    old = file.old if file.action == "renamed" else None
    return Change(
        path=name.decode("utf-8", "surrogateescape"),
        action=file.action,
        summary=f"renamed from {old.decode('utf-8', 'surrogateescape')}" if old else "",
    )


def _git_name(line: bytes) -> bytes:
    """Return the name in ``a/NAME b/NAME``, where nothing else names it (an empty file)."""
    half = len(line) // 2
    left, right = line[:half], line[half + 1 :]
    if left.startswith(b'"'):
        left = _unquoted(left) if left.count(b'"') > 1 else left
        right = _unquoted(right) if right.startswith(b'"') else right
    return right[2:] if left[2:] == right[2:] else b""
