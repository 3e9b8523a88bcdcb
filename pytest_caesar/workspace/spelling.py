"""Other spellings of a path than that of git's own list; pure."""

from __future__ import annotations

import os
import re
import unicodedata

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_LETTERS = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def document_path(path: str) -> str:
    r"""Return a path as documents can hold it: bytes that are not UTF-8 as ``\xff``.

    A lone surrogate that stands for no byte, as JSON can bring one, becomes ``\ud83d``.
    """
    if path.isascii():
        return path
    plain = re.sub("[\ud800-\udc7f\udd00-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", path)
    return plain.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def names_of(path: str) -> frozenset[str]:
    """Return the names under which a path that git shows may be declared."""
    if path.isascii():
        return frozenset((path,))
    return frozenset((_nfc(path), document_path(path)))


def meanings_of(path: str) -> frozenset[str]:
    r"""Return what a declared path may mean: itself, and what git quotes like that.

    ``git status`` and ``git diff --name-only`` print ``"caf\303\251.txt"``, and scripts pass it on.
    """
    if path[:1] != '"' and path.isascii():
        return frozenset((path,))
    plain = unquoted(path)
    return frozenset((_nfc(path), *([_nfc(plain)] if plain is not None else [])))


def unquoted(path: str) -> str | None:
    """Return the path that git would print like this, or None where it would not."""
    if len(path) < 3 or not _QUOTED.fullmatch(path):
        return None
    try:
        body = os.fsencode(path[1:-1])
    except UnicodeEncodeError:  # a lone surrogate that JSON let through
        return None
    return os.fsdecode(_ESCAPE.sub(_plain, body))


def _plain(match: re.Match[bytes]) -> bytes:
    said = match[1]
    return bytes([int(said, 8) if len(said) == 3 else _LETTERS[said[0]]])


def _nfc(path: str) -> str:
    return unicodedata.normalize("NFC", path)
