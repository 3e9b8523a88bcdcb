"""Bytes to a JSON value: strict about JSON, plain about encodings, bounded in depth and time."""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
from dataclasses import dataclass
from typing import Any

from caesar_agent.errors import DocumentError

MAX_DEPTH = 128
"""Arrays and objects within each other at most; the documents need 3.

Stays far below the recursion limits of Python's decoder and of its encoder, so that
the outcome does not depend on where in a program a document is read."""

MAX_VALUES = 1_000_000
"""Commas outside strings at most, which is to say values; each costs some 500 bytes of memory.

A report may so declare some 300 000 changes."""

MAX_DIGITS = 309
"""Digits of one integer at most, as many as the largest double has; converting many of them
takes quadratic time on some Pythons."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
# The closing quote is optional so that an unterminated string matches at once
# instead of being searched for again from every quote within it.
_BRACKET = re.compile(r"[\[\]{}]")
_CUT_ESCAPE = re.compile(r"\\?u[0-9A-Fa-f]{0,4}")
_CUT_NUMBER = re.compile(r"(?<=[0-9])(?:\.|[eE][+-]?)")
_BLANK = " \t\n\r"
_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")

_BYTE_ORDER_MARKS = (
    # UTF-32 first: its little-endian mark begins with the one of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A JSON value and how it was written.

    Attributes:
        value: ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` or None.
        encoding: ``utf-8``, ``utf-16-le``, ``utf-16-be``, ``utf-32-le`` or
            ``utf-32-be``; ``utf-8`` for text that came decoded.
        flags: what is unusual and yet clear: ``byte-order-mark``,
            ``unusual-encoding``. Both are codes of diagnostics.
    """

    value: Any
    encoding: str = "utf-8"
    flags: tuple[str, ...] = ()


def decode(data: bytes | str, *, kind: str = "document") -> Decoded:
    r"""Decode one JSON document.

    Stricter than ``json.loads``: a key that stands twice in one object, NaN,
    Infinity and numbers beyond a double are refused. Lone surrogates
    (``"\ud83d"``) are JSON and are kept. Time is linear in the length.

    Args:
        data: the whole document.
        kind: what to call it in an error.

    Raises:
        DocumentError: with code ``empty-document``, ``bad-encoding``, ``truncated``,
            ``not-json``, ``duplicate-key``, ``not-a-number``, ``number-too-large``,
            ``too-deep`` or ``too-many-values``.
    """
    try:
        return _decode(data)
    except _Refused as refused:
        raise DocumentError(
            kind=kind, code=refused.code, where="", problem=refused.problem
        ) from None


class _Refused(ValueError):  # noqa: N818 - never leaves this module
    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code
        self.problem = problem


def _decode(data: bytes | str) -> Decoded:
    if isinstance(data, str):
        text, encoding, marked = data.removeprefix("\ufeff"), "utf-8", data.startswith("\ufeff")
    else:
        text, encoding, marked = _text(data)
    if not text.strip(_BLANK):
        size = len(data)
        raise _Refused(
            "empty-document", "found nothing" if not size else "found nothing but blanks"
        )
    # Counted first, because nearly every document is far below what could be too much.
    if text.count("[") + text.count("{") > MAX_DEPTH or text.count(",") > MAX_VALUES:
        _check_bounds(_STRING.sub("", text))
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_problem(text, error) from None
    except RecursionError:
        raise _too_deep() from None
    flags: tuple[str, ...] = ("byte-order-mark",) if marked else ()
    if encoding != "utf-8":
        flags += ("unusual-encoding",)
    return Decoded(value, encoding, flags)


def _text(data: bytes) -> tuple[str, str, bool]:
    """Return the text, its encoding, and whether a byte order mark stood before it."""
    encoding, skip = _detect(data)
    try:
        return str(memoryview(data)[skip:], encoding), encoding, skip > 0
    except UnicodeDecodeError as error:
        at = skip + error.start
        if error.reason in {"unexpected end of data", "truncated data"}:
            raise _Refused(
                "truncated", f"ends in the middle of a character, at byte {at}"
            ) from None
        found = data[at]
        raise _Refused(
            "bad-encoding",
            f"byte 0x{found:02x} at offset {at} is not {encoding.upper()}; write the file as UTF-8",
        ) from None


def _detect(data: bytes) -> tuple[str, int]:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    # A document begins with an ASCII character, so where its zero bytes are tells
    # how wide characters are, and from which end they are written.
    if len(data) >= 4 and data[0] | data[1]:
        if data[0] == 0:
            return "utf-16-be", 0
        if data[1] == 0:
            return ("utf-16-le", 0) if data[2] else ("utf-32-le", 0)
    elif len(data) >= 4 and data[2] == 0 and data[3]:
        return "utf-32-be", 0
    return "utf-8", 0


def _check_bounds(bare: str) -> None:
    """Refuse text, given without its strings, that costs too much to decode."""
    if bare.count(",") > MAX_VALUES:
        raise _Refused("too-many-values", f"holds more than {MAX_VALUES} values")
    depth = 0
    for bracket in _BRACKET.findall(bare):
        if bracket in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _too_deep()
        else:
            depth -= 1


def _too_deep() -> _Refused:
    return _Refused("too-deep", f"nested more than {MAX_DEPTH} levels deep")


def _syntax_problem(text: str, error: json.JSONDecodeError) -> _Refused:
    rest = text[error.pos : error.pos + 12].strip(_BLANK)
    ended = (
        error.msg.startswith("Unterminated string")
        or error.pos >= len(text.rstrip(_BLANK))
        or any(word.startswith(rest) and word != rest for word in _LITERALS)
        or rest == "-"
        or _CUT_ESCAPE.fullmatch(text, error.pos) is not None
        or _CUT_NUMBER.fullmatch(text, error.pos) is not None
    )
    if ended:
        return _Refused("truncated", f"ends before it is complete ({_place(error)})")
    # Versions of Python tell this common mistake differently, and from different places.
    comma = len(text[: error.pos + 1].rstrip(_BLANK + "]}")) - 1
    if text[comma] == "," and text[comma + 1 :].lstrip(_BLANK)[:1] in {"]", "}"}:
        error = json.JSONDecodeError("a comma before a closing bracket", text, comma)
    problem = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return _Refused("not-json", f"not JSON: {problem} ({_place(error)})")


def _place(error: json.JSONDecodeError) -> str:
    return f"line {error.lineno}, column {error.colno}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refused("duplicate-key", f"field {key[:60]!a} stands twice in one object")
            seen.add(key)
    return value


def _constant(name: str) -> float:
    raise _Refused("not-a-number", f"{name} is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _too_large(text)
    return value


def _integer(text: str) -> int:
    # Without the sign, as ``-`` is no digit.
    if len(text.removeprefix("-")) > MAX_DIGITS:
        raise _too_large(text)
    value = int(text)
    if abs(value) > sys.float_info.max:
        raise _too_large(text)
    return value


def _too_large(text: str) -> _Refused:
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    return _Refused("number-too-large", f"the number {shown} does not fit a double")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer
)
