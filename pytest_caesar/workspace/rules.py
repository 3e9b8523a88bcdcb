"""Ignore and attribute rules of a whole tree as one file each; pure.

Git reads ``.gitignore`` and ``.gitattributes`` from the folder it looks at,
where an agent can change them. These functions turn the rules as they stood
before the agent into one text that git takes instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ATTRIBUTES = (
    "binary",
    "text",
    "eol",
    "crlf",
    "ident",
    "filter",
    "working-tree-encoding",
    "diff",
    "merge",
    "whitespace",
)
"""The attributes that change how git reads, compares or prints a file."""

_GLOB = re.compile(rb"([\\*?\[])")
_ESCAPES = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
    b'"': b'"',
}
_BLANK, _BACKSLASH = b" \\"

_BOM = b"\xef\xbb\xbf"


def merge_ignore_rules(
    texts: Iterable[tuple[bytes, bytes]], *, general: Iterable[bytes | None] = ()
) -> bytes:
    """Return one exclude file with the meaning of many ``.gitignore`` files.

    Args:
        texts: folder ("" or a path without a slash at its end) and content, any order.
        general: texts of rules that every ``.gitignore`` overrides, each before the next.
    """
    patterns = [(b"", pattern) for text in general for pattern in _patterns(text or b"")]
    for folder, text in sorted(texts, key=lambda pair: pair[0].count(b"/") + bool(pair[0])):
        if b"\n" in folder:
            continue  # cannot be written in a pattern; ignoring less shows more
        patterns += [(folder, pattern) for pattern in _patterns(text)]
    lines = [_ignore_line(folder, pattern) for folder, pattern in patterns]
    # Git takes one carriage return off the end of each line.
    return b"".join(line + b"\r\n" if line.endswith(b"\r") else line + b"\n" for line in lines)


def merge_attribute_rules(
    texts: Iterable[tuple[bytes, bytes]], *, general: bytes = b"", particular: bytes = b""
) -> bytes:
    """Return one attributes file with the meaning of many, and no room for others.

    As ``info/attributes`` it wins over every ``.gitattributes``: the first line
    decides each attribute that matters for every path, the rest refines it.

    Args:
        texts: folder and content of each ``.gitattributes``, any order.
        general: rules that every ``.gitattributes`` overrides.
        particular: rules that override every ``.gitattributes``.
    """
    lines = [b"* " + b" ".join(b"!" + name.encode() for name in ATTRIBUTES), *_lines(general)]
    for folder, text in sorted(texts, key=lambda pair: pair[0].count(b"/") + bool(pair[0])):
        if b"\n" in folder:
            continue
        lines += [_attribute_line(folder, line) for line in _lines(text)]
    # How a patch looks is not the repository's business: text is shown as text.
    lines += [*_lines(particular), b"* !diff"]
    return b"".join(line + b"\n" for line in lines if line and not line.startswith(b"#"))


def _lines(text: bytes) -> list[bytes]:
    return [line.removesuffix(b"\r") for line in text.removeprefix(_BOM).split(b"\n")]


def _patterns(text: bytes) -> list[bytes]:
    """Return the patterns of a ``.gitignore`` as git reads them; those that match nothing not."""
    found = []
    for line in text.removeprefix(_BOM).split(b"\n"):
        # What git reads is a string of C: it ends where a NUL stands.
        pattern = _without_trailing_blanks(line.removesuffix(b"\r").partition(b"\0")[0])
        if pattern.startswith(b"#") or pattern.removeprefix(b"!") in (b"", b"/"):
            continue
        found.append(pattern)
    return found


def _ignore_line(folder: bytes, pattern: bytes) -> bytes:
    if not folder:
        return pattern
    sign = b"!" if pattern.startswith(b"!") else b""
    return sign + b"/" + _within(folder, pattern[len(sign) :])


def _within(folder: bytes, pattern: bytes) -> bytes:
    """Anchor a pattern that stood in ``folder``."""
    prefix = _GLOB.sub(rb"\\\1", folder)
    if pattern.startswith(b"/"):
        return prefix + pattern
    if b"/" in pattern[:-1]:
        return prefix + b"/" + pattern
    return prefix + b"/**/" + pattern


def _without_trailing_blanks(line: bytes) -> bytes:
    """Take blanks off the end, as git does: one behind a backslash stays, and what is before it."""
    end = position = 0
    while position < len(line):
        if line[position] == _BACKSLASH:
            position += 2
            if position > len(line):
                return line  # a backslash at the very end: git leaves the line alone
            end = position
            continue
        position += 1
        if line[position - 1] != _BLANK:
            end = position
    return line[:end]


def _attribute_line(folder: bytes, line: bytes) -> bytes:
    line = line.lstrip(b" \t\r")
    if not folder or not line or line.startswith(b"#"):
        return line
    if line.startswith(b"[attr]"):
        return b""  # git takes macros from the top level alone
    pattern, rest = _split_pattern(line)
    if pattern.startswith(b"!"):
        return b""  # git refuses negative patterns here
    return _quoted(_within(folder, pattern)) + b" " + rest


def _split_pattern(line: bytes) -> tuple[bytes, bytes]:
    if line.startswith(b'"'):
        match = re.match(rb'"((?:[^"\\]|\\.)*)"', line, re.DOTALL)
        if match:
            return _unquoted(match[1]), line[match.end() :].strip()
    pattern, *rest = re.split(rb"[ \t]+", line, maxsplit=1)
    return pattern, rest[0] if rest else b""


def _unquoted(text: bytes) -> bytes:
    def replace(match: re.Match[bytes]) -> bytes:
        escape = match[1]
        return _ESCAPES.get(escape) or bytes([int(escape, 8) & 0xFF])

    return re.sub(rb"\\([0-7]{3}|[abfnrtv\\\"])", replace, text)


def _quoted(pattern: bytes) -> bytes:
    if re.fullmatch(rb"[^\s\"\\\x00-\x1f\x7f][^\s\"\x00-\x1f\x7f]*", pattern):
        return pattern
    escaped = pattern.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"' + re.sub(rb"[\x00-\x1f\x7f]", lambda m: b"\\%03o" % m[0][0], escaped) + b'"'
