"""From a test to the names of its snapshot files, and back; pure.

One test has one stem, and no two tests of a module have the same, so that a file is
claimed by exactly the test that made it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_BYTES = 140
"""Bytes of a stem; leaves room for number, kind and a temporary name in 255."""

_UNSAFE = re.compile(r"""[\\/?*:|"<>\[\]\s\x00-\x1f\x7f~]+""")


def file_stem(nodeid: str, name: str) -> str:
    """Return the stem of a test's snapshot files.

    Args:
        nodeid: as pytest gives it; may hold ``::`` in a parameter's id.
        name: the item's own name, the end of ``nodeid``.
    """
    classes = [part for part in nodeid[: len(nodeid) - len(name)].split("::")[1:] if part]
    function, bracket, rest = name.partition("[")
    stem = ".".join([*classes, function])
    identity = nodeid.partition("::")[2]
    folded = _folds(function)
    if not bracket:
        return _fitting(_safe(stem), changed=folded or _safe(stem) != stem, identity=identity)
    parameters = rest.removesuffix("]")
    safe = _safe(parameters)
    whole = f"{_safe(stem)}[{safe}]"
    changed = folded or safe != parameters or _folds(parameters)
    return _fitting(whole, changed=changed, identity=identity)


def _folds(text: str) -> bool:
    """Tell whether another text differs from this one in case, or in its Unicode form, alone.

    Some file systems give both the same file.
    """
    return unicodedata.normalize("NFC", text).casefold() != text


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", "".join(c if c.isprintable() else "-" for c in text))


def _fitting(stem: str, *, changed: bool, identity: str) -> str:
    """Add what tells a changed or shortened stem from its likes."""
    size = len(stem.encode())
    if not changed and size <= MAX_BYTES:
        return stem
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    cut = stem.encode()[: MAX_BYTES - 11].decode("utf-8", "ignore")
    return f"{cut}~{digest}"


def file_name(stem: str, index: int | str) -> str:
    """Return the name without the kind: ``stem``, ``stem.2``, …, or ``stem@name``."""
    if isinstance(index, str):
        safe = _safe(index).replace("@", "-")
        return f"{stem}@{_fitting(safe, changed=safe != index, identity=index)}"
    return stem if index == 0 else f"{stem}.{index + 1}"


def possible_stems(name: str) -> tuple[str, ...]:
    """Return the stems for which ``file_name`` can give a name, without its kind."""
    before, dot, number = name.rpartition(".")
    numbered = (before,) if dot and number.isascii() and number.isdigit() else ()
    called = (name.rpartition("@")[0],) if "@" in name else ()
    return (name, *numbered, *called)


def belongs(name: str, stem: str) -> bool:
    """Tell whether a name without its kind is one that ``file_name`` gives for a stem."""
    return stem in possible_stems(name)
