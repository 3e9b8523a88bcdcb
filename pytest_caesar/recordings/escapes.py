r"""Bytes as text that can be read and reviewed, and back; pure.

Most of what an agent writes is text already and stays as it is. Anything else is kept in
an escaped form: a backslash is two, and a byte that is no plain text is ``\xNN``.
"""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""What does not show, or changes how other characters show, but for tab and newline."""

_CONTROLS = tuple(bytes([byte]) for byte in (*range(9), *range(11, 32), 127))
"""What never stands inside a longer character of UTF-8, so that bytes can be replaced."""

_ESCAPE = re.compile(rb"\\(?:\\|x([0-9a-f]{2}))?")


class EscapeError(ValueError):
    """A text in the escaped form holds a backslash that means nothing."""


def is_plain(data: bytes) -> bool:
    """Tell whether bytes are text that shows what it is."""
    try:
        return _HIDDEN.search(data.decode("utf-8")) is None
    except UnicodeDecodeError:
        return False


def escape(data: bytes) -> bytes:
    """Return the escaped form of any bytes: UTF-8 text in which everything shows."""
    data = data.replace(b"\\", b"\\\\")
    for control in _CONTROLS:
        if control in data:
            data = data.replace(control, b"\\x%02x" % ord(control))
    text = data.decode("utf-8", "backslashreplace")
    return _HIDDEN.sub(_escaped, text).encode()


def unescape(text: bytes) -> bytes:
    r"""Return the bytes of an escaped form.

    Raises:
        EscapeError: a backslash begins neither ``\\`` nor ``\xNN``; names the line.
    """

    def plain(match: re.Match[bytes]) -> bytes:
        if match[1] is not None:
            return bytes([int(match[1], 16)])
        if len(match[0]) == 1:
            line = text.count(b"\n", 0, match.start()) + 1
            message = f"line {line}: expected \\\\ or \\xNN (two of 0-9 and a-f) after a backslash"
            raise EscapeError(message)
        return b"\\"

    return _ESCAPE.sub(plain, text)


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"\\x{byte:02x}" for byte in match[0].encode())
