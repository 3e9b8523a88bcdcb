"""Printing for a person: text from agents made safe, and a stream that is gone breaks nothing.

Nothing that an agent wrote moves the cursor of whoever reads it.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import TextIO

# Controls (C0, DEL, C1), line and paragraph separators, lone surrogates, and what
# reorders or hides text: zero-width and bidirectional marks, tags.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)

_ORDERS = re.compile(r"(?<!\S)::(?=[A-Za-z])|##(?=\[|vso\[|teamcity\[)")
"""What CI services obey in a log: GitHub's ``::error::`` behind blanks, ``##[error]`` of GitHub and
Azure and ``##teamcity[`` anywhere. A word may be folded to the start of a line."""


def printable(text: str, *, limit: int | None = None, keep: str = "") -> str:
    r"""Escape what a terminal or a CI service would act on, as ``\x1b`` or ``\u2028``.

    Args:
        text: anything, from anybody; lone surrogates included.
        limit: number of characters of ``text`` to keep at most; what is cut is
            told as a count. None keeps them all.
        keep: characters to leave as they are, such as ``"\n\t"``.
    """
    cut = 0
    if limit is not None and len(text) > limit:
        cut = len(text) - limit
        text = text[:limit]
    safe = _UNSAFE.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)
    safe = _ORDERS.sub(lambda match: r"\x3a:" if match[0] == "::" else r"#\x23", safe)
    return f"{safe}… ({cut} more characters)" if cut else safe


def one_line(text: str, *, limit: int = 200) -> str:
    """Return text on one line, blanks squeezed, controls escaped, shortened with an ellipsis.

    Args:
        text: as for ``printable``.
        limit: length of the result at most.
    """
    line = printable(" ".join(text[: 4 * limit].split()))
    short = len(line) <= limit and len(text) <= 4 * limit
    return line if short else line[: limit - 1] + "…"


def _escape(character: str) -> str:
    code = ord(character)
    named = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}.get(code)
    if named:
        return named
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


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
