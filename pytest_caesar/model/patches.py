"""The patch format of codex's ``apply_patch``: how a file is written or edited with it."""

from __future__ import annotations


def add_file(path: str, content: str) -> str:
    """Return a patch that writes a whole file. It cannot write a file without a last newline."""
    lines = content.removesuffix("\n").split("\n") if content else []
    return _patch(f"*** Add File: {path}", *(f"+{line}" for line in lines))


def update_file(path: str, old: str, new: str, *, before: str | None) -> str:
    """Return a patch that replaces a text.

    Args:
        path: of the file.
        old: the text.
        new: what takes its place.
        before: the whole file, or None where it cannot be read: ``old`` has to be whole
            lines then.
    """
    if before is not None and old in before:
        start = before.index(old)
        head = before.rfind("\n", 0, start) + 1
        tail = before.find("\n", start + len(old))
        tail = len(before) if tail < 0 else tail
        if old.endswith("\n"):
            tail = start + len(old) - 1
        whole = before[head:tail]
        replaced = whole.replace(old.removesuffix("\n"), new.removesuffix("\n"), 1)
        old, new = whole, replaced
    return _patch(
        f"*** Update File: {path}",
        "@@",
        *(f"-{line}" for line in old.removesuffix("\n").split("\n")),
        *(f"+{line}" for line in _lines(new)),
    )


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch", ""))
